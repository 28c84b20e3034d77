"""Reading terms: which inputs hold one, and how long each input is."""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from variorum.records.errors import UnsupportedError
from variorum.store.lexicon import is_ready
from variorum.store.postings import Postings, Sought, read_postings
from variorum.store.schema import indexed
from variorum.store.seals import damaged_row, is_sound, name_of


class Occurrences(NamedTuple):
    """Which of some inputs hold a term, and how often: intp[n] places among them, int64[n]."""

    rows: NDArray[np.intp]
    counts: NDArray[np.int64]


def require_terms(connection: Connection, analyzer: str) -> None:
    """Refuse to search for terms where not every stored chunk has those of `analyzer`.

    Raises:
        UnsupportedError: it has not.
    """
    if not is_ready(connection, analyzer):
        raise UnsupportedError(
            "the store's texts have no terms to be searched for yet",
            kind="no-terms",
            expected=f"the terms of {analyzer}",
            found="none, or those of another version",
            remedy="run `variorum sync` once; it embeds nothing that has not changed",
        )


def occurrences(
    connection: Connection, terms: Sequence[Sought], input_ids: NDArray[np.int64]
) -> list[Occurrences]:
    """For each of `terms`, which of `input_ids`, ascending, hold it.

    Linear in what the store holds of the terms.
    """
    return [_among(input_ids, found) for found in read_postings(connection, terms)]


def _among(input_ids: NDArray[np.int64], found: Postings) -> Occurrences:
    rows = np.searchsorted(input_ids, found.input_ids)
    inside = rows < input_ids.size
    inside[inside] = input_ids[rows[inside]] == found.input_ids[inside]
    if inside.all():
        return Occurrences(rows, found.counts)
    return Occurrences(rows[inside], found.counts[inside])


class LengthCache:
    """How many terms each input has, loaded when first asked for. Safe for many threads.

    An input's length never changes: it is a function of its text.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids = np.empty(0, np.int64)
        self._lengths = np.empty(0, np.int64)

    def lengths(self, connection: Connection, input_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The length of each of `input_ids`, ascending: int64[n].

        Raises:
            DamagedError: one has none.
        """
        with self._lock:
            missing = np.setdiff1d(input_ids, self._ids, assume_unique=True)
            if missing.size:
                self._load(connection, missing)
            return self._lengths[np.searchsorted(self._ids, input_ids)]

    def _load(self, connection: Connection, missing: NDArray[np.int64]) -> None:
        query = select(indexed.c.input_id, indexed.c.length, is_sound(indexed)).where(
            indexed.c.input_id.between(int(missing[0]), int(missing[-1]))
        )
        rows = [value for row in connection.execute(query) for value in row]
        table = np.array(rows, np.int64).reshape(-1, 3)
        table = table[np.isin(table[:, 0], missing)]
        for row in table[table[:, 2] == 0][:1]:
            raise damaged_row(name_of(indexed, (row[0],)))
        if len(table) < missing.size:
            absent = np.setdiff1d(missing, table[:, 0])[0]
            raise damaged_row(name_of(indexed, (absent,)))
        ids = np.concatenate([self._ids, table[:, 0]])
        order = np.argsort(ids, kind="stable")
        self._ids = ids[order]
        self._lengths = np.concatenate([self._lengths, table[:, 1]])[order]
