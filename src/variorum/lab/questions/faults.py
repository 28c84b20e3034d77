"""Errors of data sets that cannot be read."""

from pathlib import Path
from typing import NoReturn

from variorum.records.errors import InputError


def refuse_dataset(path: Path | str, expected: str, found: str) -> NoReturn:
    """Raise the error for a data set that is not as documented.

    Raises:
        InputError: always, kind `bad-questions`.
    """
    raise InputError(
        f"{path} is not a set of questions that can be read",
        kind="bad-questions",
        subject=str(path),
        expected=expected,
        found=found,
        remedy="see `variorum lab recall` in the reference for the formats",
    )
