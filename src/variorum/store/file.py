"""The store's file as the operating system sees it: there, readable, writable, whole, the same."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from variorum.records.errors import (
    BusyError,
    DamagedError,
    UnavailableError,
    UnsupportedError,
    VariorumError,
)

FILE_NAME = "store.sqlite"
_NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs"})
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\x00"
BACKUP = "restore it from a backup, or remove the store's folder and sync again"


@dataclass(frozen=True, slots=True)
class Identity:
    """Which file a path leads to."""

    device: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        """The identity that the operating system states."""
        return cls(found.st_dev, found.st_ino)


@dataclass(frozen=True, slots=True)
class Stillness:
    """What changes when anybody writes to the file at a path."""

    identity: Identity
    size_bytes: int
    modified_ns: int
    log_bytes: int


def is_present(path: Path) -> bool:
    """Whether there is a store's file at `path`.

    Raises:
        UnavailableError: its folder may not be entered.
    """
    return present(path) is not None


def present(path: Path) -> Identity | None:
    """The store's file at `path`; None where there is none.

    Raises:
        UnavailableError: its folder may not be entered.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise not_readable(path, error.strerror or str(error)) from error
    return Identity.of(found) if stat.S_ISREG(found.st_mode) else None


def is_writable(path: Path) -> bool:
    """Whether this user may write the file, and the log that stands beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def log_bytes(path: Path) -> int:
    """Bytes of the write-ahead log beside the file; 0 where there is none."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except OSError:
        return 0


def require_whole(path: Path) -> None:
    """Refuse a file that is no database, or shorter than its own header says. Reads the header.

    Raises:
        UnavailableError: this user may not read it.
        DamagedError: it is empty, something else, or cut off.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise not_readable(path, error.strerror or str(error)) from error
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise damaged(path, f"{size:,} bytes that are no database" if size else "0 bytes")
    # A log may hold pages that the file has yet to get.
    if log_bytes(path) == 0 and size < _said_bytes(header):
        raise damaged(path, f"{size:,} of {_said_bytes(header):,} bytes")


def _said_bytes(header: bytes) -> int:
    if header[24:28] != header[92:96]:
        return 0
    page = int.from_bytes(header[16:18], "big")
    return int.from_bytes(header[28:32], "big") * (65_536 if page == 1 else page)


def identity_of(path: Path) -> Identity | None:
    """Which file `path` leads to now; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Identity.of(found)


def stillness_of(path: Path) -> Stillness | None:
    """What to compare to know whether anybody wrote to the file meanwhile."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Stillness(Identity.of(found), found.st_size, found.st_mtime_ns, log_bytes(path))


def damaged(path: Path, found: str) -> DamagedError:
    """The error about a file that is not what was written."""
    return DamagedError(
        "the store's file is damaged",
        kind="store-damaged",
        subject=str(path),
        expected="an intact SQLite database",
        found=found,
        remedy=BACKUP,
    )


def not_readable(path: Path, found: str) -> UnavailableError:
    """The error about a file that this user may not read; it may well be whole."""
    return UnavailableError(
        "the store cannot be read",
        kind="store-not-readable",
        subject=str(path),
        expected="a folder that this user may enter, and a file that this user may read",
        found=found,
        remedy="check the permissions of the folder and the file, or name another with --store",
    )


def not_writable(path: Path, found: str) -> UnavailableError:
    """The error about a store that this user may not write."""
    return UnavailableError(
        "the store cannot be written",
        kind="store-not-writable",
        subject=str(path),
        expected="a folder and a file that this user may write",
        found=found,
        remedy="check the folder's permissions, or name another with --store",
    )


def gone(path: Path) -> UnavailableError:
    """The error about a store that was taken away while it was in use."""
    return UnavailableError(
        "the store was removed or replaced while it was in use; nothing was published",
        kind="store-gone",
        subject=str(path),
        expected="the file that was opened",
        found="another file" if path.exists() else "no file",
        remedy="put the folder back where it was, or run the command again to start afresh",
    )


def log_left(path: Path) -> UnavailableError:
    """The error about a file whose last changes stand in a log that cannot be read in place."""
    return UnavailableError(
        "the store's last changes still stand in its log, which only a writer can take up",
        kind="store-log-left",
        subject=str(path) + "-wal",
        expected="a store that was copied while nothing ran, or a folder that may be written",
        found="a log that was not taken up",
        remedy="copy the folder, with the log, to where it may be written, and read it there",
    )


def changed_meanwhile(path: Path) -> BusyError:
    """The error about a file that somebody else wrote while it was read as still."""
    return BusyError(
        "the store was written while it was read without a lock",
        kind="store-changed",
        subject=str(path),
        expected="a store at rest: this user may not write the folder, so nothing can be locked",
        found="a change by somebody else",
        remedy="run the command again",
    )


def replaced(path: Path) -> BusyError:
    """The error about a file that took the place of the one that was being read."""
    return BusyError(
        "the store was replaced while it was read",
        kind="store-changed",
        subject=str(path),
        expected="the store that the command began with",
        found="another one in its place",
        remedy="run the command again: it will read the new store",
    )


def refuse_network_file_system(path: Path) -> None:
    """Refuse a path whose file system cannot be trusted with locks.

    Raises:
        UnsupportedError: a network file system holds `path`.
    """
    kind = _file_system(path)
    if kind in _NETWORK_FILE_SYSTEMS:
        raise UnsupportedError(
            "the store lies on a network file system, whose locks cannot be trusted",
            kind="network-file-system",
            subject=str(path),
            expected="a local disk",
            found=kind,
            remedy="put the store on a local disk with --store",
        )


def _file_system(path: Path) -> str:
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return ""
    resolved = str(path.absolute())
    best, kind = "", ""
    for line in mounts.read_text(errors="replace").splitlines():
        fields = line.split(" ")
        where = fields[1].replace("\\040", " ")
        inside = resolved == where or resolved.startswith(where.rstrip("/") + "/")
        if inside and len(where) >= len(best):
            best, kind = where, fields[2]
    return kind


def cannot_open(path: Path, found: str) -> VariorumError:
    """What it means that the engine could not open the file."""
    if not path.exists():
        return gone(path)
    if not os.access(path, os.R_OK):
        return not_readable(path, found)
    if not is_writable(path) and log_bytes(path):
        return log_left(path)
    return not_writable(path, found)
