"""What a change event says: which paths, and what it believes of them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mention:
    """One statement about a path, as exact bytes relative to where the events were made.

    `is_there` is whether the file is there after the change, or None where that is not said.
    `old` and `new` are heads of the hashes that git gives the content before and after, "" where
    not said, and zeros alone where there is none. `hunks` are (first line, old lines, new lines)
    of a diff, lines from 1 and without their ends.
    """

    path: bytes
    is_there: bool | None = None
    old: str = ""
    new: str = ""
    hunks: tuple[tuple[int, tuple[str, ...], tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Every statement of an event. `fault` says why it could not be read; then all is compared."""

    mentions: tuple[Mention, ...] = ()
    fault: str = ""

    def by_path(self) -> Mapping[bytes, list[Mention]]:
        """The statements about each path."""
        found: dict[bytes, list[Mention]] = {}
        for mention in self.mentions:
            found.setdefault(mention.path, []).append(mention)
        return found


@dataclass(frozen=True, slots=True)
class Compared:
    """How much of a source a run looked at: `scope` is "changes" or "all", and `reason` why all.

    `paths` counts what it looked at, where that is not all.
    """

    source: str
    scope: str
    reason: str = ""
    detail: str = ""
    paths: int | None = None

    def as_fields(self) -> dict[str, object]:
        """How it was compared, as JSON fields."""
        return {
            "source": self.source,
            "scope": self.scope,
            "reason": self.reason,
            "detail": self.detail,
            "paths": self.paths,
        }
