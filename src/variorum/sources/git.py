"""Documents of one commit of a git repository: what was committed, whatever the work tree holds.

A listing takes the files that `include` matches and `exclude` does not, by the same globs as a
folder's, and never:

- a symbolic link, which is no document of its own text and could lead out of the commit;
- a submodule, whose commit is another repository's;
- a pointer of Git LFS, whose content is elsewhere.

Each is reported as `Skipped`, as is a file that is too large. Ignore files play no part: what is
committed is not ignored. An object that the repository does not hold breaks the listing off.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import Final

from variorum.records.errors import UnavailableError
from variorum.records.protocols import Listed, Skipped
from variorum.sources.folder import CONTROL_NAMES, DEFAULT_INCLUDE
from variorum.sources.git_objects import (
    POINTER_BYTES,
    SUBMODULE,
    SYMLINK,
    Entry,
    Repository,
    is_lfs_pointer,
)
from variorum.sources.globs import Globs
from variorum.sources.naming import checked_source_name, content_type_of, printed_path

GIT_SKIP_REASONS: Final = (
    "symlink",
    "submodule",
    "excluded",
    "hidden",
    "not-included",
    "too-large",
    "lfs-pointer",
)
"""In the order asked: the first that holds is the one reported."""

_AHEAD_BYTES = 4_000_000


class Selection:
    """Which paths of a tree are documents."""

    def __init__(
        self,
        include: Sequence[str] = DEFAULT_INCLUDE,
        exclude: Sequence[str] = (),
        max_bytes: int = 10_000_000,
    ) -> None:
        self._include = Globs(include)
        self._exclude = Globs(exclude, dots=True) if exclude else None
        self.max_bytes = max_bytes

    def refusal(self, path: bytes, mode: str, size_bytes: int) -> Skipped | None:
        """Why a file is no document, or None where it is one, as far as its name and size tell."""
        name = path.rpartition(b"/")[2]
        hidden = any(part.startswith(b".") for part in path.split(b"/"))
        if mode == SYMLINK:
            return Skipped(path, "symlink")
        if mode == SUBMODULE:
            return Skipped(path, "submodule", "not followed")
        if self._exclude and self._exclude.match(path, name, False):
            return Skipped(path, "excluded")
        if not self._include.match(path, name, hidden):
            return Skipped(path, "hidden" if name.startswith(b".") else "not-included")
        if size_bytes > self.max_bytes:
            return Skipped(path, "too-large", f"{size_bytes} bytes, over {self.max_bytes}")
        return None


class GitSource:
    """The files of one commit, below `path` where it is given.

    `revision` is whatever git takes for a commit; it is looked up anew by each listing.

    Raises:
        InputError: a bad name (`bad-source-name`) or a bad pattern (`bad-glob`).
    """

    def __init__(
        self,
        name: str,
        repository: str | os.PathLike[str],
        revision: str = "HEAD",
        path: bytes = b"",
        include: Sequence[str] = DEFAULT_INCLUDE,
        exclude: Sequence[str] = (),
        *,
        max_bytes: int = 10_000_000,
    ) -> None:
        self._name = checked_source_name(name)
        self._repository = Repository(repository)
        self._revision = revision
        self._below = path.strip(b"/") + b"/" if path.strip(b"/") else b""
        self._selection = Selection(include, exclude, max_bytes)
        self._listed: dict[bytes, Entry] = {}
        self._ahead: dict[str, bytes | None] = {}
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The configured name, unique in a collection."""
        return self._name

    @property
    def root(self) -> str:
        """The repository's absolute path, and the folder in it where one is named."""
        below = os.fsdecode(self._below.rstrip(b"/"))
        return f"{self._repository.path}:{below}" if below else self._repository.path

    def list(self) -> Iterator[Listed | Skipped]:
        """Every document of the commit, sorted by path bytes, with what was skipped in between.

        Raises:
            NotFoundError: no such repository (`no-such-repository`) or revision
                (`no-such-revision`).
            UnavailableError: git refuses the repository (`git-refused`), or an object is missing
                (`incomplete-listing`).
            UnsupportedError: git is not installed (`no-git`).
        """
        commit = self._repository.commit(self._revision)
        entries = list(self._repository.tree(commit, self._below.rstrip(b"/")))
        pointers = self._pointers(entries)
        self._listed = {}
        for entry in entries:
            path = entry.path.removeprefix(self._below)
            if path.rpartition(b"/")[2] in CONTROL_NAMES:
                continue
            if refusal := self._selection.refusal(path, entry.mode, entry.size_bytes):
                yield refusal
            elif entry.size_bytes < 0:
                raise _missing(path, "incomplete-listing")
            elif entry.oid in pointers:
                yield Skipped(path, "lfs-pointer", "the content is elsewhere")
            else:
                self._listed[path] = entry
                yield Listed(path, content_type_of(path), entry.size_bytes)

    def read(self, listed: Listed) -> bytes:
        """The committed bytes, of the commit that was listed last.

        Raises:
            UnavailableError: it was not listed, or its object is missing (`missing-object`).
        """
        with self._lock:
            entry = self._listed.get(listed.path)
            if entry is not None and entry.oid not in self._ahead:
                self._read_ahead(listed.path)
            content = self._ahead.get(entry.oid) if entry else None
        if content is None:
            raise _missing(listed.path, "missing-object")
        return content

    def _read_ahead(self, path: bytes) -> None:
        """Read this document and those listed after it in one process, up to a few megabytes."""
        wanted: list[str] = []
        size = 0
        for name in islice(self._listed, list(self._listed).index(path), None):
            if wanted and size + self._listed[name].size_bytes > _AHEAD_BYTES:
                break
            wanted.append(self._listed[name].oid)
            size += self._listed[name].size_bytes
        self._ahead = dict(zip(wanted, self._repository.blobs(wanted), strict=True))

    def _pointers(self, entries: Sequence[Entry]) -> set[str]:
        """The small objects that are pointers to large files."""
        small = [
            entry.oid
            for entry in entries
            if 0 <= entry.size_bytes < POINTER_BYTES and entry.mode not in (SYMLINK, SUBMODULE)
        ]
        contents = self._repository.blobs(small)
        return {
            oid
            for oid, content in zip(small, contents, strict=True)
            if content is not None and is_lfs_pointer(content)
        }


def _missing(path: bytes, kind: str) -> UnavailableError:
    printed = printed_path(path)
    return UnavailableError(
        f"the repository does not hold the content of {printed!r}",
        kind=kind,
        subject=printed,
        expected="a complete clone",
        found="a missing object",
        remedy="fetch it: a shallow, partial or damaged clone proves nothing about what is gone",
    )
