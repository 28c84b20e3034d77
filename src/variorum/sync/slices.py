"""What a stored layout says of its text, made again from the text: keys, headings, sections."""

from collections.abc import Iterable, Iterator
from functools import cache, partial

from variorum.chunking import render
from variorum.chunking.headings import Headings, first_character
from variorum.formats import parse, parser_of
from variorum.records.derivations import Unit, unit_of
from variorum.records.layout import input_key, output_key
from variorum.records.text import Text
from variorum.store.audit import StoredChunk, StoredLayout
from variorum.store.seals import write_json
from variorum.sync.deriving import texts_of
from variorum.sync.outlines import outline_of


def key_of(layout: StoredLayout, chunk: StoredChunk, text: Text) -> bytes:
    """The key of a chunk's input, from its prefix and its slice."""
    return input_key(
        layout.tenant, layout.model_fingerprint, "passage", passage_of(chunk, text.characters)
    )


def passage_of(chunk: StoredChunk, characters: str) -> str:
    """The input of a chunk, from its prefix and its slice."""
    return render(chunk.prefix, characters[chunk.start : chunk.end])


def output_problems(
    layout: StoredLayout, text: Text, outputs: Iterable[tuple[int, str, str, bytes]]
) -> Iterator[tuple[str, str]]:
    """Outputs of a layout's chunks that were made of another text.

    Of sections none is looked at where another parser laid them out.
    """
    texts = cache(partial(_texts, layout, text))
    key_of_output = cache(output_key)  # The chunks of a section have one text, which may be long.
    for ordinal, name, version, key in outputs:
        unit = unit_of(version)
        if unit == "section" and not is_parsed_alike(layout):
            continue
        passage = texts(unit).get(ordinal, "")
        if key_of_output(layout.tenant, name, version, passage) != key:
            row = f"derived layout_id={layout.id} ordinal={ordinal}"
            yield row, f"what {name}@{version} made is not of the {unit}'s text"


def _texts(layout: StoredLayout, text: Text, unit: Unit) -> dict[int, str]:
    """What a function of a unit is given for each chunk, by its ordinal."""
    spans = [(one.start, one.end) for one in layout.chunks]
    ordinals = (one.ordinal for one in layout.chunks)
    return dict(zip(ordinals, texts_of(text, layout.content_type, spans, unit), strict=True))


class Sections:
    """The outline of a text and the heading path of any of its chunks, as the JSON of a layout."""

    def __init__(self, layout: StoredLayout, text: Text) -> None:
        self._characters = text.characters
        self.structure = parse(text, layout.content_type)
        self.headings = Headings(self.structure)

    @property
    def outline(self) -> str:
        """Where the sections lie."""
        return write_json(outline_of(self._characters, self.structure))

    def path(self, start: int, end: int) -> str:
        """The titles that a chunk stands under."""
        return write_json(
            list(self.headings.path_at(first_character(self._characters, start, end)))
        )

    def repeated(self) -> Iterator[str]:
        """The texts that a block has its inputs begin with, such as a table's head."""
        for span in dict.fromkeys(block.repeats for block in self.structure.blocks):
            if span is not None:
                yield self._characters[span.start : span.end]


def is_parsed_alike(layout: StoredLayout) -> bool:
    """Whether the parser of today is the one that the layout was made by."""
    return layout.parser == parser_of(layout.content_type)


def section_problems(layout: StoredLayout, text: Text) -> Iterator[tuple[str, str]]:
    """Where a layout's outline and headings are not those of its text; by another parser, nothing.

    What an older version laid out and nobody read again has no outline yet.
    """
    if not is_parsed_alike(layout):
        return
    found = Sections(layout, text)
    if layout.outline is not None and layout.outline != found.outline:
        yield f"layout id={layout.id} outline", "is not where the sections of its text lie"
    for chunk in layout.chunks:
        if chunk.heading_path != found.path(chunk.start, chunk.end):
            yield (
                f"chunk layout_id={layout.id} ordinal={chunk.ordinal} heading_path",
                ("is not what the chunk stands under"),
            )
