"""What a budget returns: whole units in rank order, each with its neighbours where asked."""

from collections.abc import Sequence

from variorum.lab.recall.units import Units


def pack(units: Units, ranked: Sequence[int], budget: int, neighbours: int = 0) -> list[int]:
    """The places of the units that `budget` tokens return, in the order they are taken.

    Candidates are taken in rank order. One is taken with up to `neighbours` units before and after
    it in its document, those already taken left out; where the rest does not fit whole, the
    candidate is passed over and the next one is tried. A unit's tokens are those of its own text:
    text that overlapping units share is paid for in each.
    """
    taken: dict[int, None] = {}
    left = budget
    for place in ranked:
        added = [one for one in units.neighbours(place, neighbours) if one not in taken]
        cost = sum(units.units[one].tokens for one in added)
        if cost <= left:
            taken.update(dict.fromkeys(added))
            left -= cost
    return list(taken)
