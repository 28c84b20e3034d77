"""Plain text: paragraphs between blank lines, no headings."""

from collections.abc import Iterator

from variorum.records.text import Block, BlockKind, Span, Structure, Text

NAME = "plain"


def line_spans(text: Text) -> list[Span]:
    """Every line with its line end; the last may be empty."""
    starts = text.line_starts
    return [
        Span(start, end)
        for start, end in zip(starts, [*starts[1:], len(text.characters)], strict=True)
    ]


def filled_runs(characters: str, lines: list[Span]) -> Iterator[Span]:
    """The longest runs of lines that hold more than white space."""
    start: int | None = None
    end = 0
    for line in lines:
        segment = characters[line.start : line.end]
        if segment and not segment.isspace():
            start = line.start if start is None else start
            end = line.end
        elif start is not None:
            yield Span(start, end)
            start = None
    if start is not None:
        yield Span(start, end)


def parse_plain(text: Text, fallback: str = "") -> Structure:
    """Paragraphs as blocks, total on any text. `fallback` says why no richer parser was used."""
    runs = filled_runs(text.characters, line_spans(text))
    blocks = tuple(Block(run.start, run.end, BlockKind.PARAGRAPH) for run in runs)
    return Structure(blocks, NAME, fallback=fallback)
