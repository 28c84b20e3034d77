"""Which inputs hold a term: packed lists, one for each term and segment.

A segment is a set of inputs that were indexed together, named by the first of them. A list is pairs
of whole numbers, (distance to the input before, occurrences), each in groups of seven bits, lowest
first, the eighth set on all groups but the last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, select

from variorum.records.errors import DamagedError
from variorum.store.batches import batches
from variorum.store.schema import posting
from variorum.store.seals import BACKUP_OR_SYNC, require_sound, unsound

SEGMENT_INPUTS = 4096
"""Most inputs in a segment: what a publish holds in memory at once."""


Sought = tuple[str, bool]
"""A term to look for, and `is_prefix`: whether any that begins with it will do."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The inputs that hold a term, ascending, and how often each does: int64[n] both."""

    input_ids: NDArray[np.int64]
    counts: NDArray[np.int64]


def packed_lists(
    segment: int, inputs: Sequence[tuple[int, Mapping[str, int]]]
) -> list[tuple[bytes, bytes]]:
    """(term, packed list) of every term of a segment's inputs, ascending by term.

    `inputs` are (input id, occurrences by term), ascending, none before `segment`.
    """
    lists: dict[str, list[int]] = {}
    for identifier, occurrences in inputs:
        for term, count in occurrences.items():
            lists.setdefault(term, []).extend((identifier, count))
    terms = sorted(lists)
    if not terms:
        return []
    ends = np.cumsum([len(lists[term]) for term in terms])
    values = np.fromiter((value for term in terms for value in lists[term]), np.int64)
    _to_distances(values, ends, segment)
    packed, offsets = _packed(values)
    bounds = [0, *(int(offsets[end]) for end in ends)]
    return [
        (term.encode(), packed[start:end])
        for term, start, end in zip(terms, bounds[:-1], bounds[1:], strict=True)
    ]


def packed_list(segment: int, found: Postings) -> bytes:
    """One list as it is stored; `found` is not empty."""
    values = np.stack([found.input_ids, found.counts], axis=1).reshape(-1)
    _to_distances(values, np.array([values.size]), segment)
    return _packed(values)[0]


def _to_distances(values: NDArray[np.int64], ends: NDArray[np.int64], segment: int) -> None:
    """Turn the ids of pairs into distances, list by list, in place."""
    ids = values[::2].copy()
    values[2::2] = np.diff(ids)
    starts = np.concatenate([[0], ends[:-1]])
    values[starts] = ids[starts // 2] - segment


def _packed(values: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64]]:
    """The bytes of `values`, and where each begins, the end last."""
    groups = np.ones(values.size, np.int64)
    rest = values >> 7
    while rest.any():
        groups += rest > 0
        rest >>= 7
    offsets = np.concatenate([[0], np.cumsum(groups)])
    owner = np.repeat(np.arange(values.size), groups)
    place = np.arange(owner.size) - offsets[owner]
    found = (values[owner] >> (7 * place)) & 0x7F
    found[place + 1 < groups[owner]] |= 0x80
    return found.astype(np.uint8).tobytes(), offsets


def unpacked(segment: int, data: bytes) -> Postings:
    """A list from how it is stored.

    Raises:
        DamagedError: it is no such list.
    """
    found, _ = unpacked_together([segment], [data])
    return found


def unpacked_together(
    segments: Sequence[int], lists: Sequence[bytes]
) -> tuple[Postings, NDArray[np.intp]]:
    """Several lists, one behind the other, and which list each of their entries is of.

    Raises:
        DamagedError: one is no such list.
    """
    groups = np.frombuffer(b"".join(lists), np.uint8)
    is_last = groups < 0x80
    sizes = np.array([len(data) for data in lists], np.int64)
    if not sizes.all():
        raise _damaged(segments, lists)
    ends = np.cumsum(sizes)
    values_in = np.diff(np.cumsum(is_last)[ends - 1], prepend=0)
    if (~is_last[ends - 1] | (values_in <= 0) | (values_in % 2 == 1)).any():
        raise _damaged(segments, lists)
    starts = np.concatenate([[0], np.flatnonzero(is_last)[:-1] + 1])
    place = np.arange(groups.size) - np.repeat(starts, np.diff(starts, append=groups.size))
    values = np.add.reduceat((groups & 0x7F).astype(np.int64) << (7 * place), starts)
    pairs_in = values_in // 2
    owner = np.repeat(np.arange(len(lists)), pairs_in)
    sums = np.cumsum(values[::2])
    before = np.concatenate([[0], sums])[np.cumsum(pairs_in) - pairs_in]
    ids = sums - before[owner] + np.asarray(segments, np.int64)[owner]
    return Postings(ids, values[1::2]), owner


def _damaged(segments: Sequence[int], lists: Sequence[bytes]) -> DamagedError:
    first, data = segments[0], lists[0]
    return DamagedError(
        "a stored list of postings cannot be read",
        kind="posting-damaged",
        subject=f"segment {first}",
        expected="pairs of whole numbers",
        found=f"{len(data)} bytes",
        remedy=BACKUP_OR_SYNC,
    )


_LISTS = select(posting.c.term, posting.c.segment, posting.c.data, *unsound(posting)).order_by(
    posting.c.term, posting.c.segment
)
_OF_TERMS = _LISTS.where(posting.c.term.in_(bindparam("terms", expanding=True)))
# No byte of UTF-8 is 0xFF: what begins with the prefix stands before it.
_OF_PREFIX = _LISTS.where(posting.c.term >= bindparam("term"), posting.c.term < bindparam("beyond"))


def read_postings(connection: Connection, terms: Sequence[Sought]) -> list[Postings]:
    """For each of `terms`, every stored input that holds it or, where `is_prefix`, any term that
    begins with it.

    Linear in what the store holds of them; all are read together and unpacked together.

    Raises:
        DamagedError: a list is not as it was written.
    """
    stored = [text.encode("utf-8", "surrogatepass") for text, _ in terms]
    whole = {stored[place]: place for place, (_, is_prefix) in enumerate(terms) if not is_prefix}
    found: list[tuple[int, int, bytes]] = []
    for some in batches(list(whole)):
        for row in connection.execute(_OF_TERMS, {"terms": some}):
            term, segment, data = require_sound(row, 1)
            found.append((whole[term], segment, data))
    for place, (_, is_prefix) in enumerate(terms):
        if is_prefix:
            bounds = {"term": stored[place], "beyond": stored[place] + b"\xff"}
            rows = (require_sound(row, 1) for row in connection.execute(_OF_PREFIX, bounds))
            found += [(place, segment, data) for _, segment, data in rows]
    return _by_term(found, len(terms))


def _by_term(found: Sequence[tuple[int, int, bytes]], terms: int) -> list[Postings]:
    """The inputs of each term, from (term, segment, packed list) in any order of the terms."""
    if not found:
        return [_NOTHING] * terms
    places, segments, lists = zip(*sorted(found, key=itemgetter(0)), strict=True)
    together, owner = unpacked_together(segments, lists)
    of_term = np.asarray(places, np.intp)[owner]
    bounds = np.searchsorted(of_term, np.arange(terms + 1)).tolist()
    return [
        _merged(together.input_ids[start:end], together.counts[start:end])
        for start, end in pairwise(bounds)
    ]


_NOTHING = Postings(np.empty(0, np.int64), np.empty(0, np.int64))


def _merged(ids: NDArray[np.int64], counts: NDArray[np.int64]) -> Postings:
    """One list of several, one behind the other; an input that several hold has their
    occurrences together.
    """
    if (np.diff(ids) > 0).all():
        return Postings(ids, counts)
    order = np.argsort(ids, kind="stable")
    ids, counts = ids[order], counts[order]
    firsts = np.flatnonzero(np.diff(ids, prepend=-1) > 0)
    return Postings(ids[firsts], np.add.reduceat(counts, firsts))
