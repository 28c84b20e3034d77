"""multilingual-e5-small as an `Embedder`: English, Chinese and about ninety other languages."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from variorum.embedding.e5.cache import (
    CACHE_VARIABLE,
    CONVERSION,
    MODEL_FILE,
    converted_model,
    read_vocabulary,
    verified_file,
)
from variorum.embedding.e5.package import HIDDEN, POSITIONS, WEIGHTS_SHA256
from variorum.embedding.e5.tokenizer import TOKENIZER_FINGERPRINT, E5Tokenizer
from variorum.records.errors import InputRejectedError, UnsupportedError
from variorum.records.protocols import ModelIdentity, Role, Vectors

PREFIXES: dict[Role, str] = {"passage": "passage: ", "query": "query: "}
"""What the model was trained to see before a text of each role."""

_BEGIN_ID = 0
_END_ID = 2
_SPECIAL_TOKENS = 2

_IDENTITY = {
    "weights": WEIGHTS_SHA256,
    "conversion": CONVERSION,
    "tokenizer": TOKENIZER_FINGERPRINT,
    "pooling": "mean over all tokens",
    "prefixes": PREFIXES,
    "precision": "4-bit words, 7-bit linear weights, 8-bit activations a run of one input",
    "normalisation": "unit length",
    "runtime": "onnxruntime",
}


class E5Embedder:
    """Each input is a run of its own, several at once in threads that share one session.

    The same input gives the same bytes whatever it is embedded with, in this process or the next;
    another kind of CPU may round differently. The identity names the runtime, not its version.
    The vocabulary is loaded on the first count, the network on the first vector; both are converted
    from the installed package before, once. All embedders of a process have them in common: 0.4 GB
    while anyone uses them. Safe to share between threads.
    """

    def __init__(self, cache: Path | None = None, threads: int | None = None) -> None:
        """`cache` overrides the folder of converted models; `threads` is one a core by default."""
        self._cache = cache
        self._threads = threads or _usable_cores()
        self._lock = Lock()
        self._tokenizer: E5Tokenizer = _in_common(
            ("tokenizer", cache or os.environ.get(CACHE_VARIABLE)),
            lambda: E5Tokenizer(lambda: read_vocabulary(converted_model(cache))),
        )
        self._session: Any = None
        self._pool: ThreadPoolExecutor | None = None

    @property
    def tokenizer(self) -> E5Tokenizer:
        """The model's tokenizer. Its first count raises what `embed` would."""
        return self._tokenizer

    @property
    def max_tokens(self) -> int:
        """512: prefix and both special tokens included."""
        return POSITIONS

    @property
    def splits_at_blanks(self) -> bool:
        """True: a role's prefix ends with a blank."""
        return True

    @property
    def identity(self) -> ModelIdentity:
        """The same on every machine; loads nothing."""
        canonical = json.dumps(_IDENTITY, sort_keys=True)
        fingerprint = hashlib.sha256(canonical.encode()).hexdigest()
        return ModelIdentity("e5-small", fingerprint, HIDDEN, is_proven=True)

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """Tokens of each input as sent: the role's prefix and both special tokens included.

        Raises:
            UnsupportedError: the weights' package is not installed.
            DamagedError: the weights or the converted files are not the pinned ones.
            UnavailableError: the cache folder cannot be written.
        """
        sent = [PREFIXES[role] + text for text in inputs]
        return [tokens + _SPECIAL_TOKENS for tokens in self.tokenizer.count_many(sent)]

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        """Vectors of `inputs`: float32[len(inputs), 384], in order. Nothing is run on a refusal.

        Raises:
            InputRejectedError: an input has over 512 tokens as sent, or nothing but blanks.
            UnsupportedError: the weights' package is not installed, or the runtime is too old.
            DamagedError: the weights or the converted files are not the pinned ones.
            UnavailableError: the cache folder cannot be written.
        """
        ids = self._checked_ids(inputs, role)
        session, pool = self._loaded()

        def run(place: int) -> NDArray[np.float32]:
            row: NDArray[np.float32] = session.run(None, {"ids": ids[place]})[0][0]
            return row

        # Longest first, so that the threads end at about the same time.
        order = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
        vectors = np.empty((len(ids), HIDDEN), dtype=np.float32)
        for place, row in zip(order, pool.map(run, order), strict=True):
            vectors[place] = row
        return vectors

    def _checked_ids(self, inputs: Sequence[str], role: Role) -> list[NDArray[np.int64]]:
        tokenizer = self.tokenizer
        for index, text in enumerate(inputs):
            if tokenizer.is_blank(text):
                raise _rejected(index, "some text", "nothing but blanks")
        encoded = tokenizer.encode_many([PREFIXES[role] + text for text in inputs])
        for index, ids in enumerate(encoded):
            if len(ids) + _SPECIAL_TOKENS > POSITIONS:
                found = f"{len(ids) + _SPECIAL_TOKENS} tokens"
                raise _rejected(index, f"at most {POSITIONS} tokens", found)
        return [np.array([_BEGIN_ID, *ids, _END_ID], dtype=np.int64) for ids in encoded]

    def _loaded(self) -> tuple[Any, ThreadPoolExecutor]:
        with self._lock:
            if self._pool is None:
                folder = converted_model(self._cache)
                self._session = _in_common(("session", folder), lambda: _open_session(folder))
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="variorum-e5")
            return self._session, self._pool


_parts: WeakValueDictionary[tuple[str, Path | str | None], Any] = WeakValueDictionary()
_parts_lock = Lock()


def _in_common(key: tuple[str, Path | str | None], make: Callable[[], Any]) -> Any:
    """The part of that key while anyone holds it, else a new one."""
    with _parts_lock:
        part = _parts.get(key)
        if part is None:
            _parts[key] = part = make()
        return part


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _open_session(folder: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread a run: the cores are kept busy by several runs, and sums have one order.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    path = str(verified_file(folder, MODEL_FILE))
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no common class but this one
        raise UnsupportedError(
            "the installed ONNX Runtime cannot run the default model",
            kind="runtime-refuses-model",
            subject=path,
            expected="onnxruntime 1.22 or later",
            found=f"onnxruntime {onnxruntime.__version__}: {error}",
            remedy="install a later onnxruntime",
        ) from error


def _rejected(index: int, expected: str, found: str) -> InputRejectedError:
    return InputRejectedError(
        f"the model refuses input {index}: {found} instead of {expected}",
        index=index,
        expected=expected,
        found=found,
    )
