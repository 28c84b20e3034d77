"""What stands before a chunk's own text in its input: titles, and a range that is repeated."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace

from variorum.chunking.headings import Headings, Titles
from variorum.chunking.render import fold_line_ends, heading_prefix
from variorum.records.protocols import Sizer
from variorum.records.text import Block, Span, Structure

PREFIX_SHARE = 4
"""A prefix takes at most one part in this many of the model's limit."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """Titles, outermost first, then the text of a repeated range, such as a table's head."""

    titles: Titles = ()
    repeated: str = ""

    @property
    def rendered(self) -> str:
        """The prefix as it stands in an input; a repeated text ends its own line."""
        head = f"{self.repeated}\n" if self.repeated else ""
        return heading_prefix(len(self.titles), self.titles) + head

    def shorter(self) -> "Prefix":
        """The next smaller one: without the outermost title, or else without the repeated text."""
        return replace(self, titles=self.titles[1:]) if self.titles else Prefix()

    def __bool__(self) -> bool:
        return bool(self.titles or self.repeated)


_Place = tuple[Titles, Span | None]
"""What decides a prefix: the titles above, and the range that is repeated."""


class Prefixes:
    """The prefix of an input by the place of its first character that is not blank.

    A chunk that begins with a heading has that title in its text, so its prefix has only those
    above. A chunk that begins in or at a block that repeats a range ending before it carries the
    text of that range. A prefix takes no more than a quarter of the model's limit: it loses its
    outermost titles first, the repeated text last, and a repeated text over that alone is left out.
    """

    def __init__(self, text: str, structure: Structure, heading_depth: int, sizer: Sizer) -> None:
        self._text = text
        self._blocks = structure.blocks
        self._starts = [block.start for block in structure.blocks]
        self._headings = Headings(structure)
        self._depth = heading_depth
        places = {self._of(block.start, block) for block in self._blocks}
        self._fitting = self._fit(places | {(titles, None) for titles, _ in places}, sizer)

    def at(self, position: int) -> Prefix:
        """The prefix of an input whose first character stands at `position`."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return Prefix()
        return self._fitting.get(self._of(position, self._blocks[index]), Prefix())

    def text_at(self, position: int) -> str:
        """`at` as rendered."""
        return self.at(position).rendered

    def _of(self, position: int, block: Block) -> _Place:
        """What decides the prefix at `position`, which no block after `block` holds."""
        titles = self._headings.above(position)[-self._depth :] if self._depth else ()
        repeats = block.repeats
        carried = repeats is not None and repeats.end <= position < block.end
        return titles, repeats if carried else None

    def _fit(self, places: Iterable[_Place], sizer: Sizer) -> dict[_Place, Prefix]:
        """The largest prefix of each place that there is room for."""
        room = sizer.max_tokens // PREFIX_SHARE
        repeated = self._repeated({one for _, one in places if one}, room, sizer)
        fitting = {
            (titles, one): Prefix(titles, repeated.get(one, "") if one else "")
            for titles, one in places
        }
        pending = [place for place, prefix in sorted(fitting.items(), key=_order) if prefix.titles]
        while pending:
            counts = sizer.tokenizer.count_many([fitting[place].rendered for place in pending])
            over = [place for place, count in zip(pending, counts, strict=True) if count > room]
            fitting.update((place, fitting[place].shorter()) for place in over)
            pending = [place for place in over if fitting[place].titles]
        return fitting

    def _repeated(self, ranges: set[Span], room: int, sizer: Sizer) -> dict[Span, str]:
        """The text of each repeated range that fits on its own."""
        texts = {one: fold_line_ends(self._text[one.start : one.end]).strip() for one in ranges}
        filled = sorted(one for one, text in texts.items() if text)
        if not filled:
            return {}
        counts = sizer.tokenizer.count_many([f"{texts[one]}\n" for one in filled])
        return {one: texts[one] for one, count in zip(filled, counts, strict=True) if count <= room}


def _order(item: tuple[_Place, Prefix]) -> tuple[Titles, Span]:
    (titles, repeats), _ = item
    return titles, repeats or Span(-1, -1)
