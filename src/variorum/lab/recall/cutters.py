"""Chunkers as cutters: ours by spec, and any splitter that gives ranges."""

from collections.abc import Callable, Sequence

from variorum.chunking import Embed, chunker_from_spec, lay_out
from variorum.chunking.versions import algorithm_of
from variorum.formats import parse
from variorum.lab.questions.records import Reading
from variorum.lab.recall.units import Cutter, Piece
from variorum.records.layout import Recipe
from variorum.records.protocols import Embedder, Sizer
from variorum.records.text import Span, Text


def cutter_of(
    spec: str, embedder: Embedder, embed: Embed, heading_depth: int = 0, sizer: Sizer | None = None
) -> Cutter:
    """A chunker of this library, each document cut afresh, without the planner.

    `embed` gives vectors to a chunker that compares meanings; `sizer` may count in place of the
    embedder.

    Raises:
        InputError: kind `unknown-chunker` or `bad-parameter`.
    """
    recipe = recipe_of(spec, embedder, heading_depth)

    def cut(reading: Reading) -> Sequence[Piece]:
        structure = parse(Text(reading.characters), reading.content_type)
        counted = sizer or embedder
        layout = lay_out(reading.characters, structure, recipe, counted, None, embed)
        return [
            Piece(Span(chunk.start, chunk.end), text)
            for chunk, text in zip(layout.chunks, layout.inputs, strict=True)
        ]

    return cut


def recipe_of(spec: str, embedder: Embedder, heading_depth: int = 0) -> Recipe:
    """The recipe of a fresh layout by `spec`.

    Raises:
        InputError: kind `unknown-chunker` or `bad-parameter`.
    """
    canonical = chunker_from_spec(spec).spec
    return Recipe(
        canonical,
        planner=False,
        heading_depth=heading_depth,
        tokenizer=embedder.tokenizer.fingerprint,
        model=embedder.identity.fingerprint,
        algorithm=algorithm_of(canonical, planner=False),
    )


def cutter_of_ranges(split: Callable[[str], Sequence[Span]]) -> Cutter:
    """A splitter that gives the ranges of a text; what it gives is the input."""

    def cut(reading: Reading) -> Sequence[Piece]:
        spans = split(reading.characters)
        return [Piece(span, reading.characters[span.start : span.end]) for span in spans]

    return cut
