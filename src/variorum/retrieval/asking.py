"""The date that a question is asked about, and the moment at which it is asked."""

from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from variorum.access.dates import instant_us, iso_of, us_of
from variorum.records.arguments import bad_parameter

ANY = "any"
"""Asks for what is in force at any date at all."""
NOW = "now"
"""Asks for what is in force at the moment of asking, as naming no date does."""


@dataclass(frozen=True, slots=True)
class Asked:
    """`at_us` is the instant asked about, None for any; `now_us` the moment of asking."""

    at_us: int | None
    now_us: int

    @property
    def effective(self) -> str:
        """The instant asked about as ISO 8601 in UTC, or `any`, or `now` where none was named."""
        return NOW if self.at_us == self.now_us else iso_of(self.at_us) or ANY


def asked_at(effective: date | str | None, now: datetime, zone: tzinfo) -> Asked:
    """The instant that `effective` stands for: now where it is None, else a date's first instant.

    A date without a zone is read in `zone`.

    Raises:
        InputError: it is neither a date nor `now` or `any`.
    """
    now_us = us_of(now)
    if effective in (None, NOW, ANY):
        return Asked(None if effective == ANY else now_us, now_us)
    try:
        return Asked(instant_us(effective, zone), now_us)
    except ValueError as error:
        raise bad_parameter(
            "effective",
            "a date such as 2026-01-31, a date with a time, now or any",
            effective,
        ) from error
