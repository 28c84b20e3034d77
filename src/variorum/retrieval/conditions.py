"""What is asked of the user's metadata: one key, a comparison and a value."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal
from typing import Literal

from variorum.access.dates import instant_us
from variorum.records.arguments import bad_parameter, metadata, words
from variorum.records.errors import InputError
from variorum.store.fields import Column

Wanted = str | int | float | bool
"""What a metadata value is compared with."""
Operator = Literal["=", "<", "<=", ">", ">="]

_WRITTEN = re.compile(r"(?P<key>[^=<>]+)(?P<operator><=|>=|<|>|=)(?P<value>.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
_MAX_DIGITS = 400


@dataclass(frozen=True, slots=True)
class Condition:
    """A document passes where its value under `key` compares so with `value`."""

    key: str
    operator: Operator
    value: Wanted

    def __str__(self) -> str:
        return f"{self.key}{self.operator}{self.value}"

    def rows(self, column: Column) -> set[int]:
        """The manifest rows of a column that pass.

        Raises:
            InputError: the value is compared by order, and is neither a number nor a date, or the
                column has none of that kind.
        """
        if self.operator == "=":
            return _equal(column, self.value)
        text = str(self.value).strip()
        if _is_number(text):
            return self._by_number(column, Decimal(text))
        return self._by_date(column, text)

    def _by_number(self, column: Column, wanted: Decimal) -> set[int]:
        numbers = column.numbers
        if not numbers.rows:
            raise self._of_no_such_kind("a number")
        if self.operator in ("<", ">="):
            is_least = self.operator == ">="
            return numbers.between(wanted, None) if is_least else numbers.between(None, wanted)
        return numbers.up_to(wanted) if self.operator == "<=" else numbers.over(wanted)

    def _by_date(self, column: Column, text: str) -> set[int]:
        """A day is over with its last instant: `<=` counts all of it, `>` nothing of it."""
        ends = self.operator in ("<=", ">")
        try:
            at = instant_us(text, UTC, ends=ends)
        except ValueError as error:
            expected = "a number or a date behind <, <=, > and >="
            raise bad_parameter("where", expected, str(self)) from error
        if not column.dates.rows:
            raise self._of_no_such_kind("a date")
        if at is not None and ends and ":" in text:
            at += 1  # An instant, not a day: the instant itself counts, and nothing after it.
        is_after = self.operator in (">", ">=")
        return column.dates.between(at, None) if is_after else column.dates.between(None, at)

    def _of_no_such_kind(self, kind: str) -> InputError:
        return InputError(
            f"no document has {kind} under {self.key!r}",
            kind="metadata-type",
            subject=self.key,
            expected=f"a key under which documents have {kind}",
            found=str(self),
            remedy="write it as such in the documents' metadata, or compare with =",
        )


def conditions(where: object) -> tuple[Condition, ...]:
    """Conditions as a caller gives them: a mapping of keys to values, or texts as `year>=2020`.

    Raises:
        InputError: it is neither, or two texts want one key to be two things.
    """
    if where is None:
        return ()
    if isinstance(where, Mapping):
        return tuple(Condition(key, "=", value) for key, value in metadata("where", where).items())
    if isinstance(where, str) or not isinstance(where, Iterable):
        raise bad_parameter("where", "a mapping, or a list of texts such as year>=2020", where)
    found = tuple(_parsed(words("where", text)) for text in where)
    _require_one_value(found)
    return found


def _parsed(text: str) -> Condition:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise InputError(
            f"{text!r} is not KEY=VALUE",
            kind="bad-parameter",
            subject="--where",
            expected="KEY=VALUE, such as owner=Finance; or <, <=, > or >= for a number or a date",
            found=text,
            remedy="write the key, an equals sign and the value",
        )
    return Condition(match["key"], match["operator"], match["value"])  # type: ignore[arg-type]


def _require_one_value(found: tuple[Condition, ...]) -> None:
    keys = [one.key for one in found if one.operator == "="]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(
                f"--where names {key!r} twice",
                kind="bad-parameter",
                subject="--where",
                expected="each key once: a document has one value of it",
                found=", ".join(str(one) for one in found if one.key == key),
                remedy="search once for each value",
            )


def _is_number(text: str) -> bool:
    return len(text) <= _MAX_DIGITS and _NUMBER.fullmatch(text) is not None


def _equal(column: Column, wanted: Wanted) -> set[int]:
    """The rows of a value. A string is compared with how a value is written; true and false are no
    numbers, and 1 is 1.0.
    """
    if isinstance(wanted, bool):
        return column.switches[wanted]
    if not isinstance(wanted, str):
        return {row for _, row in column.numbers.equal(wanted)}
    found = set(column.words.get(wanted, ()))
    if wanted in ("true", "false"):
        return found | column.switches[wanted == "true"]
    return found | _written(column, wanted) if _is_number(wanted) else found


def _written(column: Column, text: str) -> set[int]:
    """The rows of a number that `text` writes: a whole one exactly, another as it is rounded."""
    exact, rounded = Decimal(text), float(text)
    whole = {row for value, row in column.numbers.equal(exact) if isinstance(value, int)}
    return whole | {row for value, row in column.numbers.equal(rounded) if isinstance(value, float)}
