"""Which titles a chunk stands under, and which of them stand before it in its input."""

from bisect import bisect_right
from collections.abc import Iterable

from variorum.chunking.render import heading_prefix
from variorum.records.protocols import Sizer
from variorum.records.text import BlockKind, Structure

Titles = tuple[str, ...]

PREFIX_SHARE = 4
"""A heading prefix takes at most one part in this many of the model's limit."""


class Headings:
    """The heading path at any place of a text, and the prefix it gives an input.

    A chunk that begins with a heading has that title in its text, so its prefix has only those
    above. A prefix gives way by losing its outermost titles, first until it takes no more than a
    quarter of the model's limit.
    """

    def __init__(self, structure: Structure, heading_depth: int, sizer: Sizer) -> None:
        self._starts = [block.start for block in structure.blocks]
        self._paths = [block.heading_path for block in structure.blocks]
        self._above = [
            block.heading_path[:-1] if block.kind is BlockKind.HEADING else block.heading_path
            for block in structure.blocks
        ]
        self._depth = heading_depth
        self._titles = self._fitting(set(self._above), sizer) if heading_depth else {}

    def path_at(self, position: int) -> Titles:
        """The heading path of the block that holds `position`, or of the last one before it."""
        index = bisect_right(self._starts, position) - 1
        return self._paths[index] if index >= 0 else ()

    def titles_at(self, position: int) -> Titles:
        """The titles that stand before the text in an input that starts at `position`."""
        index = bisect_right(self._starts, position) - 1
        return self._titles.get(self._above[index], ()) if index >= 0 else ()

    def prefix_at(self, position: int) -> str:
        """`titles_at` as rendered."""
        return heading_prefix(self._depth, self.titles_at(position))

    def _fitting(self, paths: Iterable[Titles], sizer: Sizer) -> dict[Titles, Titles]:
        """The innermost titles of each path that a prefix has room for."""
        room = sizer.max_tokens // PREFIX_SHARE
        fitting = {path: path[-self._depth :] for path in paths}
        pending = [path for path, titles in sorted(fitting.items()) if titles]
        while pending:
            prefixes = [heading_prefix(self._depth, fitting[path]) for path in pending]
            counts = sizer.tokenizer.count_many(prefixes)
            over = [path for path, count in zip(pending, counts, strict=True) if count > room]
            fitting.update((path, fitting[path][1:]) for path in over)
            pending = [path for path in over if fitting[path]]
        return fitting
