"""The file of an approximate index: written at once or not at all, and known by what it says.

It is what faiss writes, then the input ids of its rows (int64, ascending), then a header in JSON,
then the header's length and a sha256 of all that stands before it. So faiss maps it as it is, and a
file that is not whole is not opened: faiss trusts what it reads.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from variorum.records.errors import UnavailableError
from variorum.store.durable import sync_names

FORMAT = 1
_PREFIX = "vectors-"
_SUFFIX = ".ann"
_MAGIC = b"variorum ann 1\n\x00"
_LENGTH_BYTES = 8
_HASH_BYTES = 32
_TAIL_BYTES = _LENGTH_BYTES + _HASH_BYTES + len(_MAGIC)


def library() -> Any:
    """faiss, imported when it is needed: it takes a while."""
    return import_module("faiss")


def is_installed() -> bool:
    """Whether the library is there."""
    return find_spec("faiss") is not None


@dataclass(frozen=True, slots=True)
class AnnHeader:
    """Of what an index was made: a collection's generation, its model, and the store as it was.

    `created_at` tells the generation from one of the same number in another store; `removal` is the
    number of the last removal of rows, after which ids may have been given to others.
    """

    collection_id: int
    generation: int
    created_at: str
    model: str
    dimensions: int
    removal: int
    rows: int
    newest_input: int
    format: int = FORMAT


@dataclass(frozen=True)
class AnnContent:
    """An index as faiss opened it, the input id of each of its rows, and its header."""

    index: Any
    input_ids: NDArray[np.int64]
    header: AnnHeader


def ann_path(folder: Path, collection_id: int) -> Path:
    """Where a collection's index lies, in its store's folder."""
    return folder / f"{_PREFIX}{collection_id}{_SUFFIX}"


def ann_files(folder: Path) -> list[Path]:
    """Every index of a store, in the order of their names."""
    return sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}"))


def remove_ann_files(folder: Path) -> None:
    """Delete every index of a store, and what was left of writing one. They are derived.

    Whoever is writing one now finds that it has no file to name.
    """
    for file in folder.glob(f"*{_PREFIX}*{_SUFFIX}*"):
        file.unlink(missing_ok=True)


@contextmanager
def written_ann(path: Path, index: Any, ids: NDArray[np.int64], head: AnnHeader) -> Iterator[Path]:
    """The finished file beside `path`, until the block gives it its name by `name_ann`.

    Raises:
        UnavailableError: the disk is full or failed.
    """
    for left in path.parent.glob(f".{path.name}.*"):  # Of a run that was killed.
        left.unlink(missing_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        _write(beside, index, ids, head)
        yield beside
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _write(path: Path, index: Any, ids: NDArray[np.int64], head: AnnHeader) -> None:
    faiss = library()
    header = json.dumps(asdict(head)).encode()
    try:
        faiss.write_index(index, str(path))
        with path.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(ids.astype("<i8").tobytes() + header)
            file.write(len(header).to_bytes(_LENGTH_BYTES, "little"))
            file.flush()
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").digest()
            file.seek(0, os.SEEK_END)
            file.write(digest + _MAGIC)
            file.flush()
            os.fsync(file.fileno())
    except (OSError, RuntimeError) as error:  # The library raises the second.
        raise UnavailableError(
            "an approximate index cannot be written",
            kind="file-not-writable",
            subject=str(path),
            expected="a folder with space that this user may write",
            found=str(error),
            remedy="check the folder's permissions and its free space",
        ) from error


def name_ann(beside: Path, path: Path) -> None:
    """Put a finished file in the place of what stood there."""
    beside.replace(path)
    sync_names(path.parent)


def read_header(path: Path) -> AnnHeader | None:
    """What a file says of itself; None where there is none or it is not one of ours."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - _TAIL_BYTES))
            tail = file.read()
            length = int.from_bytes(tail[:_LENGTH_BYTES], "little")
            if not tail.endswith(_MAGIC) or length > end - _TAIL_BYTES:
                return None
            file.seek(end - _TAIL_BYTES - length)
            header = AnnHeader(**json.loads(file.read(length)))
            return header if header.format == FORMAT else None
    except (OSError, ValueError, TypeError):
        return None


def open_ann(path: Path) -> AnnContent | None:
    """Map a file; None where it is not whole, or nothing here can read it. Reads it once."""
    header = read_header(path)
    if header is None or not _is_whole(path):
        return None
    try:
        faiss = library()
        flags = faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY
        index = faiss.read_index(str(path), flags)
        # Threads that read ahead take longer to begin than a question takes.
        faiss.downcast_InvertedLists(index.invlists).prefetch_nthread = 0
        ids = read_input_ids(path, header)
    except (AttributeError, ImportError, OSError, RuntimeError, ValueError):
        return None
    return AnnContent(index, ids, header) if ids.size == index.ntotal else None


def read_input_ids(path: Path, header: AnnHeader) -> NDArray[np.int64]:
    """The input id of each of a file's rows, ascending; fewer where the file is cut off."""
    length = len(json.dumps(asdict(header)).encode())
    start = path.stat().st_size - _TAIL_BYTES - length - 8 * header.rows
    return np.fromfile(path, "<i8", header.rows, offset=max(0, start))


def _is_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            digest = hashlib.sha256()
            left = file.seek(0, os.SEEK_END) - _HASH_BYTES - len(_MAGIC)
            file.seek(0)
            while left > 0 and (piece := file.read(min(left, 1 << 20))):
                digest.update(piece)
                left -= len(piece)
            return file.read(_HASH_BYTES) == digest.digest()
    except OSError:
        return False
