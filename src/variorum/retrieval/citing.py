"""Opening a citation: exact characters of an exact revision, in their section."""

from variorum.formats import decode, parse
from variorum.records.errors import NotFoundError
from variorum.records.hits import CitedText
from variorum.records.names import Citation
from variorum.records.text import Block, BlockKind, Revision, Span, Structure, Text
from variorum.store.snapshot import Snapshot


def show(snapshot: Snapshot, citation: Citation) -> CitedText:
    """The cited text in its section, read from the stored revision.

    Raises:
        NotFoundError: no kept generation holds that revision, or the range lies outside it.
    """
    revision_id, sha256, content_type = snapshot.find_revision(citation.document, citation.revision)
    text = decode(Revision(snapshot.content(revision_id), content_type, sha256))
    _require_inside(citation, text)
    structure = parse(text, content_type)
    section = _section(structure, text, citation.start)
    section = Span(min(section.start, citation.start), max(section.end, citation.end))
    bytes_ = text.byte_span(Span(citation.start, citation.end))
    return CitedText(
        citation=Citation.of(citation.document, sha256, citation.start, citation.end),
        revision=sha256,
        text=text.characters[citation.start : citation.end],
        heading_path=_heading_path(structure, text, citation.start),
        start_line=text.line_of(citation.start),
        end_line=text.line_of(max(citation.start, citation.end - 1)),
        byte_start=bytes_.start,
        byte_end=bytes_.end,
        section=text.characters[section.start : section.end],
        section_start=section.start,
        section_end=section.end,
        is_current=any(
            row.sha256 == sha256 and row.document == citation.document
            for row in snapshot.documents.values()
        ),
    )


def _require_inside(citation: Citation, text: Text) -> None:
    if citation.end > len(text.characters):
        raise NotFoundError(
            "the citation's range lies outside the revision",
            kind="no-such-citation",
            subject=str(citation),
            expected=f"a range within 0 to {len(text.characters)}",
            found=f"{citation.start} to {citation.end}",
            remedy="copy the citation as `variorum search` printed it, in quotes",
        )


def _first_visible(text: Text, position: int) -> int:
    blank = len(text.characters[position:]) - len(text.characters[position:].lstrip())
    return position + blank


def _block_at(structure: Structure, text: Text, position: int) -> Block | None:
    visible = _first_visible(text, position)
    return next((block for block in structure.blocks if block.end > visible), None)


def _heading_path(structure: Structure, text: Text, position: int) -> tuple[str, ...]:
    block = _block_at(structure, text, position)
    return block.heading_path if block else ()


def _section(structure: Structure, text: Text, position: int) -> Span:
    """From the heading above `position` to the next heading; the whole text where there is none."""
    headings = [block.start for block in structure.blocks if block.kind is BlockKind.HEADING]
    visible = _first_visible(text, position)
    start = max((where for where in headings if where <= visible), default=0)
    end = min((where for where in headings if where > visible), default=len(text.characters))
    return Span(start, end)
