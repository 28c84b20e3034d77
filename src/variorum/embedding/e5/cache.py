"""The converted model on disk: made once, verified at every load, never half there.

A folder `e5-small-<weights>-<conversion>` holds `model.onnx`, `vocabulary.json` and `manifest.json`
with the SHA-256 of both. It is written under another name in the same folder and renamed when
complete: a conversion that is killed leaves nothing under the final name, and of two that run at
once the second finds the first one's folder and drops its own. It can be deleted at any time.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from variorum.embedding.e5.graph import build_graph
from variorum.embedding.e5.package import WEIGHTS_SHA256, Vocabulary, read_weights
from variorum.records.errors import DamagedError, UnavailableError

CACHE_VARIABLE = "VARIORUM_CACHE_DIR"
CONVERSION = 1
"""Raised with every change of the converted files' content."""

MODEL_FILE = "model.onnx"
VOCABULARY_FILE = "vocabulary.json"
_MANIFEST_FILE = "manifest.json"
_UNFINISHED = ".e5-small-unfinished-"
_ABANDONED_AFTER_S = 24 * 3600


def cache_root() -> Path:
    """The folder for converted models: `VARIORUM_CACHE_DIR`, or the user's cache folder."""
    from platformdirs import user_cache_dir

    return Path(os.environ.get(CACHE_VARIABLE) or user_cache_dir("variorum"))


def converted_model(root: Path | None = None) -> Path:
    """The folder of the converted model under `root`, converting first where it is missing.

    A conversion takes some seconds and about half a gigabyte of memory, once.

    Raises:
        UnsupportedError: it must be converted and the weights' package is not installed.
        DamagedError: the package's weights are not the pinned ones.
        UnavailableError: the folder cannot be written.
    """
    root = root or cache_root()
    folder = root / f"e5-small-{WEIGHTS_SHA256[:12]}-{CONVERSION}"
    if not folder.is_dir():
        weights = read_weights()
        files = {
            MODEL_FILE: build_graph(weights),
            VOCABULARY_FILE: _printed(weights.vocabulary),
        }
        with _disk_errors(root):
            _remove_abandoned(root)
            _write_once(folder, files)
    return folder


def verified_file(folder: Path, name: str) -> Path:
    """The path of a converted file whose content is what the conversion wrote.

    Raises:
        DamagedError: the file or the manifest is missing or was changed.
    """
    path = folder / name
    try:
        manifest = json.loads((folder / _MANIFEST_FILE).read_bytes())
        expected = str(manifest["files"][name])
        with path.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _changed(path, "a readable file and manifest", repr(error)) from error
    if found != expected:
        raise _changed(path, expected, found)
    return path


def read_vocabulary(folder: Path) -> Vocabulary:
    """The tokenizer's pieces, scores and character table.

    Raises:
        DamagedError: the file is missing or was changed.
    """
    stored = json.loads(verified_file(folder, VOCABULARY_FILE).read_bytes())
    replacements = {int(key): value for key, value in stored["replacements"].items()}
    return Vocabulary(stored["pieces"], stored["scores"], replacements)


def _printed(vocabulary: Vocabulary) -> bytes:
    return json.dumps(asdict(vocabulary), ensure_ascii=False).encode()


def _write_once(folder: Path, files: Mapping[str, bytes]) -> None:
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    manifest = {"conversion": CONVERSION, "weights_sha256": WEIGHTS_SHA256, "files": hashes}
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        for name, content in files.items():
            _write_durably(unfinished / name, content)
        _write_durably(unfinished / _MANIFEST_FILE, json.dumps(manifest, indent=1).encode())
        unfinished.chmod(0o755)
        _rename_unless_there(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _rename_unless_there(unfinished: Path, folder: Path) -> None:
    try:
        unfinished.rename(folder)
    except OSError:
        # Another process was first; its folder is as complete as this one.
        if not folder.is_dir():
            raise


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("xb") as target:
        target.write(content)
        target.flush()
        os.fsync(target.fileno())


def _remove_abandoned(root: Path) -> None:
    """Drop what killed conversions left, but not what another process may be writing."""
    for leftover in root.glob(f"{_UNFINISHED}*"):
        if time.time() - leftover.stat().st_mtime > _ABANDONED_AFTER_S:
            shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def _disk_errors(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnavailableError(
            "the converted model cannot be written",
            kind="cache-not-writable",
            subject=str(root),
            expected="a writable folder with 100 MB free",
            found=error.strerror or repr(error),
            remedy=f"set {CACHE_VARIABLE} to such a folder",
        ) from error


def _changed(path: Path, expected: str, found: str) -> DamagedError:
    return DamagedError(
        "a converted model file is not what the conversion wrote",
        kind="model-hash-mismatch",
        subject=str(path),
        expected=expected,
        found=found,
        remedy=f"delete the folder {path.parent}; the next run converts the model again",
    )
