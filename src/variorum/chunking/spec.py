"""Chunker specs: `anchored(max_tokens=160, min_tokens=48)` read into a chunker."""

import re
from dataclasses import fields
from typing import Any, NoReturn

from variorum.chunking.anchored import Anchored
from variorum.chunking.chunker import Chunker
from variorum.chunking.fixed import Fixed
from variorum.chunking.recursive import Recursive
from variorum.records.errors import InputError

CHUNKERS: dict[str, type[Any]] = {
    "anchored": Anchored,
    "fixed": Fixed,
    "recursive": Recursive,
}
"""Every chunker by the name its spec begins with."""

_SPEC = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\(([^()]*)\))?\s*")
_SETTING = re.compile(r"\s*(\w+)\s*=\s*(-?\d{1,9}|[A-Za-z][\w-]*)\s*")


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


def _settings(name: str, printed: str) -> dict[str, int | str]:
    types: dict[str, type[int] | type[str]] = {
        field.name: int if isinstance(field.default, int) else str
        for field in fields(CHUNKERS[name])
    }
    settings: dict[str, int | str] = {}
    for part in filter(str.strip, printed.split(",")):
        match = _SETTING.fullmatch(part)
        if match is None or match[1] not in types or match[1] in settings:
            _refuse_setting(name, part.strip(), sorted(types))
        field, value = match[1], match[2]
        try:
            settings[field] = types[field](value)
        except ValueError:
            _refuse_setting(name, part.strip(), sorted(types))
    return settings


def _refuse_name(spec: str) -> NoReturn:
    known = ", ".join(sorted(CHUNKERS))
    raise InputError(
        f"{spec!r} names no chunker",
        kind="unknown-chunker",
        subject=spec,
        expected=f"one of {known}, with settings in brackets",
        found=spec,
        remedy="write for instance anchored(max_tokens=160, min_tokens=48)",
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
