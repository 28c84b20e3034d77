"""What the stored postings say of each input, in one number, for `verify`."""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from variorum.records.errors import DamagedError
from variorum.store.audit import ILL_SEALED
from variorum.store.lexicon import within
from variorum.store.postings import unpacked_together
from variorum.store.schema import indexed, posting
from variorum.store.seals import name_of

_TERM_FACTOR = 0x9E3779B97F4A7C15
_COUNT_FACTOR = 0xC2B2AE3D27D4EB4F
_MASK = (1 << 64) - 1
_CODES_KEPT = 1 << 17
_TOGETHER = 4096
"""Lists read at once."""

_AFTER_ALL = (1 << 63) - 1
"""No input has this number."""

_Row = tuple[Any, Any, Any, Any]
"""(term, segment, packed list, seal)."""

Fingerprints = dict[int, tuple[int, int]]
"""(fingerprint, length) of each indexed input."""


class _Codes(dict[str, int]):
    """A number for each term. Most terms stand in many texts."""

    def __missing__(self, term: str) -> int:
        if len(self) >= _CODES_KEPT:
            self.clear()
        self[term] = code = zlib.crc32(term.encode()) + 1
        return code


_codes = _Codes()


def fingerprint_of(terms: Mapping[str, int]) -> int:
    """A number for an input's terms, whatever their order: equal terms, equal numbers.

    The sum of code * factor * (count * factor + 1), what a first occurrence adds taken together.
    """
    once = sum(map(_codes.__getitem__, terms))
    more = sum(_codes[term] * (count - 1) for term, count in terms.items() if count > 1)
    return _TERM_FACTOR * (once * (_COUNT_FACTOR + 1) + more * _COUNT_FACTOR) & _MASK


def stored_fingerprints(connection: Connection) -> tuple[Fingerprints, list[tuple[str, str]]]:
    """What the postings say of every indexed input, and (row, what is wrong with it) of those rows
    that are not as they were written, which are left out. Linear in the postings, read once.
    """
    wrong: list[tuple[str, str]] = []
    with within(connection):
        query = select(indexed.c.input_id, indexed.c.length)
        lengths: dict[int, int] = {row[0]: row[1] for row in connection.execute(query)}
        ids = np.array([*sorted(lengths), _AFTER_ALL], np.int64)
        sums = np.zeros(ids.size, np.uint64)
        for rows in _lists(connection):
            sound = _sound(rows)
            if len(sound) < len(rows):
                wrong += [(_name_of(*row), ILL_SEALED) for row in rows if not _is_sound(*row)]
            for places, numbers in _said(ids, sound, wrong):
                np.add.at(sums, places, numbers)
    pairs = zip(ids.tolist(), sums.tolist(), strict=True)
    return {one: (total, lengths[one]) for one, total in pairs if one in lengths}, wrong


def _said(
    ids: NDArray[np.int64], rows: list[_Row], wrong: list[tuple[str, str]]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.uint64]]]:
    """What the lists of `rows` add to the numbers of the inputs at some places of `ids`. The lists
    that say nothing of these inputs go to `wrong`.
    """
    if not rows:
        return
    terms, segments, lists, _ = zip(*rows, strict=True)
    try:
        found, owner = unpacked_together(segments, lists)
        places = np.searchsorted(ids, found.input_ids)
        is_about_them = bool((ids[places] == found.input_ids).all())
    except DamagedError:
        is_about_them = False
    if is_about_them:
        mixed = (found.counts.astype(np.uint64) * np.uint64(_COUNT_FACTOR)) + np.uint64(1)
        codes = np.array([zlib.crc32(term) + 1 for term in terms], np.uint64)
        yield places, mixed * (codes * np.uint64(_TERM_FACTOR))[owner]
    elif len(rows) == 1:
        wrong.append((_name_of(*rows[0]), "it is no list of indexed inputs"))
    else:
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            yield from _said(ids, half, wrong)


def _lists(connection: Connection) -> Iterator[list[_Row]]:
    """Every row of the postings, many at once: as the driver gives them, in half the time."""
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute("SELECT term, segment, data, seal FROM posting")
        while rows := list[_Row](cursor.fetchmany(_TOGETHER)):
            yield rows


def _sound(rows: list[_Row]) -> list[_Row]:
    """The rows that are as they were written, as `seals.is_sound` has it, worked out here."""
    with suppress(TypeError):
        if all(seal_of_list(*row[:3]) == row[3] for row in rows):
            return rows
    return [row for row in rows if _is_sound(*row)]


def _is_sound(term: object, segment: object, data: object, seal: object) -> bool:
    if type(term) is not bytes or type(segment) is not int or type(data) is not bytes:
        return False
    return seal == seal_of_list(term, segment, data)


def seal_of_list(term: bytes, segment: int, data: bytes) -> int:
    """The seal of a row of postings."""
    return zlib.crc32(b"%d,%d,%d" % (zlib.crc32(term), segment, zlib.crc32(data)))


def _name_of(term: object, segment: object, *_: object) -> str:
    written = f"X'{term.hex().upper()}'" if isinstance(term, bytes) else repr(term)
    return name_of(posting, (written, segment))
