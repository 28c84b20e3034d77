"""Users' functions, from `module:function`."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

from variorum.records.derivations import Derivation, Function, Unit, derivations
from variorum.records.errors import InputError


def configured(derive: Mapping[str, tuple[str, Unit]], home: Path) -> tuple[Derivation, ...]:
    """The configured functions, imported as from the folder `home`.

    Raises:
        InputError: there is no such function.
    """
    of: dict[Unit, dict[str, Function]] = {"chunk": {}, "section": {}}
    for named, (spec, unit) in derive.items():
        of[unit][named] = _function(named, spec, home)
    return derivations(of["chunk"], of["section"])


def _function(named: str, spec: str, home: Path) -> Callable[[str], str]:
    module, _, name = spec.partition(":")
    sys.path.insert(0, str(home.absolute()))
    try:
        function: Any = attrgetter(name)(import_module(module))
    except Exception as error:
        raise _refusal(named, spec, f"{type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(home.absolute()))
    if not callable(function):
        raise _refusal(named, spec, type(function).__name__)
    return function  # type: ignore[no-any-return]


def _refusal(named: str, spec: str, found: str) -> InputError:
    return InputError(
        f"the function of {named} cannot be imported",
        kind="bad-config",
        subject=f"derive.{named.partition('@')[0]}.function",
        expected="a function, as package.module:function",
        found=f"{spec}: {found}",
        remedy="check the name; a module is found beside the configuration, or installed",
    )
