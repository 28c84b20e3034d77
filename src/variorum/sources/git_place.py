"""A place in a repository as it is written: `git:REPOSITORY[@REVISION][:PATH]`."""

import os
from collections.abc import Callable
from dataclasses import dataclass

PREFIX = "git:"


@dataclass(frozen=True, slots=True)
class GitPlace:
    """A repository's folder, a revision of it, and a path inside, from the repository's root."""

    repository: str
    revision: str = "HEAD"
    path: str = ""

    @property
    def recorded(self) -> str:
        """How a store remembers it: the revision moves on and is no part of it."""
        return f"{PREFIX}{self.repository}" + (f":{self.path}" if self.path else "")


def git_place(written: str, is_folder: Callable[[str], bool] = os.path.isdir) -> GitPlace:
    """Read a place. A repository's own name may hold `@` and `:`, where there is such a folder.

    >>> git_place("git:handbook@v2:docs", lambda name: name == "handbook")
    GitPlace(repository='handbook', revision='v2', path='docs')
    """
    rest = written.removeprefix(PREFIX)
    if is_folder(os.path.expanduser(rest)):
        return GitPlace(os.path.expanduser(rest))
    colons = [place for place, character in enumerate(rest) if character == ":"]
    for end in [len(rest), *reversed(colons)]:
        found = _revised(rest[:end], rest[end + 1 :], is_folder)
        if found is not None:
            return found
    before, _, path = rest.partition(":")
    repository, _, revision = before.partition("@")
    return GitPlace(os.path.expanduser(repository), revision or "HEAD", path.strip("/"))


def _revised(before: str, path: str, is_folder: Callable[[str], bool]) -> GitPlace | None:
    """The place where what stands before the path is a folder, with or without a revision."""
    repository, at, revision = before.rpartition("@")
    if is_folder(os.path.expanduser(before)):
        return GitPlace(os.path.expanduser(before), "HEAD", path.strip("/"))
    if at and revision and ":" not in revision and is_folder(os.path.expanduser(repository)):
        return GitPlace(os.path.expanduser(repository), revision, path.strip("/"))
    return None
