"""Users' functions over chunks and sections."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from variorum.records.arguments import bad_parameter

Function = Callable[[str], str]
"""From a text, without outer white space and with line ends folded, to what is kept of it."""

Unit = Literal["chunk", "section"]
"""What a function is given: the text of a chunk, or of the section that a chunk begins in."""

_OF_SECTIONS = " of sections"

_NAMED = re.compile(r"[a-z][a-z0-9_]{0,62}@[^\s@]{1,64}")


@dataclass(frozen=True, slots=True)
class Derivation:
    """A function under the name and version that decide what it need not be run for again."""

    name: str
    version: str
    function: Function
    unit: Unit = "chunk"

    @property
    def named(self) -> tuple[str, str]:
        """Name, and version as it is stored: another one for each unit."""
        return (self.name, self.version + (_OF_SECTIONS if self.unit == "section" else ""))


def unit_of(stored_version: str) -> Unit:
    """What a function is given, by its version as it is stored."""
    return "section" if stored_version.endswith(_OF_SECTIONS) else "chunk"


def derivations(of_chunks: object, of_sections: object) -> tuple[Derivation, ...]:
    """The functions of mappings such as `{"summary@1": summarise}`, by name.

    Raises:
        InputError: one is no such mapping, or a name stands twice.
    """
    found = [
        *_derivations("derive", of_chunks, "chunk"),
        *_derivations("derive_sections", of_sections, "section"),
    ]
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise bad_parameter("derive", "each name once", ", ".join(names))
    return tuple(sorted(found, key=lambda one: one.name))


def _derivations(parameter: str, given: object, unit: Unit) -> list[Derivation]:
    expected = 'a mapping such as {"summary@1": summarise}'
    if not isinstance(given, Mapping):
        raise bad_parameter(parameter, expected, given)
    for named, function in given.items():
        if not (isinstance(named, str) and _NAMED.fullmatch(named) and callable(function)):
            raise bad_parameter(parameter, expected, named)
    split = ((*named.partition("@"), function) for named, function in given.items())
    return [Derivation(name, version, function, unit) for name, _, version, function in split]
