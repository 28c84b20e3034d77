"""The grammar of a model's spec: a name, with settings in brackets.

`onnx(path="models/bge m3", pooling=cls)` is one. A value is a bare word, or a JSON string where it
holds white space, commas, brackets or quotes.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from variorum.records.errors import InputError

Value: TypeAlias = int | str

_VALUE = r'"(?:[^"\\]|\\.)*"|[^\s,()"=]+'
_SPEC = re.compile(rf"\s*(?P<name>[a-z0-9-]+)\s*(?:\((?P<settings>(?>{_VALUE}|[\s,=])*+)\))?\s*")
_SETTING = re.compile(rf"\s*(?P<field>[a-z_]+)\s*=\s*(?P<value>{_VALUE})\s*(?:,|$)")
_WHOLE = re.compile(r"-?\d{1,9}", re.ASCII)
_NUMBER = re.compile(r"[-+]?\d[\d.eE+-]*")
"""What is meant as a number, whether or not it is one that a setting takes."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `least` to `most`."""

    least: int
    most: int

    @property
    def shape(self) -> str:
        """What a value looks like."""
        return "WHOLE_NUMBER"

    def wanted(self, field: str) -> str:
        """The values that the setting takes, in words."""
        return f"{field} from {self.least} to {self.most}"

    def read(self, printed: str) -> int | None:
        """The value, or None where it is none."""
        found = int(printed) if _WHOLE.fullmatch(printed) else None
        return found if found is not None and self.least <= found <= self.most else None


@dataclass(frozen=True, slots=True)
class Words:
    """Any text, or one of `choices`."""

    choices: tuple[str, ...] = ()

    @property
    def shape(self) -> str:
        """What a value looks like."""
        return "|".join(self.choices) or "TEXT"

    def wanted(self, field: str) -> str:
        """The values that the setting takes, in words."""
        return f"{field}={self.shape}"

    def read(self, printed: str) -> str | None:
        """The value, or None where it is none."""
        return None if self.choices and printed not in self.choices else printed


Parameters: TypeAlias = Mapping[str, Whole | Words]


def parse_spec(spec: str) -> tuple[str, str] | None:
    """The name of a spec, and its settings as printed; None where it follows no grammar."""
    match = _SPEC.fullmatch(spec)
    return None if match is None else (match["name"], match["settings"] or "")


def read_settings(spec: str, printed: str, parameters: Parameters) -> dict[str, Value]:
    """The values of a spec's settings.

    Raises:
        InputError: kind `bad-parameter`: one is unknown, given twice, or not of its values.
    """
    values: dict[str, Value] = {}
    position = 0
    while printed[position:].strip():
        match = _SETTING.match(printed, position)
        if match is None or match["field"] not in parameters or match["field"] in values:
            found = (match[0] if match else printed[position:]).strip(" ,")
            raise bad_parameter(spec, found, _taken(parameters))
        kind, plain = parameters[match["field"]], _plain(spec, match["value"])
        value = kind.read(plain)
        if value is None:
            is_number = isinstance(kind, Whole) and _NUMBER.fullmatch(plain)
            wanted = kind.wanted(match["field"]) if is_number else _taken(parameters)
            raise bad_parameter(spec, match[0].strip(" ,"), wanted)
        values[match["field"]] = value
        position = match.end()
    return values


def _taken(parameters: Parameters) -> str:
    taken = ", ".join(f"{field}={kind.shape}" for field, kind in parameters.items())
    return f"{taken or 'no parameters'}, each once"


def _plain(spec: str, printed: str) -> str:
    if not printed.startswith('"'):
        return printed
    try:
        return str(json.loads(printed))
    except ValueError:
        raise bad_parameter(spec, printed, "a string as JSON writes it") from None


def bad_parameter(spec: str, found: str, expected: str) -> InputError:
    """The error about one setting of a spec."""
    return InputError(
        f"{found!r} is not a parameter of the model {spec!r}",
        kind="bad-parameter",
        subject=spec,
        expected=expected,
        found=found,
        remedy=f"use {expected}",
    )
