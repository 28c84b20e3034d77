"""Filters by metadata against plain comparisons of each value."""

import operator
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from variorum.records.errors import InputError
from variorum.retrieval.conditions import conditions
from variorum.store.fields import Column

ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
numbers = st.one_of(
    st.integers(-5, 5), st.integers(2**53 - 2, 2**53 + 2), st.sampled_from([-0.0, 0.1, 2.5, 3.0])
)
days = st.dates(date(2025, 12, 30), date(2026, 1, 3))
moments = st.datetimes(datetime(2025, 12, 31), datetime(2026, 1, 2)).map(datetime.isoformat)
words = st.sampled_from(["", "a", "1", "1.0", "true", "2026", "not-a-date"])
values = st.one_of(numbers, st.booleans(), words, days.map(date.isoformat), moments)
columns = st.lists(values, max_size=12)


def found(column: list[object], text: str) -> set[int]:
    (condition,) = conditions([text])
    return condition.rows(Column(list(enumerate(column))))


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def instant(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) and "-" in value else None
    except ValueError:
        return None


@given(columns, numbers, st.sampled_from(sorted(ORDERS)))
def test_numbers_compare_as_numbers(column: list[object], wanted: float, order: str) -> None:
    expected = {
        row
        for row, value in enumerate(column)
        if is_number(value) and ORDERS[order](value, Decimal(repr(wanted)))
    }
    if any(map(is_number, column)):
        assert found(column, f"key{order}{wanted}") == expected
    else:
        with pytest.raises(InputError) as refused:
            found(column, f"key{order}{wanted}")
        assert refused.value.kind == "metadata-type"


@given(columns, st.one_of(days, days.map(lambda day: datetime(*day.timetuple()[:5]))))
def test_dates_compare_as_dates_and_a_day_as_the_whole_of_it(
    column: list[object], wanted: date
) -> None:
    is_day = not isinstance(wanted, datetime)
    start = datetime(wanted.year, wanted.month, wanted.day)
    last = start + (timedelta(days=1) - timedelta(microseconds=1) if is_day else timedelta(0))
    dated = {row: at for row, value in enumerate(column) if (at := instant(value)) is not None}
    if not dated:
        return
    for order, bound in (("<", start), ("<=", last), (">", last), (">=", start)):
        expected = {row for row, at in dated.items() if ORDERS[order](at, bound)}
        assert found(column, f"key{order}{wanted.isoformat()}") == expected


@given(columns, values)
def test_a_written_value_finds_what_is_written_so(column: list[object], wanted: object) -> None:
    text = str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
    expected = set()
    for row, value in enumerate(column):
        if isinstance(value, str):
            is_same = value == text
        elif isinstance(value, bool):
            is_same = text == str(value).lower()
        else:
            is_same = is_number_text(text) and (
                value == (float(text) if isinstance(value, float) else Decimal(text))
            )
        expected |= {row} if is_same else set()
    assert found(column, f"key={text}") == expected


def is_number_text(text: str) -> bool:
    try:
        return Decimal(text).is_finite() and not text.startswith((".", "_"))
    except ArithmeticError:
        return False


@given(columns, st.one_of(numbers, st.booleans()))
def test_a_typed_value_finds_its_own_kind(column: list[object], wanted: object) -> None:
    (condition,) = conditions({"key": wanted})
    is_switch = isinstance(wanted, bool)
    expected = {
        row
        for row, value in enumerate(column)
        if isinstance(value, bool) == is_switch and not isinstance(value, str) and value == wanted
    }
    assert condition.rows(Column(list(enumerate(column)))) == expected
