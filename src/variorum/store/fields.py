"""The user's metadata of some documents, by key, in typed columns.

A derived copy in memory, made once for a view: nothing of what does not pass is in it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from decimal import Decimal
from functools import cached_property

from variorum.access.dates import instant_us
from variorum.store.manifests import ManifestRow

Number = int | float | Decimal


@dataclass(frozen=True, slots=True)
class Ordered:
    """Manifest rows by a value, ascending: `values[n]` is that of `rows[n]`."""

    values: Sequence[int | float] = ()
    rows: Sequence[int] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[int | float, int]]) -> "Ordered":
        """The rows of (value, row) pairs."""
        found = sorted(pairs)
        return cls([value for value, _ in found], [row for _, row in found])

    def between(self, least: Number | None, beyond: Number | None) -> set[int]:
        """The rows whose value is at least `least` and below `beyond`, each None where open."""
        first = 0 if least is None else bisect_left(self.values, least)
        last = len(self.values) if beyond is None else bisect_left(self.values, beyond)
        return set(self.rows[first:last])

    def up_to(self, most: Number) -> set[int]:
        """The rows whose value is at most `most`."""
        return set(self.rows[: bisect_right(self.values, most)])

    def over(self, least: Number) -> set[int]:
        """The rows whose value is above `least`."""
        return set(self.rows[bisect_right(self.values, least) :])

    def equal(self, value: Number) -> Iterator[tuple[int | float, int]]:
        """The (value, row) pairs that compare equal."""
        first, last = bisect_left(self.values, value), bisect_right(self.values, value)
        return zip(self.values[first:last], self.rows[first:last], strict=True)


@dataclass(frozen=True)
class Column:
    """What documents say under one key, by manifest row. Typed once, when first asked."""

    values: Sequence[tuple[int, object]]

    @cached_property
    def words(self) -> Mapping[str, set[int]]:
        """The rows of each string."""
        found: dict[str, set[int]] = {}
        for row, value in self.values:
            if isinstance(value, str):
                found.setdefault(value, set()).add(row)
        return found

    @cached_property
    def switches(self) -> Mapping[bool, set[int]]:
        """The rows of true and of false."""
        return {wanted: {row for row, v in self.values if v is wanted} for wanted in (True, False)}

    @cached_property
    def numbers(self) -> Ordered:
        """The rows by number; true and false are none."""
        return Ordered.of((value, row) for row, value in self.values if _is_number(value))  # type: ignore[misc]

    @cached_property
    def dates(self) -> Ordered:
        """The rows by the instant of a date that a string writes, without a zone in UTC."""
        instants = ((_instant(word), rows) for word, rows in self.words.items())
        return Ordered.of((at, row) for at, rows in instants if at is not None for row in rows)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _instant(word: str) -> int | None:
    if not word[:1].isdigit() or "-" not in word:
        return None
    try:
        return instant_us(word, UTC)
    except ValueError:
        return None


@dataclass(frozen=True)
class Fields:
    """The columns of some documents, by key."""

    columns: Mapping[str, Column] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[ManifestRow]) -> "Fields":
        """Those of manifest rows. Linear in their metadata."""
        found: dict[str, list[tuple[int, object]]] = {}
        for row in rows:
            for key, value in row.fields.items():
                found.setdefault(key, []).append((row.id, value))
        return cls({key: Column(values) for key, values in found.items()})
