"""An `Embedder` behind an address."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from variorum.embedding.batches import BatchLimits
from variorum.embedding.failures import BatchRefusedError
from variorum.embedding.local.embedder import rejected
from variorum.embedding.remote.client import EmbeddingsClient
from variorum.embedding.remote.pace import Pace
from variorum.embedding.remote.protocol import read_vectors, request_body
from variorum.embedding.remote.secrets import key_from_environment
from variorum.embedding.remote.tokenizers import named_tokenizer
from variorum.records.errors import InputRejectedError
from variorum.records.protocols import ModelIdentity, Role, Tokenizer, Vectors


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """What a model behind an address is: which it is, how it is asked, what it takes.

    `declared` replaces name and address in the identity, so that the same model may move.
    `added_tokens` are those that the provider puts around an input, prefix included; by default
    the special tokens of its tokenizer. `sends_dimensions`: the request asks for `dimensions`.
    """

    url: str
    model: str
    dimensions: int
    max_tokens: int
    tokenizer: str
    query_model: str = ""
    passage_prefix: str = ""
    query_prefix: str = ""
    declared: str = ""
    key_env: str = ""
    added_tokens: int | None = None
    sends_dimensions: bool = False
    timeout_s: float = 60.0


class RemoteEmbedder:
    """Sends what it counted, and believes no answer that it has not checked.

    Requests are paced and repeated by `pace`. Nothing is sent or read before it is needed. Safe to
    share between threads.
    """

    def __init__(
        self, model: RemoteModel, pace: Pace, limits: BatchLimits, base: Path = Path()
    ) -> None:
        self.model = model
        self.batch_limits = limits
        self._pace = pace
        self._base = base

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the spec names."""
        return self._counting[0]

    @property
    def max_tokens(self) -> int:
        """The model's limit, prefix and the provider's own tokens included."""
        return self.model.max_tokens

    @cached_property
    def identity(self) -> ModelIdentity:
        """What is claimed of the model: the provider's word, or the user's in `declared`."""
        model = self.model
        parts = {
            "model": model.declared or [model.url, model.model, model.query_model],
            "dimensions": model.dimensions,
            "tokenizer": model.tokenizer,
            "prefixes": [model.passage_prefix, model.query_prefix],
            "normalisation": "unit length",
        }
        fingerprint = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return ModelIdentity(model.declared or model.model, fingerprint, model.dimensions)

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """Tokens of each input as the model sees it: prefix and the provider's own included."""
        tokenizer, special = self._counting
        added = special if self.model.added_tokens is None else self.model.added_tokens
        return [tokens + added for tokens in tokenizer.count_many(self._sent(inputs, role))]

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        """Vectors of `inputs`: float32[len(inputs), dimensions], in order; NaN where unusable.

        A single input's unusable vector is asked for again, and is an error in the end. Nothing is
        sent where an input is over the limit.

        Raises:
            InputRejectedError: an input is over the limit, or the only one is refused.
            UnavailableError: the provider cannot answer, after every attempt.
        """
        if not inputs:
            return np.empty((0, self.model.dimensions), dtype=np.float32)
        tokens = self.count(inputs, role)
        self._require_sound(inputs, tokens)
        body = self._body(inputs, role)
        try:
            return self._pace.call(sum(tokens), lambda: self._vectors(body, len(inputs)))
        except BatchRefusedError as error:
            if len(inputs) > 1:
                raise
            raise _refused(error) from error

    def _vectors(self, body: dict[str, object], count: int) -> Vectors:
        answer = self._client.post(body)
        return read_vectors(answer, count, self.model.dimensions, self.model.url)

    def _body(self, inputs: Sequence[str], role: Role) -> dict[str, object]:
        model = self.model
        name = model.query_model if role == "query" and model.query_model else model.model
        dimensions = model.dimensions if model.sends_dimensions else None
        return request_body(name, self._sent(inputs, role), dimensions)

    def _sent(self, inputs: Sequence[str], role: Role) -> list[str]:
        prefix = self.model.query_prefix if role == "query" else self.model.passage_prefix
        # JSON carries no lone surrogate, so it is counted and sent as the replacement character.
        texts = (text.encode("utf-16", "surrogatepass") for text in inputs)
        return [prefix + text.decode("utf-16", "replace") for text in texts]

    def _require_sound(self, inputs: Sequence[str], tokens: Sequence[int]) -> None:
        for index, (text, count) in enumerate(zip(inputs, tokens, strict=True)):
            if not text.strip():
                raise rejected(index, "some text", "nothing but blanks")
            if count > self.max_tokens:
                raise rejected(index, f"at most {self.max_tokens} tokens", f"{count} tokens")

    @cached_property
    def _counting(self) -> tuple[Tokenizer, int]:
        return named_tokenizer(self.model.tokenizer, self._base, self.model.max_tokens)

    @cached_property
    def _client(self) -> EmbeddingsClient:
        key = key_from_environment(self.model.key_env)
        return EmbeddingsClient(f"{self.model.url}/embeddings", key, self.model.timeout_s)


def _refused(error: BatchRefusedError) -> InputRejectedError:
    return InputRejectedError(
        f"{error.message}: {error.found}", index=0, expected=error.expected, found=error.found
    )
