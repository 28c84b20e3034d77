"""What the stored postings say of each input, in one number, for `verify`."""

import zlib
from collections.abc import Iterator, Mapping

import numpy as np
from sqlalchemy import Connection, select

from variorum.store.lexicon import within
from variorum.store.postings import unpacked
from variorum.store.schema import indexed, posting

_TERM_FACTOR = 0x9E3779B97F4A7C15
_COUNT_FACTOR = 0xC2B2AE3D27D4EB4F
_MASK = (1 << 64) - 1


def fingerprint_of(terms: Mapping[str, int]) -> int:
    """A number for an input's terms, whatever their order: equal terms, equal numbers."""
    return sum(_mixed(term.encode(), count) for term, count in terms.items()) & _MASK


def _mixed(term: bytes, count: int) -> int:
    return (zlib.crc32(term) + 1) * _TERM_FACTOR * (count * _COUNT_FACTOR + 1) & _MASK


def stored_fingerprints(connection: Connection) -> dict[int, tuple[int, int]]:
    """(fingerprint, length) of every indexed input, from the postings. Linear in them."""
    with within(connection):
        query = select(indexed.c.input_id, indexed.c.length)
        lengths: dict[int, int] = {row[0]: row[1] for row in connection.execute(query)}
        ids = np.array(sorted(lengths), np.int64)
        sums = np.zeros(ids.size + 1, np.uint64)
        for term, segment, data in _lists(connection):
            found = unpacked(segment, data)
            places = np.searchsorted(ids, found.input_ids)
            mixed = (found.counts.astype(np.uint64) * np.uint64(_COUNT_FACTOR)) + np.uint64(1)
            factor = (zlib.crc32(term) + 1) * _TERM_FACTOR & _MASK
            np.add.at(sums, places, mixed * np.uint64(factor))
    pairs = zip(ids.tolist(), sums.tolist(), strict=False)
    return {identifier: (total, lengths[identifier]) for identifier, total in pairs}


def _lists(connection: Connection) -> Iterator[tuple[bytes, int, bytes]]:
    query = select(posting.c.term, posting.c.segment, posting.c.data)
    for row in connection.execute(query, execution_options={"yield_per": 1000}):
        yield (row[0], row[1], row[2])
