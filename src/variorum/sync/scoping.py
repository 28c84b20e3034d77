"""How much of a source a run has to look at: what a list of changes names, or all of it.

A list is believed only where everything that it says fits what is stored and what is there. On any
doubt the source is compared in full, and the report says why.
"""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from variorum.records.changes import Changes, Compared, Mention
from variorum.records.errors import UnavailableError
from variorum.records.protocols import Listed, Skipped, Source
from variorum.sources.folder import FolderSource
from variorum.sources.ignore import IGNORE_NAMES
from variorum.sources.naming import printed_path
from variorum.store.manifests import ManifestRow

_ALL = "all"
_CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class Scope:
    """What to look at of a source: `only` these paths, or all where it is None."""

    compared: Compared
    only: frozenset[bytes] | None = None


class DoubtError(Exception):
    """Why a list of changes is not enough."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Known:
    """What the store knows of a source: its rows, by path, and what its last listing held.

    `rules` are those of its last listing, `is_current` tells whether a row is laid out as it would
    be today, `content` reads a row's revision. `everything` is a reason to look at all, if any.
    `roots` are those of every source of the run: a path below another's is that one's.
    """

    rows: Mapping[bytes, ManifestRow]
    held: frozenset[bytes]
    rules: str | None
    is_current: Callable[[ManifestRow], bool]
    content: Callable[[ManifestRow], bytes]
    everything: str = ""
    roots: tuple[str, ...] = ()


def scope_of(source: Source, changes: Changes, base: bytes, known: Known) -> Scope:
    """What to look at, given a list of changes whose paths are relative to `base`."""
    try:
        only = _only(source, changes, base, known)
        return Scope(Compared(source.name, _CHANGES, paths=len(only)), only)
    except DoubtError as doubt:
        return Scope(Compared(source.name, _ALL, doubt.reason, doubt.detail))


def _only(source: Source, changes: Changes, base: bytes, known: Known) -> frozenset[bytes]:
    if not isinstance(source, FolderSource):
        raise DoubtError("not-a-folder")
    if known.everything:
        raise DoubtError(known.everything)
    if changes.fault:
        raise DoubtError("unreadable-changes", changes.fault)
    if known.rules is None:
        raise DoubtError("never-listed")
    if known.rules != source.rules:
        raise DoubtError("other-rules")
    if not all(known.is_current(row) for row in known.rows.values()):
        raise DoubtError("other-recipe")
    _require_some(changes, base, known.roots or (source.root,))
    mentioned = _within(changes, base, os.fsencode(source.root))
    _require_files(mentioned, source, known)
    only = frozenset(mentioned) | known.held
    _require_consistent(mentioned, _look(source, only), source, known)
    return only


def _within(changes: Changes, base: bytes, root: bytes) -> dict[bytes, list[Mention]]:
    """The statements about paths below the root, by path relative to it."""
    found: dict[bytes, list[Mention]] = {}
    for path, mentions in changes.by_path().items():
        absolute = os.path.abspath(os.path.join(base, path))
        if _is_below(root, absolute):
            raise DoubtError("a-folder", printed_path(path))
        if _is_below(absolute, root):
            relative = os.path.relpath(absolute, root)
            found.setdefault(relative, []).extend(mentions)
    return found


def _is_below(path: bytes, root: bytes) -> bool:
    return (path + b"/").startswith(root.rstrip(b"/") + b"/")


def _require_some(changes: Changes, base: bytes, roots: Sequence[str]) -> None:
    """Refuse a list none of whose paths is in any source: it is meant for another place."""
    paths = [os.path.abspath(os.path.join(base, one.path)) for one in changes.mentions]
    folders = [os.fsencode(root) for root in roots]
    if paths and not any(_is_below(path, root) for path in paths for root in folders):
        raise DoubtError("elsewhere", f"no path below {', '.join(roots)}")


def _require_files(
    mentioned: Mapping[bytes, Sequence[Mention]], source: FolderSource, known: Known
) -> None:
    folders = {path[: place + 1] for path in known.rows for place in _slashes(path)}
    for path in mentioned:
        if path.rpartition(b"/")[2] in IGNORE_NAMES:
            raise DoubtError("ignore-file", printed_path(path))
        if path + b"/" in folders or os.path.isdir(os.path.join(os.fsencode(source.root), path)):
            raise DoubtError("a-folder", printed_path(path))


def _slashes(path: bytes) -> list[int]:
    return [place for place, byte in enumerate(path) if byte == ord("/")]


def _look(source: FolderSource, only: frozenset[bytes]) -> dict[bytes, Listed]:
    entries = source.look(only)
    return {entry.path: entry for entry in entries if not isinstance(entry, Skipped)}


def _require_consistent(
    mentioned: Mapping[bytes, Sequence[Mention]],
    listed: Mapping[bytes, Listed],
    source: FolderSource,
    known: Known,
) -> None:
    """Refuse a list that says of a path what neither the store nor the folder agrees with."""
    for path, mentions in mentioned.items():
        said = {one.is_there for one in mentions}
        is_there = os.path.lexists(os.path.join(os.fsencode(source.root), path))
        if said == {True} and not is_there:
            raise DoubtError("not-there", printed_path(path))
        if said == {False} and is_there:
            raise DoubtError("still-there", printed_path(path))
        row = known.rows.get(path)
        if not any(_fits(one, path, row, listed.get(path), source, known) for one in mentions):
            raise DoubtError("other-revision", printed_path(path))


def _fits(
    mention: Mention,
    path: bytes,
    row: ManifestRow | None,
    listed: Listed | None,
    source: FolderSource,
    known: Known,
) -> bool:
    """Whether the stored revision is the stated old one, or the change is there already."""
    if path in known.held or not (mention.old or mention.hunks):
        return True
    if row is None:
        return _is_none(mention.old) or listed is None
    stored = known.content(row)
    if _is_stated(mention, stored):
        return True
    return listed is not None and _read(source, listed) == stored


def _is_none(stated: str) -> bool:
    return stated.strip("0") == ""


def _is_stated(mention: Mention, stored: bytes) -> bool:
    if mention.old:
        hashes = _git_hashes(stored)
        heads = [one for one in (mention.old, mention.new) if not _is_none(one)]
        return any(found.startswith(head) for head in heads for found in hashes)
    lines = stored.decode("utf-8", "surrogateescape").split("\n")
    return any(_holds(lines, mention, which) for which in (1, 2))


def _git_hashes(content: bytes) -> list[str]:
    """The names that git gives a content, in repositories of either kind."""
    blob = b"blob %d\0" % len(content) + content
    sha1 = hashlib.sha1(blob, usedforsecurity=False).hexdigest()
    return [sha1, hashlib.sha256(blob).hexdigest()]


def _holds(lines: list[str], mention: Mention, which: int) -> bool:
    """Whether the old lines of every hunk (1), or the new ones (2), stand in a text in order."""
    place = 0
    for hunk in mention.hunks:
        wanted = list(hunk[which])  # type: ignore[arg-type]
        start = max(hunk[0] - 1, 0) if which == 1 else place
        found = _find(lines, wanted, start, exactly=which == 1)
        if found is None:
            return False
        place = found + len(wanted)
    return True


def _find(lines: list[str], wanted: list[str], start: int, *, exactly: bool) -> int | None:
    last = start if exactly else len(lines) - len(wanted)
    for place in range(start, last + 1):
        if lines[place : place + len(wanted)] == wanted:
            return place
    return None


def _read(source: FolderSource, listed: Listed) -> bytes | None:
    try:
        return source.read(listed)
    except UnavailableError:
        return None
