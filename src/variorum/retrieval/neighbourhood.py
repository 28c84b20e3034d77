"""Which chunks stand beside which, and the order in which a context takes them."""

from collections.abc import Iterator, Sequence

from variorum.retrieval.fusion import RANK_CONSTANT
from variorum.store.snapshot import Places

NEIGHBOURS_WEIGHT = 0.5
"""How much of a chunk's place in a context its neighbours decide; chosen on tune questions."""
LEAD_DEPTH = 5
"""The best so many chunks may bring in documents of their own."""
LEAD_DOCUMENTS = 3
"""So many documents have their best chunk in first."""
_DECIMALS = 9


class Beside:
    """What stands before and after a chunk of a view, where nothing was taken out between them."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def document(self, place: int) -> int:
        """The manifest row of a chunk."""
        return int(self._places.manifest_ids[place])

    def before(self, place: int) -> int | None:
        """The chunk before it in its document."""
        return place - 1 if place > 0 and self._follows(place) else None

    def after(self, place: int) -> int | None:
        """The chunk after it in its document."""
        after = place + 1
        return after if after < self._places.ordinals.size and self._follows(after) else None

    def around(self, place: int) -> list[int]:
        """Those of the two that there are."""
        both = (self.before(place), self.after(place))
        return [one for one in both if one is not None]

    def _follows(self, place: int) -> bool:
        places = self._places
        is_same = places.manifest_ids[place] == places.manifest_ids[place - 1]
        return bool(is_same and places.ordinals[place] == places.ordinals[place - 1] + 1)


def by_neighbourhood(beside: Beside, ranked: Sequence[int]) -> list[int]:
    """The ranked chunks: the best one, then those that stand among good ones.

    A chunk's score is half what its own rank gives, 1 / (constant + rank), and half the mean of
    what its neighbours' ranks give; one without neighbours has its own. Equals keep their ranks.
    n log n.
    """
    own = {place: 1 / (RANK_CONSTANT + rank) for rank, place in enumerate(ranked, start=1)}

    def score(place: int) -> float:
        around = [own.get(one, 0.0) for one in beside.around(place)]
        mean = sum(around) / len(around) if around else own[place]
        weighed = (1 - NEIGHBOURS_WEIGHT) * own[place] + NEIGHBOURS_WEIGHT * mean
        return round(weighed, _DECIMALS)

    return [*ranked[:1], *sorted(ranked[1:], key=lambda place: -score(place))]


def diverse(beside: Beside, ordered: Sequence[int]) -> list[int]:
    """The chunks in the order in which they are taken: several documents first, then as ordered.

    Of the first `LEAD_DEPTH`, the best of each of up to `LEAD_DOCUMENTS` documents leads.
    """
    leads = dict.fromkeys(_leads(beside, ordered[:LEAD_DEPTH]))
    return [*leads, *(place for place in ordered if place not in leads)]


def _leads(beside: Beside, first: Sequence[int]) -> Iterator[int]:
    seen: set[int] = set()
    for place in first:
        document = beside.document(place)
        if document not in seen and len(seen) < LEAD_DOCUMENTS:
            seen.add(document)
            yield place
