"""Where the sections of a revision lie."""

from variorum.records.text import Span, Structure


def outline_of(characters: str, structure: Structure) -> list[tuple[int, int, list[str]]]:
    """(start, end, heading path) of each run of blocks that stand under one heading path, in order.

    A run takes in what is not blank on both sides of it, up to its neighbours: no character but
    blanks is in no run. The last reaches to the end of the text.
    """
    runs: list[tuple[int, int, list[str]]] = []
    for block in structure.blocks:
        path = list(block.heading_path)
        if runs and runs[-1][2] == path:
            runs[-1] = (runs[-1][0], block.end, path)
        else:
            runs.append((block.start, block.end, path))
    ends = [0, *(end for _, end, _ in runs)]
    starts = [*(start for start, _, _ in runs[1:]), len(characters)]
    return [
        (*_with_edges(characters, Span(start, end), Span(before, after)), path)
        for (start, end, path), before, after in zip(runs, ends, starts, strict=False)
    ]


def _with_edges(characters: str, run: Span, limits: Span) -> Span:
    """The run without blanks at its ends, with what is not blank up to the limits."""
    first = characters[limits.start : run.end]
    last = characters[run.start : limits.end]
    start = limits.start + len(first) - len(first.lstrip())
    return Span(min(start, run.end), max(run.start + len(last.rstrip()), run.start))
