"""Checks of what a caller gives: each returns the value itself, or raises an error about it."""

import math
from collections.abc import Collection, Mapping
from fractions import Fraction
from os import PathLike, fsencode, fspath

from variorum.records.errors import InputError

MAX_USD_PER_MTOK = 1_000_000
"""Highest price of a million tokens that is believed, in USD."""

MAX_PATH_BYTES = 4095
MAX_NAME_BYTES = 255
"""Longest path, and longest part of one, that file systems hold."""


def bad_parameter(name: str, expected: str, found: object, remedy: str = "") -> InputError:
    """The error about the argument called `name`."""
    return InputError(
        f"{name} must be {expected}",
        kind="bad-parameter",
        subject=name,
        expected=expected,
        found=found if isinstance(found, str) and found else _shown(found),
        remedy=remedy or f"give {name} as {expected}",
    )


def _shown(value: object) -> str:
    """How a value looks, also where Python refuses to print it (a number of 5,000 digits)."""
    try:
        return repr(value)
    except Exception as error:
        return f"{type(value).__name__} that cannot be shown: {error}"


def words(name: str, value: object) -> str:
    """A string with at least one character, without NUL and lone surrogates.

    Raises:
        InputError: it is not.
    """
    if not isinstance(value, str):
        raise bad_parameter(name, "a string", value)
    if not value or "\0" in value:
        found = "an empty string" if not value else "a NUL character"
        raise bad_parameter(name, "some characters, none of them NUL", found)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        found = f"what is no character at {error.start}"
        raise bad_parameter(name, "text that UTF-8 can write", found) from None
    return value


def place(name: str, value: object) -> str:
    """A path as a string: not empty, without NUL, and of what a file name can hold.

    Raises:
        InputError: it is not.
    """
    text = fspath(value) if isinstance(value, PathLike) else value
    if not isinstance(text, str):
        raise bad_parameter(name, "a path", value)
    if not text or "\0" in text:
        found = "an empty string" if not text else "a NUL character"
        raise bad_parameter(name, "a path of some characters, none of them NUL", found)
    try:
        octets = fsencode(text)
    except UnicodeEncodeError:
        raise bad_parameter(name, "a path that a file system can hold", repr(text)) from None
    if len(octets) > MAX_PATH_BYTES or max(map(len, octets.split(b"/"))) > MAX_NAME_BYTES:
        limits = f"{MAX_PATH_BYTES} bytes, each part of at most {MAX_NAME_BYTES}"
        raise bad_parameter(name, f"a path of at most {limits}", text)
    return text


def one_of(name: str, value: object, known: Collection[str]) -> str:
    """One of the words that are known.

    Raises:
        InputError: it is not.
    """
    if not isinstance(value, str) or value not in known:
        raise bad_parameter(name, f"one of: {', '.join(known)}", value)
    return value


def callback(name: str, value: object) -> None:
    """Refuse what cannot be called.

    Raises:
        InputError: it cannot.
    """
    if not callable(value):
        raise bad_parameter(name, "a function", value)


def whole(name: str, value: object, least: int | None = None) -> int:
    """A whole number, from `least` where there is a least; true and false are none.

    Raises:
        InputError: it is not, or it is longer than any number is.
    """
    expected = "a whole number" if least is None else f"a whole number, {least} or more"
    if isinstance(value, bool) or not isinstance(value, int) or value.bit_length() > 1_000:
        raise bad_parameter(name, expected, value)
    if least is not None and value < least:
        raise bad_parameter(name, expected, value)
    return value


def amount(name: str, value: object, most: float = math.inf) -> float:
    """A finite number from 0 to `most`.

    Raises:
        InputError: it is not.
    """
    bounded = "0 or more" if math.isinf(most) else f"from 0 to {most:,.0f}"
    expected = f"a finite number, {bounded}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_parameter(name, expected, value)
    if not 0 <= value <= most or value == math.inf:  # NaN compares with nothing
        raise bad_parameter(name, expected, value)
    return value


def price(name: str, value: object) -> float:
    """A price of a million tokens in USD.

    Raises:
        InputError: it is not a number from 0 to `MAX_USD_PER_MTOK`.
    """
    return amount(name, value, MAX_USD_PER_MTOK)


def affordable_tokens(usd: float, usd_per_mtok: float) -> int:
    """How many tokens `usd` buys at a price over 0, exactly; no more than anyone has."""
    return min(2**63 - 1, int(Fraction(usd) * 1_000_000 / Fraction(usd_per_mtok)))


def switches(**values: object) -> None:
    """Refuse what is not true or false.

    Raises:
        InputError: one of them is neither.
    """
    for name, value in values.items():
        if not isinstance(value, bool):
            raise bad_parameter(name, "True or False", value)


def names(name: str, value: object) -> tuple[str, ...]:
    """A list of strings, none of them empty; one string is no list.

    Raises:
        InputError: it is not.
    """
    if isinstance(value, str) or not isinstance(value, Collection):
        raise bad_parameter(name, "a list of strings", value)
    return tuple(words(name, one) for one in value)


def metadata(name: str, value: object) -> dict[str, str | int | float | bool]:
    """A mapping of keys to strings, numbers, true or false.

    Raises:
        InputError: it is not.
    """
    if not isinstance(value, Mapping):
        raise bad_parameter(name, "a mapping of metadata keys to values", value)
    for key, wanted in value.items():
        if not isinstance(key, str):
            raise bad_parameter(name, "a mapping whose keys are strings", key)
        if not isinstance(wanted, str | int | float | bool):
            raise bad_parameter(f"{name}[{key!r}]", "a string, a number, True or False", wanted)
    return dict(value)
