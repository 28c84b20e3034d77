"""Embedders that remember what they were asked, and one that counts as the model does."""

from collections.abc import Sequence
from functools import cache

from variorum.embedding import embedder_from_spec
from variorum.embedding.hashing import HashingEmbedder
from variorum.embedding.probe import PROBES
from variorum.records.protocols import Embedder, ModelIdentity, Role, Tokenizer, Vectors


class RecordingEmbedder:
    """Another embedder, and every passage of a document that it embedded, in order."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.embedded: list[str] = []

    @property
    def tokenizer(self) -> Tokenizer:
        return self._inner.tokenizer

    @property
    def max_tokens(self) -> int:
        return self._inner.max_tokens

    @property
    def identity(self) -> ModelIdentity:
        return self._inner.identity

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return self._inner.count(inputs, role)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        vectors = self._inner.embed(inputs, role)
        if role == "passage":
            self.embedded.extend(text for text in inputs if text not in PROBES)
        return vectors


class CountingLike:
    """Tokenizer, limit and counts of a real model; vectors of the hashing one, which are instant.

    Layouts and fractions come out as with the model; answers to queries do not.
    """

    def __init__(self, spec: str) -> None:
        self._model = embedder_from_spec(spec)
        self._fast = HashingEmbedder(max_tokens=65_536)

    @property
    def tokenizer(self) -> Tokenizer:
        return self._model.tokenizer

    @property
    def max_tokens(self) -> int:
        return self._model.max_tokens

    @property
    def identity(self) -> ModelIdentity:
        name = f"counting-like({self._model.identity.name})"
        fingerprint = f"{name} {self._model.identity.fingerprint}"
        return ModelIdentity(name, fingerprint, self._fast.identity.dimensions)

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return self._model.count(inputs, role)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        return self._fast.embed(inputs, role)


@cache
def embedder_for(model: str) -> Embedder:
    """The embedder of a study's `--model`: hashing, or one that counts as the named model does."""
    return HashingEmbedder() if model == "hashing" else CountingLike(model)
