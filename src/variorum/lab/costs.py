"""What one revision costs under one chunker, in whole tokens; ratios are exact fractions of them.

An input counts once a version, however often it stands there, with its tokens as sent: the model's
prefix and special tokens included. It is reused only where the complete input, byte for byte, is
one of the previous version's (or, for `unseen`, of any earlier version's).
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from variorum.lab.atoms import Edit
from variorum.lab.subjects import Cut
from variorum.lab.versions import Version
from variorum.records.protocols import Sizer
from variorum.records.text import Span


@dataclass(frozen=True, slots=True)
class Step:
    """The counts of one revision. `kept`, `text` and `edited` are tokens of the text itself.

    `inputs` are distinct; `recomputed_inputs` those not among the previous version's; `verbatim`
    the tokens of recomputed inputs whose whole text stands in the old version. `kept` is None where
    old chunks overlap: no bound follows from the ones that do not.
    """

    total: int
    recomputed: int
    unseen: int
    verbatim: int
    edited_inside: int
    edited: int
    kept: int | None
    text: int
    chunks: int
    inputs: int
    recomputed_inputs: int

    @property
    def recompute_fraction(self) -> Fraction:
        """Tokens recomputed / tokens of the version's inputs; 0 where it has none."""
        return Fraction(self.recomputed, max(1, self.total))

    @property
    def embedded_fraction(self) -> Fraction:
        """The same against everything ever embedded."""
        return Fraction(self.unseen, max(1, self.total))

    @property
    def floor(self) -> Fraction | None:
        """The share of the text in no intact old chunk, whatever the new layout."""
        if self.kept is None:
            return None
        return 1 - Fraction(self.kept, self.text) if self.text else Fraction(0)

    @property
    def excess_over_floor(self) -> Fraction | None:
        """Recompute fraction less the floor, where there is one."""
        return None if self.floor is None else self.recompute_fraction - self.floor

    @property
    def waste_ratio(self) -> Fraction | None:
        """1 - edited tokens inside recomputed inputs / their tokens; None without any."""
        return 1 - Fraction(self.edited_inside, self.recomputed) if self.recomputed else None

    @property
    def amplification(self) -> Fraction | None:
        """Tokens recomputed for each edited token, a proxy; None where none was edited."""
        return Fraction(self.recomputed, self.edited) if self.edited else None

    @property
    def verbatim_presence(self) -> Fraction | None:
        """The share of recomputed tokens whose input stands whole in the old version."""
        return Fraction(self.verbatim, self.recomputed) if self.recomputed else None

    @property
    def vectors_per_thousand_tokens(self) -> Fraction:
        """Distinct inputs for each thousand tokens of the text."""
        return Fraction(1000 * self.inputs, max(1, self.text))

    def as_fields(self) -> dict[str, int | None]:
        """The counts as JSON fields."""
        return asdict(self)


def step(
    old: Cut, new: Cut, seen: Collection[str], edited: NDArray[np.int64], sizer: Sizer
) -> Step:
    """The counts of `new` after `old`; `seen` are the inputs of all earlier versions.

    `edited` holds where the edited tokens of the new version start, sorted.
    """
    inputs = list(dict.fromkeys(new.inputs))
    cost = dict(zip(inputs, sizer.count(inputs), strict=True))
    before = set(old.inputs)
    fresh = [one for one in inputs if one not in before]
    return Step(
        total=sum(cost.values()),
        recomputed=sum(cost[one] for one in fresh),
        unseen=sum(cost[one] for one in inputs if one not in seen),
        verbatim=sum(cost[one] for one in fresh if one in old.version.text),
        edited_inside=sum(_inside(span, edited) for span in _first_spans(new, set(fresh))),
        edited=len(edited),
        kept=None if old.overlaps else kept_tokens(old.contents(), new.version),
        text=new.version.tokens.total,
        chunks=len(new.inputs),
        inputs=len(inputs),
        recomputed_inputs=len(fresh),
    )


def _first_spans(cut: Cut, wanted: Collection[str]) -> Iterator[Span]:
    """The range of each wanted input where it first stands."""
    seen: set[str] = set()
    for span, text in zip(cut.spans, cut.inputs, strict=True):
        if text in wanted and text not in seen:
            seen.add(text)
            yield span


def _inside(span: Span, places: NDArray[np.int64]) -> int:
    low, high = np.searchsorted(places, [span.start, span.end])
    return int(high - low)


def edited_tokens(version: Version, edit: Edit) -> NDArray[np.int64]:
    """Where the tokens start that hold a character of an added atom, sorted.

    A token reaches to where the next one starts; several that start at one place reach as far.
    """
    starts = version.tokens.array
    added = np.zeros(len(version.text) + 1, dtype=np.int64)
    for start, end in edit.added_spans:
        added[start] += 1
        added[end] -= 1
    covered = np.concatenate([[0], np.cumsum(np.cumsum(added[:-1]) > 0)])
    ends = np.append(starts, len(version.text))[np.searchsorted(starts, starts, side="right")]
    edited: NDArray[np.int64] = starts[covered[ends] > covered[starts]]
    return edited


def kept_tokens(contents: Iterable[str], new: Version) -> int:
    """Tokens of the new text in the heaviest set of old chunks that stand in it without overlap."""
    found = sorted(_occurrences(set(contents) - {""}, new.text))
    ends = [end for end, _ in found]
    best = [0]
    for number, (end, start) in enumerate(found):
        before = bisect_right(ends, start, hi=number)
        best.append(max(best[-1], best[before] + new.tokens.count(start, end)))
    return best[-1]


def _occurrences(contents: Collection[str], text: str) -> Iterator[tuple[int, int]]:
    for content in contents:
        place = text.find(content)
        while place >= 0:
            yield place + len(content), place
            place = text.find(content, place + 1)


def steps(cuts: Sequence[Cut], edits: Sequence[NDArray[np.int64]], sizer: Sizer) -> list[Step]:
    """The counts of every revision after the first."""
    seen = set(cuts[0].inputs) if cuts else set()
    found = []
    for (old, new), edited in zip(pairwise(cuts), edits, strict=True):
        found.append(step(old, new, seen, edited, sizer))
        seen |= set(new.inputs)
    return found
