"""Vectors for a chunker that compares meanings: kept apart from the inputs of chunks."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine

from variorum.embedding.jobs import Embedded, Outcome, Rejected, embed_and_keep
from variorum.records.errors import ConflictError, InputError
from variorum.records.layout import input_key
from variorum.records.protocols import Vectors
from variorum.records.reports import WindowCounts
from variorum.store.engine import empty_engine
from variorum.store.leases import leases
from variorum.store.publish import register_recipe
from variorum.store.store import Store
from variorum.store.vectors import NewVector, find_vectors, record_vectors
from variorum.sync.sharing import Shared
from variorum.sync.target import Target


class Window(NamedTuple):
    """A window of sentences: its key, its tokens as sent, its text."""

    key: bytes
    tokens: int
    text: str


class StoppedError(Exception):
    """The run ends: what is left of its windows is not wanted."""


@dataclass(slots=True)
class Windows:
    """Embeds windows of sentences, each once a run; those of earlier runs come from the store.

    A window's key is in a role of its own, so that storing one never makes a chunk of the same
    words look paid for: what a plan counts does not depend on whether it keeps its windows
    (invariant 12). Where `keep` is true each call's answers are in the store before they count,
    and windows are shared with other writers as inputs are; else they are kept until the plan
    ends, and nowhere else. One caller at a time is served, so that documents in work at once never
    pay twice.
    """

    store: Store
    target: Target
    keep: bool
    counts: WindowCounts = field(default_factory=WindowCounts)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: threading.Event = field(default_factory=threading.Event)
    scratch: Engine | None = None
    model_id: int | None = None

    def close(self) -> None:
        """Give up what was kept for this plan alone."""
        if self.scratch is not None:
            self.scratch.dispose()
            self.scratch = None

    def give_up(self) -> None:
        """Send no more windows; whoever waits for some is told when the calls begun are kept."""
        self.stopped.set()

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
            reused = len(known) + len(missing) - self._embed(missing)
            self.counts = self.counts.plus(0, reused, 0)
            # Read back, not kept from the model: a window then has the same vector in every run,
            # also where the store keeps half of the precision.
            known.update(self._known(list(missing)))
        return np.stack([known[key] for key in keys])

    def _embed(self, missing: dict[bytes, str]) -> int:
        """Embed what no other writer does; how many windows this run sent."""
        counted = self.target.settings.embedder.count(list(missing.values()))
        windows = [
            Window(key, tokens, text)
            for (key, text), tokens in zip(missing.items(), counted, strict=True)
        ]
        self._require_budget(sum(counted))
        before = self.counts.embed
        if windows:
            with self._home() as connection:
                self._send(connection, windows)
        return self.counts.embed - before

    def _send(self, connection: Connection, windows: list[Window]) -> None:
        if not self.keep:
            self._embed_claimed(connection, iter(windows))
            return
        keys = [window.key for window in windows]
        sent: set[bytes] = set()
        with leases(connection, self.store.folder) as mine:

            def wanted() -> Iterator[Window]:
                return (window for window in windows if window.key not in sent)

            def embed(claimed: Iterator[Window]) -> None:
                self._embed_claimed(connection, _noted(claimed, sent))

            Shared(mine, wanted, lambda: mine.elsewhere_among(keys)).rounds(embed)

    def _embed_claimed(self, connection: Connection, claimed: Iterator[Window]) -> None:
        embed_and_keep(
            self.target.settings.embedder,
            ((window, window.text) for window in self._until_stopped(claimed)),
            lambda outcomes: self._keep(connection, outcomes),
            tokens=lambda window: window.tokens,
        )

    def _until_stopped(self, windows: Iterator[Window]) -> Iterator[Window]:
        for window in windows:
            if self.stopped.is_set():
                raise StoppedError
            yield window

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

    def _require_budget(self, tokens: int) -> None:
        limit, needed = self.target.consent.max_tokens, self.counts.tokens + tokens
        if limit is not None and needed > limit:
            raise ConflictError(
                f"finding the chunks alone would embed over {limit:,} tokens",
                kind="over-budget",
                subject=self.target.collection,
                expected=f"at most {limit:,} tokens",
                found=f"{needed:,} tokens of windows",
                remedy="raise the limit, sync fewer sources, or use another chunker",
            )

    def _keep(self, connection: Connection, outcomes: Sequence[Outcome[Window]]) -> None:
        """Keep what the model answered; then, where it refuses a window, say so."""
        fresh = [
            NewVector(one.key.key, one.key.tokens, one.vector)
            for one in outcomes
            if isinstance(one, Embedded)
        ]
        if fresh:
            model_id, precision = self._model(connection), self.target.settings.precision
            record_vectors(connection, model_id, fresh, precision)
        self.counts = self.counts.plus(len(fresh), 0, sum(one.tokens for one in fresh))
        for one in outcomes:
            if isinstance(one, Rejected):
                raise _refused(one)

    def _model(self, connection: Connection) -> int:
        if self.model_id is None:
            settings = self.target.settings
            identity, spec = settings.embedder.identity, settings.embedder_spec
            _, self.model_id = register_recipe(connection, settings.recipe, identity, spec)
        return self.model_id

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


def _noted(claimed: Iterator[Window], sent: set[bytes]) -> Iterator[Window]:
    """The windows, each noted in `sent` as it is taken."""
    for window in claimed:
        sent.add(window.key)
        yield window


def _refused(outcome: Rejected[Window]) -> InputError:
    return InputError(
        "the model refuses a window of sentences",
        kind="window-rejected",
        expected=outcome.expected,
        found=outcome.found,
        remedy="use a smaller window, or another chunker",
    )
