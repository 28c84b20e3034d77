"""Vectors kept on disk by the key of their input, so that no input is embedded twice.

A folder of segments, each written by one process alone: records of a 32-byte key and a float32
vector, appended as they are embedded. A record that a kill cut short is passed over. The folder can
be deleted at any time.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from variorum.embedding import Embedded, embed_in_order
from variorum.records.errors import UnavailableError
from variorum.records.layout import input_key
from variorum.records.protocols import Embedder, Progress, Role, Vectors

_SCOPE = "lab"
_KEY_BYTES = 32
_SUFFIX = ".vectors"


class VectorCache:
    """An embedder behind a folder of vectors. For one thread; several processes may share a folder.

    `embedded` counts the inputs that were embedded, `found` those that were not.
    """

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.embedder = embedder
        self.folder = folder / embedder.identity.fingerprint[:16]
        self.embedded = 0
        self.found = 0
        dimensions = embedder.identity.dimensions
        self._record = np.dtype([("key", "u1", (_KEY_BYTES,)), ("vector", "<f4", (dimensions,))])
        self._segments: list[NDArray[np.void]] = []
        self._places: dict[bytes, tuple[int, int]] = {}
        self._rows: dict[str, int] = {}
        self._writing: BinaryIO | None = None

    def close(self) -> None:
        """End the segment that this process writes."""
        if self._writing is not None:
            self._writing.close()
            self._writing = None

    def vectors(
        self,
        inputs: Sequence[str],
        role: Role = "passage",
        progress: Progress = lambda stage, done, total: None,
    ) -> Vectors:
        """float32[n, dimensions] of `inputs`, in order: from the folder, or embedded and kept.

        Raises:
            UnavailableError: the model or the folder cannot be used, or the model refuses an input.
        """
        self.refresh()
        keys = [self._key(text, role) for text in inputs]
        wanted = dict(zip(keys, inputs, strict=True))
        missing = {key: text for key, text in wanted.items() if key not in self._places}
        self.found += len(wanted) - len(missing)
        if missing:
            self._embed(missing, role, progress)
            self.refresh()
        found = np.empty((len(keys), self.embedder.identity.dimensions), dtype=np.float32)
        for row, key in enumerate(keys):
            segment, place = self._places[key]
            found[row] = self._segments[segment][place]["vector"]
        return found

    def refresh(self) -> None:
        """Read what this process and others have kept since the last look."""
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")) if self.folder.is_dir() else ():
            whole = path.stat().st_size // self._record.itemsize
            known = self._rows.get(path.name, 0)
            if whole > known:
                self._load(path, known, whole)
                self._rows[path.name] = whole

    def _load(self, path: Path, known: int, whole: int) -> None:
        offset = known * self._record.itemsize
        rows = np.memmap(path, self._record, "r", offset=offset, shape=(whole - known,))
        segment = len(self._segments)
        self._segments.append(rows)
        for place, key in enumerate(np.asarray(rows["key"])):
            self._places.setdefault(key.tobytes(), (segment, place))

    def _key(self, text: str, role: Role) -> bytes:
        return input_key(_SCOPE, self.embedder.identity.fingerprint, role, text)

    def _embed(self, missing: dict[bytes, str], role: Role, progress: Progress) -> None:
        """Embed and keep: what was answered is on disk as soon as the next batch is."""
        stage = "embedding questions" if role == "query" else "embedding units"
        done = 0
        # Longest first, so that the cores end a batch at about the same time.
        ordered = sorted(missing.items(), key=lambda one: -len(one[1]))
        for outcome in embed_in_order(self.embedder, ordered, role=role):
            if not isinstance(outcome, Embedded):
                _refuse(missing[outcome.key], outcome.reason)
            self._append(outcome.key, outcome.vector)
            done += 1
            progress(stage, done, len(missing))
        self.embedded += done
        if self._writing is not None:
            self._writing.flush()

    def _append(self, key: bytes, vector: NDArray[np.float32]) -> None:
        if self._writing is None:
            self._writing = _disk(self._begin)
        self._writing.write(key + vector.astype("<f4").tobytes())

    def _begin(self) -> BinaryIO:
        """A new segment, under the first name that no process has taken."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = len(list(self.folder.glob(f"*{_SUFFIX}")))
        while True:
            path = self.folder / f"{number:06d}{_SUFFIX}"
            try:
                opened = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb")
            except FileExistsError:
                number += 1
                continue
            return opened


def _disk(action: Callable[[], BinaryIO]) -> BinaryIO:
    try:
        return action()
    except OSError as error:
        raise UnavailableError(
            "vectors cannot be kept",
            kind="cache-not-writable",
            subject=error.filename or "",
            expected="a folder that can be written",
            found=error.strerror or str(error),
            remedy="set VARIORUM_CACHE_DIR to a folder that can be written",
        ) from error


def _refuse(text: str, reason: str) -> NoReturn:
    raise UnavailableError(
        "the model refuses an input",
        kind="input-rejected",
        subject=text[:60],
        expected="an input that the model takes",
        found=reason,
        remedy="choose a smaller chunk size",
    )
