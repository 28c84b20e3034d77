"""What the stored postings say of each input, in one number, for `verify`."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from sqlalchemy import Connection, select

from variorum.store.lexicon import within
from variorum.store.postings import unpacked_together
from variorum.store.schema import indexed, posting

_TERM_FACTOR = 0x9E3779B97F4A7C15
_COUNT_FACTOR = 0xC2B2AE3D27D4EB4F
_MASK = (1 << 64) - 1
_TOGETHER = 4096
"""Lists read at once."""


def fingerprint_of(terms: Mapping[str, int]) -> int:
    """A number for an input's terms, whatever their order: equal terms, equal numbers."""
    return sum(_mixed(term, count) for term, count in terms.items()) & _MASK


@lru_cache(maxsize=1 << 17)  # Most terms stand in many texts.
def _mixed(term: str, count: int) -> int:
    code = zlib.crc32(term.encode()) + 1
    return code * _TERM_FACTOR * (count * _COUNT_FACTOR + 1) & _MASK


def stored_fingerprints(connection: Connection) -> dict[int, tuple[int, int]]:
    """(fingerprint, length) of every indexed input, from the postings. Linear in them."""
    with within(connection):
        query = select(indexed.c.input_id, indexed.c.length)
        lengths: dict[int, int] = {row[0]: row[1] for row in connection.execute(query)}
        ids = np.array(sorted(lengths), np.int64)
        sums = np.zeros(ids.size + 1, np.uint64)
        for terms, segments, lists in _lists(connection):
            found, owner = unpacked_together(segments, lists)
            places = np.searchsorted(ids, found.input_ids)
            mixed = (found.counts.astype(np.uint64) * np.uint64(_COUNT_FACTOR)) + np.uint64(1)
            codes = np.array([zlib.crc32(term) + 1 for term in terms], np.uint64)
            np.add.at(sums, places, mixed * (codes * np.uint64(_TERM_FACTOR))[owner])
    pairs = zip(ids.tolist(), sums.tolist(), strict=False)
    return {identifier: (total, lengths[identifier]) for identifier, total in pairs}


def _lists(
    connection: Connection,
) -> Iterator[tuple[Sequence[bytes], Sequence[int], Sequence[bytes]]]:
    """(terms, segments, packed lists), many at once."""
    query = select(posting.c.term, posting.c.segment, posting.c.data)
    result = connection.execute(query, execution_options={"yield_per": _TOGETHER})
    for rows in result.partitions():
        terms, segments, lists = zip(*rows, strict=True)
        yield terms, segments, lists
