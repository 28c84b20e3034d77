"""Chunker specs: `anchored(max_tokens=220, min_tokens=44)` read into a chunker."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
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
from variorum.records.protocols import Sizer

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
_SETTING = re.compile(r"\s*(\w+)\s*=\s*(\S.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How the settings of one type are written, in words and as a pattern, and read."""

    expected: str
    pattern: re.Pattern[str]
    read: Callable[[str], int | float | str]


_WHOLE = _Kind("a whole number of at most 9 digits", re.compile(r"-?[0-9]{1,9}"), int)
_NUMBER = _Kind(
    "a number of at most 9 digits before and after its point",
    re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?"),
    float,
)
_WORD = _Kind("a word", re.compile(r"[A-Za-z][\w-]*|[0-9]{1,9}"), str)
_KINDS: dict[Any, _Kind] = {int: _WHOLE, float: _NUMBER, float | None: _NUMBER, str: _WORD}
"""By the type of the setting's field."""


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


def over_the_limit(chunker: Chunker, sizer: Sizer) -> str | None:
    """What happens to a chunker's size that the model cannot take, in words; None where it can."""
    wanted = getattr(chunker, "max_tokens", 0)
    if wanted <= sizer.max_tokens:
        return None
    return (
        f"{chunker.spec} asks for more than the {sizer.max_tokens:,} tokens that the model takes: "
        "its chunks are cut to what fits"
    )


def _settings(name: str, printed: str) -> dict[str, int | float | str]:
    types = get_type_hints(CHUNKERS[name])
    known = sorted(field.name for field in fields(CHUNKERS[name]) if field.repr)
    settings: dict[str, int | float | str] = {}
    for part in filter(str.strip, printed.split(",")):
        match = _SETTING.fullmatch(part)
        if match is None:
            listed = f"name=value, of {', '.join(known)}"
            _refuse_setting(name, part.strip(), "is not written name=value", listed, part.strip())
        setting, value = match[1], (match[2] or "").strip()
        if setting not in known:
            _refuse_unknown(name, setting, known)
        if setting in settings:
            _refuse_setting(name, setting, "is given twice", f"{setting} once", part.strip())
        kind = _KINDS[types[setting]]
        if not kind.pattern.fullmatch(value):
            expected = f"{setting} as {kind.expected}"
            _refuse_setting(name, setting, f"must be {kind.expected}", expected, part.strip())
        settings[setting] = kind.read(value)
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


def _refuse_unknown(name: str, setting: str, known: list[str]) -> NoReturn:
    settings = ", ".join(known)
    raise InputError(
        f"{name} has no setting {setting!r}; its settings are {settings}",
        kind="bad-parameter",
        subject=f"{name}.{setting}",
        expected=f"one of {settings}",
        found=setting,
        remedy=f"use the settings of {name}: {settings}",
    )


def _refuse_setting(name: str, setting: str, what: str, expected: str, found: str) -> NoReturn:
    raise InputError(
        f"{name}: {setting} {what}",
        kind="bad-parameter",
        subject=f"{name}.{setting}",
        expected=expected,
        found=found,
        remedy=f"give {expected}",
    )
