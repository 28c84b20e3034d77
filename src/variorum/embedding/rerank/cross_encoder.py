"""A cross-encoder in a folder: an ONNX graph that reads a query and a passage together."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from variorum.embedding.local.folder import ModelFolder, required
from variorum.embedding.local.onnx import open_session
from variorum.embedding.local.tokenizer import load_tokenizer
from variorum.records.errors import UnavailableError, UnsupportedError


class CrossEncoder:
    """One pair a run, so that no pair's score depends on others. Truncates nothing."""

    def __init__(self, path: Path, file: str = "model.onnx", max_tokens: int | None = None) -> None:
        self.name = path.name
        self._folder = ModelFolder(path)
        self._file = file
        self._stated = max_tokens

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers the query, in order: higher is better.

        Raises:
            UnavailableError: a pair is longer than the model takes.
            UnsupportedError: the graph gives no score.
        """
        return [self._score(query, passage) for passage in passages]

    def _score(self, query: str, passage: str) -> float:
        encoding = self._tokenizer.encode(query, passage)
        if len(encoding.ids) > self._max_tokens:
            raise UnavailableError(
                "the reranker takes no pair of query and passage so long",
                kind="input-rejected",
                subject=self.name,
                expected=f"at most {self._max_tokens} tokens",
                found=f"{len(encoding.ids)} tokens",
                remedy="use a reranker with a higher limit, or smaller chunks",
            )
        given = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        wanted = {
            one.name: np.array([given[one.name]], np.int64) for one in self._session.get_inputs()
        }
        return self._read(np.asarray(self._session.run(None, wanted)[0], np.float64))

    def _read(self, logits: Any) -> float:
        """The score of one pair: the only logit, or how much more is said for than against."""
        if logits.shape == (1, 1):
            return float(logits[0, 0])
        if logits.shape == (1, 2):
            return float(logits[0, 1] - logits[0, 0])
        raise UnsupportedError(
            "the reranker's graph gives no score",
            kind="runtime-refuses-model",
            subject=str(self._folder.path),
            expected="one logit a pair, or two",
            found=f"an output of shape {logits.shape}",
            remedy="export the cross-encoder with its classification head",
        )

    @cached_property
    def _max_tokens(self) -> int:
        stated = self._stated or self._folder.max_tokens
        return int(required(stated, "max_tokens", self._folder.path))

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(self._folder.require("tokenizer.json"))

    @cached_property
    def _session(self) -> Any:
        return open_session(self._folder.require(self._file))
