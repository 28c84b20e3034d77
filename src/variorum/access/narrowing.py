"""What a document says of its own readers and dates: it may take away, never give."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, tzinfo
from typing import Any

from variorum.access.dates import Interval, instant_us
from variorum.access.readers import parse_reader
from variorum.records.errors import InputError

KEY = "variorum"
"""The table of a document's front matter that is read here."""

_KEYS = ("readers", "effective_from", "effective_until")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Readers and dates that a revision narrows itself to; None and open where it says nothing."""

    readers: frozenset[str] | None
    interval: Interval


def checked_claims(claims: object) -> dict[str, Any]:
    """The claims of a document's front matter as JSON, checked in full.

    Raises:
        InputError: they are not a table of readers and dates.
    """
    if not isinstance(claims, Mapping):
        raise _refusal(KEY, "a table", claims)
    for key in claims:
        if key not in _KEYS:
            raise _refusal(f"{KEY}.{key}", f"one of: {', '.join(_KEYS)}", key)
    checked = {key: _as_json(key, claims[key]) for key in _KEYS if key in claims}
    if narrowing_of(checked, UTC).interval.is_empty:
        raise _refusal(f"{KEY}.effective_until", "a date after effective_from", claims)
    return checked


def _as_json(key: str, value: object) -> object:
    if key != "readers":
        if not isinstance(value, str | date):
            raise _refusal(f"{KEY}.{key}", "a date, or a date with a time", value)
        text = value if isinstance(value, str) else value.isoformat()
        try:
            instant_us(text, UTC)
        except ValueError:
            raise _refusal(f"{KEY}.{key}", "a date, or a date with a time", value) from None
        return text
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _refusal(f"{KEY}.readers", "a list of readers", value)
    try:
        return sorted(parse_reader(one) for one in value)
    except InputError as error:
        raise _refusal(f"{KEY}.readers", error.expected, error.found) from error


def _refusal(subject: str, expected: str, found: object) -> InputError:
    return InputError(
        f"the front matter's {subject} cannot be read",
        kind="bad-front-matter",
        subject=subject,
        expected=expected,
        found=str(found),
        remedy="correct the document's front matter",
    )


def unreadable_claims(why: str) -> InputError:
    """The error about front matter that cannot be read and might narrow access."""
    return _refusal(KEY, "front matter that can be read", why)


def narrowing_of(claims: Mapping[str, Any], zone: tzinfo) -> Narrowing:
    """Checked claims as readers and instants; a date without a zone is read in `zone`."""
    readers = frozenset(claims["readers"]) if "readers" in claims else None
    start = claims.get("effective_from")
    end = claims.get("effective_until")
    return Narrowing(
        readers,
        Interval(
            None if start is None else instant_us(start, zone),
            None if end is None else instant_us(end, zone, ends=True),
        ),
    )
