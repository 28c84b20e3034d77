"""Opening a citation: exact characters of an exact revision, in their section."""

from collections.abc import Sequence

from variorum.chunking.headings import SectionSpans
from variorum.formats import decode, parse
from variorum.records.errors import NotFoundError
from variorum.records.hits import CitedText
from variorum.records.names import Citation
from variorum.records.text import Block, Revision, Span, Structure, Text
from variorum.store.view import View


def show(view: View, citation: Citation, now_us: int) -> CitedText:
    """The cited text in its section, read from the stored revision.

    Raises:
        NotFoundError: no kept generation holds that revision, it does not pass, or the range lies
            outside it.
    """
    row = view.find_revision(citation)
    text = decode(Revision(view.content(row.revision_id), row.content_type, row.sha256))
    _require_inside(citation, text)
    structure = parse(text, row.content_type)
    around = SectionSpans(structure, text.characters).around(citation.start, len(text.characters))
    section = _passing(around, citation, view.kept_back_of(row))
    bytes_ = text.byte_span(Span(citation.start, citation.end))
    return CitedText(
        citation=Citation.of(citation.document, row.sha256, citation.start, citation.end),
        revision=row.sha256,
        text=text.characters[citation.start : citation.end],
        heading_path=_heading_path(structure, text, citation.start),
        start_line=text.line_of(citation.start),
        end_line=text.line_of(max(citation.start, citation.end - 1)),
        byte_start=bytes_.start,
        byte_end=bytes_.end,
        section=text.characters[section.start : section.end],
        section_start=section.start,
        section_end=section.end,
        is_current=view.is_current(row),
        **view.standings([row])[row.id].as_fields(now_us),
    )


def _passing(section: Span, citation: Citation, kept_back: Sequence[Span]) -> Span:
    """The section around the cited range, up to what is kept back on either side of it."""
    start = max([section.start, *(one.end for one in kept_back if one.end <= citation.start)])
    end = min([section.end, *(one.start for one in kept_back if one.start >= citation.end)])
    return Span(min(start, citation.start), max(end, citation.end))


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
