"""Ignore files with git's syntax and semantics.

Every directory at or under the root may hold `.gitignore` and `.variorumignore`. The last matching
pattern of the deepest file decides, as in git. `.variorumignore` is asked first, at every level, so
it can take in again (`!generated.md`) what `.gitignore` leaves out. Nothing below an ignored
directory can be taken in again. Ignore files above the root and git's global excludes are not read;
like git, an ignore file that is a symlink is not followed.

`pathspec` translates each pattern into a regex. Which pattern decides is settled here, since a walk
from the top asks about each path itself, never about what its parents match.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pathspec.patterns.gitignore.base import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

IGNORE_NAMES = (b".variorumignore", b".gitignore")
"""In the order asked."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    regex: re.Pattern[str]
    ignores: bool
    directories_only: bool


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The patterns of one ignore file, last first; `directory` is b"" or ends in "/"."""

    path: str
    directory: bytes
    patterns: tuple[_Pattern, ...]

    def decides(self, path: bytes, is_directory: bool) -> bool | None:
        """Whether the file ignores `path`; None where no pattern matches."""
        below = os.fsdecode(path[len(self.directory) :])
        for pattern in self.patterns:
            if pattern.directories_only and not is_directory:
                continue
            match = pattern.regex.search(below)
            # The one group marks a match of a parent directory, which was asked on its own.
            if match and match.lastgroup is None:
                return pattern.ignores
        return None


@dataclass(frozen=True, slots=True)
class Ignores:
    """The ignore files in force in one directory, by name in the order asked, deepest first."""

    chains: tuple[tuple[IgnoreFile, ...], ...] = ((), ())

    def __bool__(self) -> bool:
        return any(self.chains)

    def with_file(self, name: bytes, file: IgnoreFile) -> "Ignores":
        """The same with one more file, deeper than all before."""
        place = IGNORE_NAMES.index(name)
        chain = (file, *self.chains[place])
        return Ignores((*self.chains[:place], chain, *self.chains[place + 1 :]))

    def ignoring(self, path: bytes, is_directory: bool) -> str:
        """The path of the ignore file that leaves `path` out, or ""."""
        for chain in self.chains:
            for file in chain:
                decision = file.decides(path, is_directory)
                if decision is not None:
                    return file.path if decision else ""
        return ""


def _compiled(line: str) -> Iterator[_Pattern]:
    """The pattern of a line; none for a blank, a comment, or what git cannot read either."""
    line = line.removesuffix("\r")
    line = line if line.endswith("\\ ") else line.rstrip(" ")
    directories_only = line.endswith("/")
    try:
        parsed = GitIgnoreSpecPattern(line.removesuffix("/"))
    except GitIgnorePatternError:
        return
    if parsed.include is not None and parsed.regex is not None:
        yield _Pattern(parsed.regex, parsed.include, directories_only)


def parse_ignore_file(content: bytes, path: bytes, directory: bytes) -> IgnoreFile:
    """Compile the patterns of an ignore file that lies in `directory`."""
    lines = os.fsdecode(content.removeprefix(b"\xef\xbb\xbf")).split("\n")
    patterns = tuple(pattern for line in reversed(lines) for pattern in _compiled(line))
    return IgnoreFile(os.fsdecode(path), directory, patterns)
