"""Libraries that only some models need."""

import importlib
from typing import Any

from variorum.records.errors import UnsupportedError


def required_library(module: str, extra: str) -> Any:
    """The imported module.

    Raises:
        UnsupportedError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UnsupportedError(
            f"this model needs the library {extra}",
            kind="library-missing",
            subject=extra,
            expected=f"{extra} installed",
            found=str(error),
            remedy=f"pip install 'variorum[{extra}]'",
        ) from error
