"""An open index: its store, its models and who reads; what every question stands on."""

from collections.abc import Sequence
from copy import copy
from datetime import UTC, date
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from variorum.access.dates import instant_us
from variorum.access.policy import Policy
from variorum.access.principals import Principal, acting_as, local_owner
from variorum.chunking import chunker_from_spec
from variorum.door.access import Access
from variorum.door.config import (
    CollectionConfig,
    Config,
)
from variorum.door.deriving import configured
from variorum.embedding import embedder_from_spec
from variorum.embedding.guarded import Guarded
from variorum.records.arguments import (
    bad_parameter,
    whole,
    words,
)
from variorum.records.derivations import Derivation
from variorum.records.names import Citation
from variorum.records.protocols import Embedder, Reranker
from variorum.retrieval.asking import ANY, NOW, Asked, asked_at
from variorum.store.generations import GenerationRow
from variorum.store.reading_log import AuditEntry, record_reading
from variorum.store.snapshot import Snapshot
from variorum.store.store import Store
from variorum.store.vectors import Precision
from variorum.store.view import View
from variorum.store.views import Views
from variorum.sync.execution import Clock, utc_now
from variorum.sync.probing import require_stored_model
from variorum.sync.target import Settings
from variorum.sync.terming import catch_up


class Opened:
    """A collection of a store, opened: what its questions share."""

    def __init__(
        self,
        config: Config,
        collection: CollectionConfig,
        embedder: Embedder | None = None,
        principal: Principal | None = None,
        clock: Clock = utc_now,
        *,
        is_model_named: bool = False,
        reranker: Reranker | None = None,
        derive: tuple[Derivation, ...] = (),
    ) -> None:
        self.config = config
        self.collection = collection
        self.principal = principal or local_owner(collection.tenant)
        self.clock = clock
        self._store = Store(config.store, catch_up, with_ann=config.ann)
        self._views = Views(self._store)
        self._given = embedder
        self._is_model_asked_for = is_model_named or embedder is not None
        self._given_reranker = reranker
        self._given_derivations = derive
        self._is_model_named = is_model_named or config.path is not None
        self._used: dict[str, Embedder] = {}
        self._embedders: dict[str, Embedder] = {}
        self._probed: set[tuple[int, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the store. The index can be used again; it opens anew."""
        self._views.clear()
        self._store.close()

    def for_principal(self, principal: Principal | str) -> Self:
        """The same index, open on the same store and models, as another principal reads it.

        Raises:
            DeniedError: the index is not its owner's.
            InputError: the text is no principal.
        """
        self.principal.require_owner("let others in")
        if not isinstance(principal, Principal):
            principal = acting_as(self.collection.tenant, words("principal", principal))
        other = copy(self)
        other.principal = principal
        return other

    def view(self, as_of: int | None = None, *, effective: date | str | None = None) -> View:
        """A generation as the principal may see it, pinned for several reads.

        Raises:
            InputError: `effective` is not a date.
            NotFoundError: nothing was published yet, or not generation `as_of`.
        """
        number = None if as_of is None else whole("as_of", as_of)
        return self._view(self._asked(effective), number)

    @property
    def access(self) -> Access:
        """The collection's policy: apply it, ask about it, and read its logs.

        Raises:
            DeniedError: the principal is not the owner.
        """
        self.principal.require_owner("see or change the policy")
        return Access(self._store, self._views, self.collection, self.clock)

    def require(self) -> None:
        """Refuse to go on where nothing was ever synced.

        Raises:
            NotFoundError: there is no store.
        """
        self._store.require()

    @property
    def store(self) -> Store:
        """The store behind the index.

        Raises:
            DeniedError: the principal is not the owner.
        """
        self.principal.require_owner("open the store")
        return self._store

    @property
    def usd_per_million_tokens(self) -> float | None:
        """The configured price of the model's tokens."""
        return self.collection.usd_per_million_tokens

    @property
    def embedder(self) -> Embedder:
        """The configured model, loaded when first asked for."""
        return self._given or self._load(self.model_spec)

    @property
    def model_spec(self) -> str:
        """The spec of the configured model; without a configuration, that of the last sync."""
        generations = [] if self._is_model_named or self._given else self._generations()
        return generations[-1].model_spec if generations else self.collection.model

    @property
    def settings(self) -> Settings:
        """How this collection is cut and embedded."""
        return Settings(
            chunker=chunker_from_spec(self.collection.chunker).spec,
            planner=self.collection.planner,
            heading_depth=self.collection.heading_depth,
            embedder=self.embedder,
            embedder_spec=self.model_spec,
            precision=cast(Precision, self.config.precision),
        )

    @cached_property
    def derivations(self) -> tuple[Derivation, ...]:
        """The functions that are run over every chunk, imported when first asked for.

        Raises:
            InputError: a configured one cannot be imported.
        """
        return self._given_derivations or configured(self.config.derive, self._home)

    def _load(self, spec: str) -> Embedder:
        if spec not in self._embedders:
            self._embedders[spec] = Guarded.of(embedder_from_spec(spec, self._model_home))
        return self._embedders[spec]

    @property
    def _model_home(self) -> Path:
        """Where the paths of models, rerankers and tokenizers start."""
        return self.config.path.parent if self.config.path else Path()

    @property
    def _home(self) -> Path:
        """Where the paths of sources and of changes start."""
        return self.config.path.resolve().parent if self.config.path else Path()

    def _embedder_of(self, wanted: GenerationRow) -> Embedder:
        """The configured model where it made this generation, else the one that did."""
        if wanted.model_fingerprint in self._used:
            return self._used[wanted.model_fingerprint]
        if self._given is not None or wanted.model_spec == self.model_spec:
            return self.embedder
        # Another spec of the same model: at another pace, or another address it is declared at.
        if self.embedder.identity.fingerprint == wanted.model_fingerprint:
            return self.embedder
        return self._load(wanted.model_spec)

    def _sound_embedder_of(self, wanted: GenerationRow) -> Embedder:
        embedder = self._embedder_of(wanted)
        self._require_stored_model(embedder)
        return embedder

    def _require_stored_model(self, embedder: Embedder) -> None:
        """Once for each model: whether it still gives the vectors that it gave."""
        key = (self._store.opened(), embedder.identity.fingerprint)
        if key not in self._probed:
            require_stored_model(self._store, embedder)
            self._probed.add(key)

    def _snapshot(self) -> Snapshot:
        """The newest generation as it is stored, for the owner's accounts."""
        self._store.require()
        return self._store.snapshot(self.collection.tenant, self.collection.name)

    def _asked(self, effective: date | str | None) -> Asked:
        self._store.require()
        named = effective not in (None, NOW, ANY)
        policy = self._policy() if named else None
        return asked_at(effective, self.clock(), policy.zone if policy else UTC)

    def _instant(self, name: str, given: date | str | None) -> int | None:
        """The instant of a date that an argument gives, read in the policy's time zone."""
        if given is None:
            return None
        self._store.require()
        policy = self._policy()
        try:
            return instant_us(given, policy.zone if policy else UTC)
        except ValueError as error:
            expected = "a date such as 2026-01-31, or a date with a time"
            raise bad_parameter(name, expected, given) from error

    def _policy(self) -> Policy | None:
        return self._views.policy(self._store.state(self.collection.tenant, self.collection.name))

    def _view(self, asked: Asked, as_of: int | None = None) -> View:
        tenant, name = self.collection.tenant, self.collection.name
        return self._views.view(tenant, name, self.principal, asked.at_us, as_of)

    def _note(
        self,
        action: str,
        view: View,
        effective: str,
        citations: Sequence[Citation],
        query: str | None = None,
    ) -> None:
        """Log who read what, where the collection is configured so, before it is handed over."""
        if self.collection.audit == "off":
            return
        entry = AuditEntry(
            at=self.clock().isoformat(timespec="milliseconds"),
            principal=str(self.principal),
            verified_by=self.principal.verified_by,
            action=action,
            generation=view.generation.number,
            policy_version=view.decision.filter.policy_version,
            effective=effective,
            query=query if self.collection.audit == "queries" else None,
            citations=tuple(str(one) for one in citations),
        )
        with self._store.connection() as connection:
            record_reading(connection, view.collection_id, entry)

    def _generations(self) -> list[GenerationRow]:
        collection_id, newest = self._store.head(self.collection.tenant, self.collection.name)
        if collection_id is None or newest is None:
            return []
        return self._store.generations(collection_id)

    @property
    def _configured(self) -> frozenset[str] | None:
        """The collection's sources; None without a configuration, where every one belongs to it."""
        return frozenset(self.collection.sources) if self.config.path is not None else None
