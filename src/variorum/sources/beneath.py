"""Opening files below a root without ever following a symlink.

Every component is opened relative to the directory before it with O_NOFOLLOW, so that a symlink
swapped in after a listing, at any depth, is refused and not followed. Only the root itself may be a
symlink: it is the user's own choice.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from variorum.records.errors import UnavailableError
from variorum.sources.naming import printed_path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe that was swapped in must not wait for a writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
VANISHED = "vanished"
"""Why what a listing saw is not there to be read."""

_NO_NAMES = frozenset({b"", b".", b".."})
_ATTEMPTS = 3


def unavailable(path: bytes, kind: str, found: str, remedy: str) -> UnavailableError:
    """The error of one document or directory that cannot be read now."""
    printed = printed_path(path)
    return UnavailableError(
        f"cannot read {printed!r}: {found}",
        kind=kind,
        subject=printed,
        expected="a regular file below the source's root",
        found=found,
        remedy=remedy,
    )


def _refusal(path: bytes, error: OSError) -> UnavailableError:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return unavailable(path, "symlink", "a symlink on the way", "replace it by a real file")
    if error.errno == errno.ENOENT:
        return unavailable(path, VANISHED, "nothing at that path any more", "run again")
    if error.errno == errno.ENXIO:  # A socket cannot be opened.
        return unavailable(path, "special-file", "not a regular file", "replace it by a real file")
    return unavailable(
        path, "unreadable-file", error.strerror or str(error), "restore the file or its permissions"
    )


def is_beneath(path: bytes) -> bool:
    """Whether `path` is relative and free of empty, `.` and `..` components and of NUL."""
    return b"\0" not in path and _NO_NAMES.isdisjoint(path.split(b"/"))


def open_beneath(root: bytes, path: bytes) -> tuple[int, os.stat_result]:
    """A descriptor of the regular file at `path` below `root`, and what it is as it is opened.

    The caller closes it.

    Raises:
        UnavailableError: `outside-root`, `symlink`, `special-file`, `vanished` or
            `unreadable-file`.
    """
    return Beneath(root).open(path)


class Beneath:
    """The files below a root. Safe for several threads."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._lock = Lock()
        self._keepers = 0
        self._directory = b""
        self._at: int | None = None

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Meanwhile the last file's directory stays open, so that its next file is one step."""
        with self._lock:
            self._keepers += 1
        try:
            yield
        finally:
            with self._lock:
                self._keepers -= 1
                if not self._keepers:
                    self._let_go()

    def open(self, path: bytes) -> tuple[int, os.stat_result]:
        """As `open_beneath`.

        Raises:
            UnavailableError: as `open_beneath`.
        """
        if not is_beneath(path):
            remedy = "name a file inside"
            raise unavailable(path, "outside-root", "a path that leaves the root", remedy)
        directory, _, name = path.rpartition(b"/")
        try:
            descriptor = self._open_in(directory, name)
        except OSError as error:
            raise _refusal(path, error) from None
        opened = os.fstat(descriptor)
        if not stat.S_ISREG(opened.st_mode):
            os.close(descriptor)
            raise unavailable(
                path, "special-file", "not a regular file", "replace it by a real file"
            )
        return descriptor, opened

    def read(self, path: bytes, max_bytes: int) -> bytes:
        """The bytes of the regular file at `path`, never a mix of two versions of it.

        Raises:
            UnavailableError: it cannot be opened (as `open_beneath`), is larger than `max_bytes`
                (`too-large`), or kept changing while read (`changing-file`).
        """
        descriptor, state = self.open(path)
        try:
            for _ in range(_ATTEMPTS):
                content, state = _read_once(descriptor, state, path, max_bytes)
                if content is not None:
                    return content
        except OSError as error:
            raise _refusal(path, error) from None
        finally:
            os.close(descriptor)
        raise unavailable(path, "changing-file", "it changes while it is read", "try again later")

    def _open_in(self, directory: bytes, name: bytes) -> int:
        """A descriptor of a file; after an error the directory is looked for anew."""
        is_kept = False
        with self._lock:
            try:
                if self._at is None or directory != self._directory:
                    self._let_go()
                    self._at, self._directory = _open_directory(self._root, directory), directory
                descriptor = os.open(name, _FILE, dir_fd=self._at)
                is_kept = self._keepers > 0
            finally:
                if not is_kept:
                    self._let_go()
        return descriptor

    def _let_go(self) -> None:
        if self._at is not None:
            os.close(self._at)
            self._at = None


def _open_directory(root: bytes, path: bytes) -> int:
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in filter(None, path.split(b"/")):
        try:
            deeper = os.open(name, _DIRECTORY, dir_fd=at)
        finally:
            os.close(at)
        at = deeper
    return at


def _read_once(
    descriptor: int, before: os.stat_result, path: bytes, max_bytes: int
) -> tuple[bytes | None, os.stat_result]:
    """The file's bytes, or None where it changed since it was as `before`; and what it is now."""
    if before.st_size > max_bytes:
        raise unavailable(
            path, "too-large", f"{before.st_size} bytes", f"keep it within {max_bytes} bytes"
        )
    content = b""
    while piece := os.pread(descriptor, before.st_size - len(content) + 1, len(content)):
        content += piece
        if len(content) >= before.st_size:
            break
    after = os.fstat(descriptor)
    unchanged = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return content if unchanged and len(content) == before.st_size else None, after


def read_beneath(root: bytes, path: bytes, max_bytes: int) -> bytes:
    """The bytes of the regular file at `path` below `root`, never a mix of two versions of it.

    Raises:
        UnavailableError: as `Beneath.read`.
    """
    return Beneath(root).read(path, max_bytes)
