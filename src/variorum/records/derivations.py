"""Users' functions over chunks."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from variorum.records.arguments import bad_parameter

Function = Callable[[str], str]
"""From a chunk's text, without outer white space and with line ends folded, to what is kept."""

_NAMED = re.compile(r"[a-z][a-z0-9_]{0,62}@[^\s@]{1,64}")


@dataclass(frozen=True, slots=True)
class Derivation:
    """A function under the name and version that decide what it need not be run for again."""

    name: str
    version: str
    function: Function

    @property
    def named(self) -> tuple[str, str]:
        """Name and version."""
        return (self.name, self.version)


def derivations(given: object) -> tuple[Derivation, ...]:
    """The functions of a mapping such as `{"summary@1": summarise}`, by name.

    Raises:
        InputError: it is none, or names one function twice.
    """
    expected = 'a mapping such as {"summary@1": summarise}, each name once'
    if not isinstance(given, Mapping):
        raise bad_parameter("derive", expected, given)
    for named, function in given.items():
        if not (isinstance(named, str) and _NAMED.fullmatch(named) and callable(function)):
            raise bad_parameter("derive", expected, named)
    found = [_derivation(named, function) for named, function in given.items()]
    if len({one.name for one in found}) < len(found):
        raise bad_parameter("derive", expected, ", ".join(given))
    return tuple(sorted(found, key=lambda one: one.name))


def _derivation(named: str, function: Function) -> Derivation:
    name, _, version = named.partition("@")
    return Derivation(name, version, function)
