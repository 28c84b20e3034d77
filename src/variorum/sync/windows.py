"""Vectors for a chunker that compares meanings: through the store, and counted on their own."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from variorum.embedding.jobs import Embedded, embed_in_order
from variorum.records.errors import ConflictError, InputError
from variorum.records.layout import input_key
from variorum.records.protocols import Vectors
from variorum.records.reports import WindowCounts
from variorum.store.publish import register_recipe
from variorum.store.store import Store
from variorum.store.vectors import NewVector, find_vectors, record_vectors
from variorum.sync.target import Target


@dataclass(slots=True)
class Windows:
    """Embeds windows of sentences. Those of earlier runs come from the store.

    Where `keep` is true new ones are stored as they come; in a plan that is not carried out they
    are spent for that plan alone. Safe for many threads.
    """

    store: Store
    target: Target
    keep: bool
    counts: WindowCounts = field(default_factory=WindowCounts)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """float32[n, dimensions]: a vector for each window.

        Raises:
            ConflictError: embedding the windows would exceed the run's `max_tokens`.
            InputError: the model refuses a window.
        """
        model = self.target.settings.embedder
        keys = [self._key(text) for text in texts]
        known = self._known(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        tokens = dict(zip(missing, model.count(list(missing.values())), strict=True))
        self._spend(len(known), tokens)
        fresh = [
            NewVector(key, tokens[key], self._embedded(outcome))
            for key, outcome in zip(missing, embed_in_order(model, missing.items()), strict=True)
        ]
        self._keep(fresh)
        known.update((one.key, one.values) for one in fresh)
        return np.stack([known[key] for key in keys])

    def _known(self, keys: list[bytes]) -> dict[bytes, NDArray[np.float32]]:
        if not self.store.exists:
            return {}
        dimensions = self.target.settings.embedder.identity.dimensions
        with self.store.connection() as connection, connection.begin():
            return find_vectors(connection, keys, dimensions)

    def _key(self, text: str) -> bytes:
        fingerprint = self.target.settings.embedder.identity.fingerprint
        return input_key(self.target.tenant, fingerprint, "passage", text)

    def _embedded(self, outcome: object) -> Vectors:
        if isinstance(outcome, Embedded):
            vector: Vectors = outcome.vector
            return vector
        raise InputError(
            "the model refuses a window of sentences",
            kind="window-rejected",
            expected=str(getattr(outcome, "expected", "")),
            found=str(getattr(outcome, "found", "")),
            remedy="use a smaller window, or another chunker",
        )

    def _spend(self, reused: int, tokens: dict[bytes, int]) -> None:
        with self.lock:
            counts = self.counts.plus(len(tokens), reused, sum(tokens.values()))
            limit = self.target.consent.max_tokens
            if limit is not None and counts.tokens > limit:
                raise ConflictError(
                    f"finding the chunks alone would embed over {limit:,} tokens",
                    kind="over-budget",
                    subject=self.target.collection,
                    expected=f"at most {limit:,} tokens",
                    found=f"{counts.tokens:,} tokens of windows",
                    remedy="raise the limit, sync fewer sources, or use another chunker",
                )
            self.counts = counts

    def _keep(self, fresh: list[NewVector]) -> None:
        if not self.keep or not fresh:
            return
        settings = self.target.settings
        identity = settings.embedder.identity
        with self.lock, self.store.connection(create=True) as connection:
            _, model_id = register_recipe(
                connection, settings.recipe, identity, settings.embedder_spec
            )
            record_vectors(connection, model_id, fresh, settings.precision)
