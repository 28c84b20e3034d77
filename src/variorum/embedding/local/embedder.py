"""What every model in a folder has in common: counting, refusing, one input a run, threads."""

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from variorum.embedding.local.folder import ModelFolder, required
from variorum.embedding.local.tokenizer import FileTokenizer
from variorum.records.errors import InputRejectedError, UnsupportedError
from variorum.records.protocols import ModelIdentity, Role, Vectors


class FolderEmbedder(ABC):
    """Each input is a run of its own, so that no vector depends on its companions.

    Settings that are not given come from the folder. Nothing is loaded before it is needed; the
    identity reads every file of weights once. Safe to share between threads.
    """

    kind: str

    def __init__(
        self,
        path: Path,
        *,
        max_tokens: int | None = None,
        passage_prefix: str | None = None,
        query_prefix: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.folder = ModelFolder(path)
        self._stated_max_tokens = max_tokens
        self._stated_prefixes = {"passage": passage_prefix, "query": query_prefix}
        self._threads = threads or _usable_cores()
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None

    @cached_property
    def tokenizer(self) -> FileTokenizer:
        """The tokenizer of the folder.

        Raises:
            NotFoundError: it has none.
        """
        return FileTokenizer(self.folder.require("tokenizer.json"), self.max_tokens)

    @cached_property
    def max_tokens(self) -> int:
        """The model's limit, prefix and special tokens included.

        Raises:
            InputError: neither the spec nor the folder states it.
        """
        self.folder.require("tokenizer.json")
        stated = self._stated_max_tokens or self.folder.max_tokens
        return int(required(stated, "max_tokens", self.folder.path))

    @cached_property
    def prefixes(self) -> Mapping[Role, str]:
        """What stands before an input of each role."""
        given = self._stated_prefixes
        passage, query = given["passage"], given["query"]
        return {
            "passage": self.folder.prefix("passage", "document") if passage is None else passage,
            "query": self.folder.prefix("query") if query is None else query,
        }

    @cached_property
    def identity(self) -> ModelIdentity:
        """Over the weights, the tokenizer, the prefixes and how a vector is made of them."""
        parts = {
            "kind": self.kind,
            "weights": self.weights_sha256(),
            "tokenizer": self.tokenizer.sha256,
            "prefixes": self.prefixes,
            "normalisation": "unit length",
            **self.rules(),
        }
        fingerprint = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        name = f"{self.kind}:{self.folder.path.name}"
        return ModelIdentity(name, fingerprint, self.dimensions(), is_proven=True)

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """Tokens of each input as sent: the role's prefix and the special tokens included."""
        special = self.tokenizer.special_tokens
        sent = [self.prefixes[role] + text for text in inputs]
        return [tokens + special for tokens in self.tokenizer.count_many(sent)]

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        """Vectors of `inputs`: float32[len(inputs), dimensions]. Nothing is run on a refusal.

        Raises:
            InputRejectedError: an input is over the limit, or nothing but blanks.
            NotFoundError: a file of the model is not there.
            UnsupportedError: the model's library is not installed, or cannot run it.
        """
        sent = [self.prefixes[role] + text for text in inputs]
        ids = self.tokenizer.encode_many(sent)
        self._require_sound(inputs, ids)
        vectors = np.empty((len(ids), self.identity.dimensions), dtype=np.float32)
        if not ids:
            return vectors
        # Longest first, so that the threads end at about the same time.
        order = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
        rows = self._threaded().map(lambda place: self.run(sent[place], ids[place]), order)
        for place, row in zip(order, rows, strict=True):
            vectors[place] = _unit(self._of_right_width(row))
        return vectors

    def _of_right_width(self, row: NDArray[np.float32]) -> NDArray[np.float32]:
        if row.shape != (self.identity.dimensions,):
            raise UnsupportedError(
                "the model gives vectors of another width than its folder states",
                kind="runtime-refuses-model",
                subject=str(self.folder.path),
                expected=f"{self.identity.dimensions} numbers",
                found=f"shape {row.shape}",
                remedy="mend hidden_size in config.json, or use pooling=none",
            )
        return row

    @abstractmethod
    def load(self) -> None:
        """Make `run` ready. Called once."""

    @abstractmethod
    def run(self, text: str, ids: Sequence[int]) -> NDArray[np.float32]:
        """The vector of one input, of any length. Called from several threads."""

    @abstractmethod
    def weights_sha256(self) -> str:
        """A hash over everything that the weights are stored in."""

    @abstractmethod
    def dimensions(self) -> int:
        """The width of a vector."""

    @abstractmethod
    def rules(self) -> Mapping[str, str]:
        """How a vector is made of the weights, in words."""

    def _require_sound(self, inputs: Sequence[str], ids: Sequence[Sequence[int]]) -> None:
        for index, (text, tokens) in enumerate(zip(inputs, ids, strict=True)):
            if not self.tokenizer.count(text):
                raise rejected(index, "some text", "nothing but blanks")
            if len(tokens) > self.max_tokens:
                raise rejected(index, f"at most {self.max_tokens} tokens", f"{len(tokens)} tokens")

    def _threaded(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self.load()
                self._pool = ThreadPoolExecutor(self._threads, f"variorum-{self.kind}")
            return self._pool


def rejected(index: int, expected: str, found: str) -> InputRejectedError:
    """The error about an input that a model does not take."""
    return InputRejectedError(
        f"the model refuses input {index}: {found} instead of {expected}",
        index=index,
        expected=expected,
        found=found,
    )


def _unit(row: NDArray[np.float32]) -> NDArray[np.float32]:
    """The row at unit length; as it is where it has none, which whoever asked refuses."""
    length = float(np.linalg.norm(row.astype(np.float64)))
    return row / np.float32(length) if length > 0 else row


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
