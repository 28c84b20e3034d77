"""From lines to blocks: what the parsers of line-based formats share."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from variorum.formats.plain import filled_runs
from variorum.records.text import Block, BlockKind, Span


class Leaf(NamedTuple):
    """A block as a parser of lines saw it; lines are counted from 0, `end_line` is exclusive.

    `depth` and `title` are a heading's. `label` stands below the open headings in this leaf's path
    alone. `repeats` are the lines of a table's head.
    """

    first_line: int
    end_line: int
    kind: BlockKind
    depth: int = 0
    title: str = ""
    label: str = ""
    repeats: tuple[int, int] | None = None


class Sections:
    """The headings that are open at a place in the document."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self.path: tuple[str, ...] = ()

    def enter(self, depth: int, title: str) -> None:
        """Close the sections as deep as `depth` or deeper, and open one. An empty title is none."""
        while self._open and self._open[-1][0] >= depth:
            self._open.pop()
        self._open.append((depth, title))
        self.path = tuple(title for _, title in self._open if title)

    def mark(self) -> list[tuple[int, str]]:
        """What is open now, for `reset`."""
        return list(self._open)

    def reset(self, mark: list[tuple[int, str]]) -> None:
        """Go back to what was open at `mark`."""
        self._open = list(mark)
        self.path = tuple(title for _, title in self._open if title)


def table_leaves(head: tuple[int, int], rows: Iterable[tuple[int, int]]) -> Iterator[Leaf]:
    """The head of a table, where it has lines, and its rows."""
    repeats = head if head[1] > head[0] else None
    if repeats:
        yield Leaf(*head, BlockKind.TABLE)
    for first, end in rows:
        yield Leaf(first, end, BlockKind.ROW, repeats=repeats)


def leaf_blocks(characters: str, lines: list[Span], leaves: Iterable[Leaf]) -> Iterator[Block]:
    """The leaves as blocks, with `OTHER` blocks for the filled lines between them.

    A line belongs to the first leaf that takes it.
    """
    sections = Sections()
    done = 0
    for leaf in leaves:
        first, end = max(leaf.first_line, done), min(leaf.end_line, len(lines))
        if end <= first:
            continue
        for run in filled_runs(characters, lines[done:first]):
            yield Block(run.start, run.end, BlockKind.OTHER, sections.path)
        if leaf.depth:
            sections.enter(leaf.depth, leaf.title)
        path = (*sections.path, leaf.label) if leaf.label else sections.path
        repeats = leaf.repeats and Span(
            lines[leaf.repeats[0]].start, lines[leaf.repeats[1] - 1].end
        )
        start, stop = lines[first].start, lines[end - 1].end
        yield Block(start, stop, leaf.kind, path, leaf.depth, repeats)
        done = end
    for run in filled_runs(characters, lines[done:]):
        yield Block(run.start, run.end, BlockKind.OTHER, sections.path)
