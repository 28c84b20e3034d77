"""Values that a damaged one may have been: one bit apart, or what its column can hold at all."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple, cast

from sqlalchemy import Column, Table
from sqlalchemy.types import JSON, Boolean, LargeBinary, String

from variorum.store.seals import SEAL, crc32, sealed_columns

MOST_CANDIDATES = 1 << 14
"""Most values that are tried for a row. A checksum of 32 bits fits a wrong one of as many by chance
once in 260,000 rows, and never one that is a single flipped bit from what was written.
"""

_WIDTHS = (8, 16, 24, 32, 48, 64)
_BITS = 63

Value = int | bytes | None
"""A stored value; of a text its bytes in UTF-8."""


class RawRow(NamedTuple):
    """A row as its file holds it, by column, with what the engine finds it by."""

    rowid: int
    values: dict[str, Value]
    seal: Value


class Change(NamedTuple):
    """A column of a row, and the value that it had."""

    column: str
    value: Value


def proven_change(table: Table, row: RawRow, known: dict[str, Iterable[Value]]) -> Change | None:
    """The one change of one column under which the row fits its checksum; None where there is none,
    or more than one.

    `known` are values that a column may hold, beside those one bit apart from the one it holds.
    """
    columns = sealed_columns(table)
    made = raw_seal(table, row.values)
    if made is not None and isinstance(row.seal, int) and (made ^ row.seal).bit_count() == 1:
        return Change(SEAL, made)
    parts = [_part(column, row.values[column.name]) for column in columns]
    fits = set()
    for place, value in islice(_candidates(columns, row, known), MOST_CANDIDATES):
        tried = [*parts[:place], _part(columns[place], value), *parts[place + 1 :]]
        if _seal(tried) == row.seal:
            fits.add(Change(columns[place].name, value))
    return fits.pop() if len(fits) == 1 else None


def raw_seal(table: Table, values: Mapping[str, Value]) -> int | None:
    """The seal of a row of such values; None where one is not of its column's type."""
    return _seal([_part(column, values[column.name]) for column in sealed_columns(table)])


def _seal(parts: list[str | None]) -> int | None:
    return None if None in parts else zlib.crc32(",".join(cast(list[str], parts)).encode())


def _part(column: Column[Any], value: Value) -> str | None:
    """A column's part of what the seal is made from; None of a value that is not of its type."""
    if isinstance(column.type, LargeBinary):
        return str(crc32(value)) if isinstance(value, bytes) else None
    if isinstance(column.type, String | JSON):
        return value.hex().upper() if isinstance(value, bytes) else "" if value is None else None
    return "NULL" if value is None else str(value) if isinstance(value, int) else None


def _candidates(
    columns: Iterable[Column[Any]], row: RawRow, known: dict[str, Iterable[Value]]
) -> Iterator[tuple[int, Value]]:
    for place, column in enumerate(columns):
        held = row.values[column.name]
        for value in chain(known.get(column.name, ()), _flips(held)):
            if value != held and _fits(column, value):
                yield place, value


def _fits(column: Column[Any], value: Value) -> bool:
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, LargeBinary):
        return isinstance(value, bytes)
    if isinstance(column.type, String | JSON):
        return isinstance(value, bytes) and _is_text(value, is_json=isinstance(column.type, JSON))
    return isinstance(value, int) and (not isinstance(column.type, Boolean) or value in (0, 1))


def _is_text(value: bytes, *, is_json: bool) -> bool:
    try:
        text = value.decode()
        return not is_json or isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _flips(value: Value) -> Iterator[Value]:
    """Every value that is one bit apart."""
    if isinstance(value, bytes):
        for place, byte in enumerate(value):
            before, after = value[:place], value[place + 1 :]
            for bit in range(8):
                yield before + bytes([byte ^ 1 << bit]) + after
    elif isinstance(value, int):
        yield from (value ^ 1 << bit for bit in range(_BITS))
        # The highest bit of a stored width is a sign.
        half = (1 << width - 1 for width in _WIDTHS)
        yield from (value - size if value >= 0 else value + size for size in half)
