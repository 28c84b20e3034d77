"""Chunker specs: `anchored(max_tokens=220, min_tokens=44)` read into a chunker."""

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NoReturn, get_type_hints

from variorum.chunking.anchored import Anchored
from variorum.chunking.chunker import Chunker
from variorum.chunking.content_defined import ContentDefined
from variorum.chunking.fixed import Fixed
from variorum.chunking.fixed_characters import FixedCharacters
from variorum.chunking.recursive import Recursive
from variorum.chunking.semantic import Semantic
from variorum.chunking.structural import Structural
from variorum.records.errors import InputError

CHUNKERS: dict[str, type[Any]] = {
    "anchored": Anchored,
    "content_defined": ContentDefined,
    "fixed": Fixed,
    "fixed_characters": FixedCharacters,
    "recursive": Recursive,
    "semantic": Semantic,
    "structural": Structural,
}
"""Every chunker by the name its spec begins with."""

_SPEC = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\(([^()]*)\))?\s*")
_SETTING = re.compile(r"\s*(\w+)\s*=\s*(-?\d{1,9}(?:\.\d{1,9})?|[A-Za-z][\w-]*)\s*")


def _number(printed: str) -> float:
    """A decimal number; words that Python reads as floats, such as `nan`, are none."""
    if printed[-1].isalpha():
        raise ValueError(printed)
    return float(printed)


_READERS: dict[Any, Callable[[str], int | float | str]] = {
    int: int,
    float: _number,
    float | None: _number,
    str: str,
}
"""How a setting is read, by the type of its field."""


def chunker_from_spec(spec: str) -> Chunker:
    """Read a spec; settings left out keep their defaults.

    Raises:
        InputError: kind `unknown-chunker`, or `bad-parameter` for a setting that is unknown,
            unreadable or outside its range.
    """
    match = _SPEC.fullmatch(spec)
    if match is None or match[1] not in CHUNKERS:
        _refuse_name(spec)
    name = match[1]
    settings = _settings(name, match[2] or "")
    chunker: Chunker = CHUNKERS[name](**settings)
    return chunker


def _settings(name: str, printed: str) -> dict[str, int | float | str]:
    types = get_type_hints(CHUNKERS[name])
    known = sorted(field.name for field in fields(CHUNKERS[name]) if field.repr)
    settings: dict[str, int | float | str] = {}
    for part in filter(str.strip, printed.split(",")):
        match = _SETTING.fullmatch(part)
        if match is None or match[1] not in known or match[1] in settings:
            _refuse_setting(name, part.strip(), known)
        try:
            settings[match[1]] = _READERS[types[match[1]]](match[2])
        except ValueError:
            _refuse_setting(name, part.strip(), known)
    return settings


def _refuse_name(spec: str) -> NoReturn:
    known = ", ".join(sorted(CHUNKERS))
    raise InputError(
        f"{spec!r} names no chunker",
        kind="unknown-chunker",
        subject=spec,
        expected=f"one of {known}, with settings in brackets",
        found=spec,
        remedy="write for instance anchored(max_tokens=220, min_tokens=44)",
    )


def _refuse_setting(name: str, part: str, known: list[str]) -> NoReturn:
    settings = ", ".join(known)
    raise InputError(
        f"{name} has no setting {part!r}; its settings are {settings}",
        kind="bad-parameter",
        subject=f"{name}.{part.partition('=')[0].strip()}",
        expected=f"name=value, each once, of {settings}",
        found=part,
        remedy=f"use the settings of {name}: {settings}",
    )
