"""Vectors for a chunker that compares meanings: kept apart from the inputs of chunks."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine

from variorum.embedding.jobs import Embedded, embed_in_order
from variorum.records.errors import ConflictError, InputError
from variorum.records.layout import input_key
from variorum.records.protocols import Vectors
from variorum.records.reports import WindowCounts
from variorum.store.engine import empty_engine
from variorum.store.publish import register_recipe
from variorum.store.store import Store
from variorum.store.vectors import NewVector, find_vectors, record_vectors
from variorum.sync.target import Target


@dataclass(slots=True)
class Windows:
    """Embeds windows of sentences, each once a run; those of earlier runs come from the store.

    A window's key is in a role of its own, so that storing one never makes a chunk of the same
    words look paid for: what a plan counts does not depend on whether it keeps its windows
    (invariant 12). Where `keep` is false they are kept until the plan ends, and nowhere else. One
    caller at a time is served, so that documents in work at once never pay twice.
    """

    store: Store
    target: Target
    keep: bool
    counts: WindowCounts = field(default_factory=WindowCounts)
    lock: threading.Lock = field(default_factory=threading.Lock)
    scratch: Engine | None = None

    def close(self) -> None:
        """Give up what was kept for this plan alone."""
        if self.scratch is not None:
            self.scratch.dispose()
            self.scratch = None

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """float32[n, dimensions]: a vector for each window, at the store's precision.

        Raises:
            ConflictError: embedding the windows would exceed the run's `max_tokens`.
            InputError: the model refuses a window.
        """
        keys = [self._key(text) for text in texts]
        with self.lock:
            known = self._known(keys)
            pairs = zip(keys, texts, strict=True)
            missing = {key: text for key, text in pairs if key not in known}
            self._embed(missing, reused=len(known))
            # Read back, not kept from the model: a window then has the same vector in every run,
            # also where the store keeps half of the precision.
            known.update(self._known(list(missing)))
        return np.stack([known[key] for key in keys])

    def _embed(self, missing: dict[bytes, str], reused: int) -> None:
        model = self.target.settings.embedder
        tokens = dict(zip(missing, model.count(list(missing.values())), strict=True))
        self._spend(reused, tokens)
        outcomes = embed_in_order(model, missing.items())
        fresh = [
            NewVector(key, tokens[key], self._embedded(outcome))
            for key, outcome in zip(missing, outcomes, strict=True)
        ]
        if fresh:
            self._keep(fresh)

    def _known(self, keys: list[bytes]) -> dict[bytes, NDArray[np.float32]]:
        dimensions = self.target.settings.embedder.identity.dimensions
        found: dict[bytes, NDArray[np.float32]] = {}
        if self.store.exists:
            with self.store.connection() as connection, connection.begin():
                found.update(find_vectors(connection, keys, dimensions))
        if self.scratch is not None:
            with self.scratch.begin() as connection:
                found.update(find_vectors(connection, keys, dimensions))
        return found

    def _key(self, text: str) -> bytes:
        fingerprint = self.target.settings.embedder.identity.fingerprint
        return input_key(self.target.tenant, fingerprint, "window", text)

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
        settings = self.target.settings
        identity = settings.embedder.identity
        with self._home() as connection:
            _, model_id = register_recipe(
                connection, settings.recipe, identity, settings.embedder_spec
            )
            record_vectors(connection, model_id, fresh, settings.precision)

    @contextmanager
    def _home(self) -> Iterator[Connection]:
        """Where fresh vectors go: the store, or this plan's scratch."""
        if self.keep:
            with self.store.connection(create=True) as connection:
                yield connection
            return
        if self.scratch is None:
            self.scratch = empty_engine()
        with self.scratch.connect() as connection:
            yield connection
