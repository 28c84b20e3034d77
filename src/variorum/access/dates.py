"""Dates and intervals: half-open ranges of instants, in microseconds since 1970 in UTC.

A date without a zone is read in the policy's time zone. As a beginning, a date is its first
instant; as an end it is its last, so that the day named still counts. A date with a time is that
instant, and an interval has ended at the instant that ends it.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST_US = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST_US = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


@dataclass(frozen=True, slots=True)
class Interval:
    """`[start_us, end_us)`; None where it is open."""

    start_us: int | None = None
    end_us: int | None = None

    def holds(self, at_us: int | None) -> bool:
        """Whether the instant lies in it; None asks for any date."""
        if at_us is None:
            return True
        return (self.start_us is None or self.start_us <= at_us) and (
            self.end_us is None or at_us < self.end_us
        )

    def within(self, other: "Interval") -> "Interval":
        """The instants that both hold."""
        starts = [one for one in (self.start_us, other.start_us) if one is not None]
        ends = [one for one in (self.end_us, other.end_us) if one is not None]
        return Interval(max(starts, default=None), min(ends, default=None))

    @property
    def is_empty(self) -> bool:
        """Whether no instant lies in it."""
        return (
            self.start_us is not None and self.end_us is not None and self.start_us >= self.end_us
        )


ALWAYS = Interval()
"""The interval that is open on both sides."""


def zone_named(name: str) -> tzinfo:
    """A time zone by its IANA name.

    Raises:
        ValueError: no zone of that name is known here.
    """
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:  # ZoneInfoNotFoundError is a KeyError.
        raise ValueError(f"no time zone named {name!r} is known here") from error


def instant_us(value: object, zone: tzinfo, *, ends: bool = False) -> int | None:
    """The instant of a date, a date with a time, or either as ISO 8601 text.

    With `ends` a date stands for its end. None where it lies past all that can be told.

    Raises:
        ValueError: `value` is none of them.
    """
    found = _read(value)
    try:
        if not isinstance(found, datetime):
            day = found + timedelta(days=1) if ends else found
            found = datetime(day.year, day.month, day.day)
        aware = found if found.tzinfo else found.replace(tzinfo=zone)
        return min(max((aware - _EPOCH) // _MICROSECOND, _FIRST_US), _LAST_US)
    except OverflowError:
        return None


def _read(value: object) -> date:
    if isinstance(value, date):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a date")
    text = value.strip()
    try:
        return date.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(text)


def iso_of(at_us: int | None) -> str | None:
    """The instant as ISO 8601 in UTC, to the second where it has no fraction."""
    if at_us is None:
        return None
    return (_EPOCH + at_us * _MICROSECOND).isoformat()


def us_of(moment: datetime) -> int:
    """Microseconds since 1970 of a moment with a zone."""
    return (moment - _EPOCH) // _MICROSECOND
