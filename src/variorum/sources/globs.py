"""Glob patterns over paths relative to a root, compiled once.

A pattern is matched against the whole path, component by component: `*`, `?` and `[...]` stay
inside a component, `**` stands for any number of whole components. As in a shell, no wildcard
matches a leading dot unless `dots` is set: `**/*.md` leaves `.notes/a.md` alone, `.notes/*.md`
names it.
"""

import os
import re
from collections.abc import Iterable

from variorum.records.errors import InputError

_WILDCARD = re.compile(r"[*?\[\]]")
_SUFFIX_PATTERN = re.compile(r"\*\*/\*([^*?\[\]/]+)")


def _bad_glob(pattern: str, found: str) -> InputError:
    return InputError(
        f"{pattern!r} is not a usable glob pattern",
        kind="bad-glob",
        subject=pattern,
        expected="a relative pattern such as **/*.md or docs/**",
        found=found,
        remedy="write the pattern relative to the source's root, without '..'",
    )


def _components(pattern: str) -> list[str]:
    if not pattern:
        raise _bad_glob(pattern, "an empty pattern")
    components = pattern.split("/")
    if "" in components:
        raise _bad_glob(pattern, "an empty path component")
    if "." in components or ".." in components:
        raise _bad_glob(pattern, "a '.' or '..' component")
    # Neighbouring ** mean no more than one, and would make matching slow.
    repeated = ("**", "**")
    return [
        c
        for c, after in zip(components, [*components[1:], ""], strict=True)
        if (c, after) != repeated
    ]


def _bracket(component: str, start: int) -> tuple[str, int]:
    """The character class that opens at `start`, as a regex, and the position behind it."""
    first = start + 1
    negated = component[first : first + 1] in ("!", "^")
    end = component.find("]", first + negated + 1)
    if end < 0:
        raise _bad_glob(component, "a '[' that no ']' closes")
    body = component[first + negated : end]
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", body)
    return f"(?!/)[{'^' if negated else ''}{escaped}]", end + 1


def _component_regex(component: str, dots: bool) -> str:
    wild_start = bool(component) and component[0] in "*?["
    parts = ["(?!\\.)"] if wild_start and not dots else []
    position = 0
    while position < len(component):
        character = component[position]
        position += 1
        if character == "*":
            parts.append("[^/]*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "[":
            part, position = _bracket(component, position - 1)
            parts.append(part)
        else:
            parts.append(re.escape(character))
    return "".join(parts)


def _regex(components: list[str], dots: bool) -> str:
    any_component = "[^/]+" if dots else "(?!\\.)[^/]+"
    parts: list[str] = []
    for index, component in enumerate(components):
        last = index == len(components) - 1
        if component == "**":
            parts.append(
                f"{any_component}(?:/{any_component})*" if last else f"(?:{any_component}/)*"
            )
        else:
            parts.append(_component_regex(component, dots) + ("" if last else "/"))
    return "".join(parts)


def _compile(alternatives: Iterable[str], pattern: str) -> re.Pattern[str]:
    joined = "|".join(f"(?:{alternative})" for alternative in alternatives)
    try:
        return re.compile(joined or "(?!)", re.DOTALL)
    except re.error as error:
        raise _bad_glob(pattern, str(error)) from None


class Globs:
    """A set of glob patterns; a path matches when any of them does.

    Raises:
        InputError: a pattern is empty, absolute, has a `.` or `..` component, or a `[` that no `]`
            closes (`[[]` stands for the character).
    """

    def __init__(self, patterns: Iterable[str], *, dots: bool = False) -> None:
        self.patterns = tuple(patterns)
        split = [_components(pattern) for pattern in self.patterns]
        for components, pattern in zip(split, self.patterns, strict=True):
            _compile([_regex(components, dots)], pattern)
        everything = ", ".join(self.patterns)
        self._whole = _compile((_regex(c, dots) for c in split), everything)
        prefixes = [c[:length] for c in split for length in range(1, len(c) + (c[-1] == "**"))]
        self._above = _compile(dict.fromkeys(_regex(p, dots) for p in prefixes), everything)
        self._inside = _compile((_regex(c[:-1], dots) for c in split if c[-1] == "**"), everything)
        suffixes = [_SUFFIX_PATTERN.fullmatch(pattern) for pattern in self.patterns]
        self._suffixes = tuple(match[1].encode() for match in suffixes if match)

    def match(self, path: bytes, name: bytes, hidden: bool) -> bool:
        """Whether a pattern matches `path`, whose last component is `name`.

        `hidden` says that a component of the path starts with a dot.
        """
        if not hidden and name.endswith(self._suffixes):
            return True
        return self._whole.fullmatch(os.fsdecode(path)) is not None

    def may_hold(self, directory: bytes) -> bool:
        """Whether a path below `directory` could match."""
        return self._above.fullmatch(os.fsdecode(directory)) is not None

    def covers(self, directory: bytes) -> bool:
        """Whether a pattern names the directory, or all that is in it (`drafts/**`)."""
        decoded = os.fsdecode(directory)
        return bool(self._whole.fullmatch(decoded) or self._inside.fullmatch(decoded))
