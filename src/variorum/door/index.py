"""The one door: plan, sync, search, show, and every question about what was published."""

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, date
from pathlib import Path
from types import TracebackType
from typing import cast

from variorum.access.dates import instant_us
from variorum.access.policy import Policy
from variorum.access.principals import Principal, acting_as, local_owner
from variorum.chunking import chunker_from_spec
from variorum.door import money
from variorum.door.access import Access
from variorum.door.config import (
    CollectionConfig,
    Config,
    SourceConfig,
    find_config,
    load_config,
)
from variorum.door.doctor import Check, examine
from variorum.door.estimate import estimate
from variorum.door.naming import source_of_path, source_of_text
from variorum.door.status import Status, status
from variorum.door.telling import telling_damage
from variorum.door.tracing import traced
from variorum.embedding import embedder_from_spec
from variorum.embedding.guarded import Guarded
from variorum.ledger.alerts import Alert
from variorum.ledger.measures import By
from variorum.ledger.report import CostReport
from variorum.records.arguments import (
    bad_parameter,
    callback,
    names,
    place,
    price,
    switches,
    whole,
    words,
)
from variorum.records.errors import ConflictError, InputError
from variorum.records.hits import Answer, CitedText
from variorum.records.names import Citation, DocumentName
from variorum.records.protocols import Embedder, Progress, Source
from variorum.records.reports import Explanation, PlannedDocument, Report
from variorum.records.retention import Collected, Erased, Pruned
from variorum.retrieval.asking import ANY, NOW, Asked, asked_at
from variorum.retrieval.citing import show
from variorum.retrieval.filters import Filter
from variorum.retrieval.legs import Way
from variorum.retrieval.searching import Question, require_sound, search
from variorum.sources import FolderSource, GitSource, JsonLinesSource
from variorum.sources.git_place import PREFIX
from variorum.store.generations import GenerationRow
from variorum.store.history import Difference, difference
from variorum.store.reading_log import AuditEntry, record_reading
from variorum.store.snapshot import Snapshot
from variorum.store.store import Store
from variorum.store.vectors import Precision
from variorum.store.view import View
from variorum.store.views import Views
from variorum.sync import retaining
from variorum.sync.execution import Clock, sync, utc_now
from variorum.sync.planning import planned
from variorum.sync.probing import require_stored_model
from variorum.sync.reasons import explain_document, with_reasons
from variorum.sync.restoring import restore
from variorum.sync.target import Consent, Settings, Target, no_progress
from variorum.sync.terming import catch_up
from variorum.sync.verifying import Finding, verify


def open_index(
    folder: str | Path = ".",
    *,
    store: str | Path | None = None,
    config: str | Path | None = None,
    collection: str | None = None,
    embedder: Embedder | None = None,
    model: str | None = None,
    principal: Principal | str | None = None,
) -> "Index":
    """Open the index configured in `folder`, by its variorum.toml where there is one.

    `store` names another store folder, `config` another file, `collection` one of several.
    `model`, a spec, or `embedder`, an object, replaces the configured model. Nothing is read or
    made before it is needed.

    `principal` is who reads: the local owner where it is None; a verified identity (see
    `TokenVerifier`); or, as text such as `user:ann,group:staff`, whom the owner acts as.

    Raises:
        InputError: the configuration is not sound, or an argument is not what it should be.
        NotFoundError: `config` was named and is not there.
    """
    base = Path(place("folder", folder))
    found = find_config(base, config)
    chosen = None if store is None else Path(place("store", store))
    loaded = load_config(found, chosen or (None if found else base / ".variorum"))
    named = None if collection is None else words("collection", collection)
    given = None if embedder is None else Guarded.of(embedder)
    if isinstance(principal, Principal):
        loaded = loaded.of_tenant(principal.tenant)
    wanted = loaded.collection(named)
    if model is not None:
        wanted = replace(wanted, model=words("model", model))
    if principal is not None and not isinstance(principal, Principal):
        principal = acting_as(wanted.tenant, words("principal", principal))
    return Index(loaded, wanted, given, principal, is_model_named=model is not None)


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan as a caller sees it: its promise, and what it does to each document.

    Of a document to explain, `explained` is its line of `documents` (None where the plan leaves it
    as it is), and `explanations` hold a reason for each input that it would have embedded.
    """

    report: Report
    documents: tuple[PlannedDocument, ...]
    explained: PlannedDocument | None = None
    explanations: tuple[Explanation, ...] = ()


class Index:
    """One collection of one store. Searching and reading are safe from many threads at once.

    Every call is blocking; from async code, run it in a thread (`asyncio.to_thread`).
    """

    def __init__(
        self,
        config: Config,
        collection: CollectionConfig,
        embedder: Embedder | None = None,
        principal: Principal | None = None,
        clock: Clock = utc_now,
        *,
        is_model_named: bool = False,
    ) -> None:
        self.config = config
        self.collection = collection
        self.principal = principal or local_owner(collection.tenant)
        self.clock = clock
        self._store = Store(config.store, catch_up)
        self._views = Views(self._store)
        self._given = embedder
        self._is_model_named = is_model_named or config.path is not None
        self._embedders: dict[str, Embedder] = {}
        self._probed: set[str] = set()

    def __enter__(self) -> "Index":
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

    def for_principal(self, principal: Principal | str) -> "Index":
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

    @telling_damage
    def plan(
        self,
        source: str | Path | None = None,
        *,
        allow_empty: bool = False,
        allow_shrink: bool = False,
        release: bool = False,
        relayout: bool = False,
        drop_sources: Sequence[str] = (),
        usd_per_mtok: float | None = None,
        reasons: bool = False,
        explain: str | DocumentName | None = None,
        progress: Progress = no_progress,
    ) -> PlanView:
        """What `sync` with the same arguments would do. Writes nothing.

        `reasons` splits each document's tokens by why they are embedded; `explain` names a document
        to be explained input by input. Both read the old revisions and compare them with the new.

        Raises:
            DeniedError: the principal is not the owner.
            ConflictError: a restore holds a source, or a listing shrank without consent.
            InputError: the source is not configured, a setting is not sound, or `explain` is no
                document's name.
            NotFoundError: a source's root is not there, or no document of the collection has the
                name to explain.
            UnavailableError: a listing broke off.
        """
        self.principal.require_owner("plan a sync")
        callback("progress", progress)
        named = None if explain is None else _document(explain)
        priced_at = None if usd_per_mtok is None else price("usd_per_mtok", usd_per_mtok)
        switches(
            allow_empty=allow_empty,
            allow_shrink=allow_shrink,
            release=release,
            relayout=relayout,
            reasons=reasons,
        )
        consent = Consent(allow_empty, allow_shrink, release)
        dropped = names("drop_sources", drop_sources)
        target = self._target(source, consent, progress, relayout=relayout, dropped=dropped)
        with (
            traced("plan", collection=target.collection) as span,
            planned(self._store, target) as plan,
        ):
            span.note(embed_inputs=plan.report.inputs.embed, embed_tokens=plan.report.tokens.embed)
            documents = tuple(with_reasons(plan) if reasons else plan.documents())
            view = explain_document(plan, named)
            usd = self.usd_per_million_tokens if priced_at is None else priced_at
            priced = estimate(plan, self._generations(), usd)
            return PlanView(plan.report.with_run(estimate=priced), documents, *view)

    @telling_damage
    def sync(
        self,
        source: str | Path | None = None,
        *,
        allow_empty: bool = False,
        allow_shrink: bool = False,
        release: bool = False,
        relayout: bool = False,
        drop_sources: Sequence[str] = (),
        max_tokens: int | None = None,
        progress: Progress = no_progress,
    ) -> Report:
        """Embed what changed and publish one generation; none where nothing changed.

        With `relayout`, every listed document is laid out as a fresh index would, whatever its
        history made of it; earlier generations keep their layouts. The documents of
        `drop_sources`, which must not be configured any more, are removed; earlier generations
        keep them.

        Raises:
            DeniedError: the principal is not the owner.
            ConflictError: consent is missing, `max_tokens` would be exceeded, a source to drop is
                configured, or other writers won every attempt.
            BusyError: another process kept the write lock.
            InputError: the source is not configured, or a setting is not sound.
            NotFoundError: a source's root is not there, or no source has a name to drop.
            UnavailableError: the model, the disk or a listing failed; nothing was published.
        """
        self.principal.require_owner("sync")
        callback("progress", progress)
        switches(
            allow_empty=allow_empty, allow_shrink=allow_shrink, release=release, relayout=relayout
        )
        limit = None if max_tokens is None else whole("max_tokens", max_tokens, 0)
        consent = Consent(allow_empty, allow_shrink, release, limit)
        dropped = names("drop_sources", drop_sources)
        with traced("sync", collection=self.collection.name) as span:
            target = self._target(source, consent, progress, relayout=relayout, dropped=dropped)
            report = sync(self._store, target, self.clock)
            span.note(
                generation=report.generation,
                embedded_tokens=report.tokens.embed,
                embedder_calls=report.embedder_calls,
                embed_s=report.embed_s,
                held=report.documents.held,
            )
            return report

    @telling_damage
    def search(
        self,
        query: str,
        k: int = 10,
        *,
        as_of: int | None = None,
        path: str | None = None,
        content_type: str | None = None,
        where: Mapping[str, str | int | float | bool] | Sequence[str] | None = None,
        language: str | None = None,
        changed_since: date | str | None = None,
        effective: date | str | None = None,
        mode: str | None = None,
        weights: Mapping[str, float] | None = None,
        explain: bool = False,
    ) -> Answer:
        """The `k` passages that answer `query` best, in one generation, best first.

        `mode` is "dense" (by meaning), "lexical" (by words) or "hybrid" (both); where it is not
        named, hybrid, or what can be had of it, and the answer says so. `weights` are those of
        "dense" and "lexical" in hybrid. With `explain` each hit says which words found it.
        A string in `where` matches a value written like it; a number or a boolean matches its own
        kind alone. Instead of a mapping it can be a list of texts such as "year>=2020": numbers
        compare as numbers, dates as dates. `language` is a tag that documents declare; one that
        was published as it stands before `changed_since` does not pass.

        `effective` asks for what is in force at a date, `any` for all that ever is; by default what
        is in force now. It stands apart from `as_of`, which names the state of the documents.

        Raises:
            InputError: a blank query, a `k` out of range, a bad path pattern or date, an unknown
                metadata key, language or content type, or an argument of another type.
            NotFoundError: nothing was published yet, or not generation `as_of`.
            UnsupportedError: the named mode needs a model that is not to be had here.
            UnavailableError: the model that it needs cannot answer now.
        """
        require_sound(query, k)
        switches(explain=explain)
        since = self._instant("changed_since", changed_since)
        within = Filter.of(path, content_type, where, language, since)
        way = Way.of(mode, weights)
        number = None if as_of is None else whole("as_of", as_of)
        question = Question(query, k, within, way, explain)
        with traced("search", collection=self.collection.name, k=k) as span:
            asked = self._asked(effective)
            view = self._view(asked, number)
            answer = search(view, lambda: self._sound_embedder_of(view.generation), question, asked)
            span.note(generation=answer.generation, hits=len(answer.hits))
        self._note("search", view, answer.effective, [hit.citation for hit in answer.hits], query)
        return answer

    @telling_damage
    def show(self, citation: str | Citation, *, effective: date | str | None = None) -> CitedText:
        """Open a citation: its exact characters in their section, from the stored revision.

        A document that is not in force at `effective` (now, by default) opens with `any` only.

        Raises:
            InputError: not a citation, or not a date.
            NotFoundError: no kept generation holds what it cites, or not for this principal.
        """
        if not isinstance(citation, Citation):
            citation = Citation.parse(words("citation", citation))
        asked = self._asked(effective)
        view = self._view(asked)
        self._note("show", view, asked.effective, [citation])
        return show(view, citation, asked.now_us)

    @telling_damage
    def log(self) -> list[GenerationRow]:
        """Every published generation, oldest first; empty where there is none.

        What each did to how many documents is for the owner's eyes.
        """
        rows = self._generations()
        return rows if self.principal.is_owner else [row.without_counts() for row in rows]

    @telling_damage
    def diff(self, old: int, new: int, *, effective: date | str | None = None) -> Difference:
        """What changed between two generations, document by document.

        Raises:
            InputError: `effective` is not a date.
            NotFoundError: one of them was never published.
        """
        before, after = whole("old", old), whole("new", new)
        asked = self._asked(effective)
        return difference(self._view(asked, before), self._view(asked, after))

    @telling_damage
    def restore(self, generation: int) -> int:
        """Publish an old generation's documents as a new one, and return its number.

        Its sources are held: the next sync of one needs `release`.

        Raises:
            DeniedError: the principal is not the owner.
            ConflictError: another writer published meanwhile.
            NotFoundError: that generation was never published.
        """
        self.principal.require_owner("restore")
        wanted = whole("generation", generation)
        tenant, name = self.collection.tenant, self.collection.name
        return restore(self._store, tenant, name, wanted, self.clock)

    @telling_damage
    def prune(
        self, *, keep: int | None = None, keep_within: str | None = None, dry_run: bool = False
    ) -> Pruned:
        """Remove the generations before the newest `keep`, or those replaced before `keep_within`.

        An age is such as "90d", "12h" or "4w"; where both are given, what either keeps is kept.
        What a kept generation, another collection or a running sync needs stays, and so do the
        log's lines and the ledger. Then the file is rebuilt: linear in the store, and needs as
        much free space. A dry run counts the same, and writes nothing.

        Raises:
            InputError: neither is given, or one is not sound.
            DeniedError: the principal is not the owner.
            NotFoundError: nothing was published yet.
        """
        self.principal.require_owner("prune")
        count = None if keep is None else whole("keep", keep, 1)
        within = None if keep_within is None else retaining.age("keep_within", keep_within)
        if count is None and within is None:
            raise bad_parameter("keep", "given, or keep_within", None)
        switches(dry_run=dry_run)
        mine = self._snapshot().collection_id
        return retaining.prune(self._store, mine, count, within, dry_run=dry_run, clock=self.clock)

    @telling_damage
    def gc(self, *, older_than: str = "30d", dry_run: bool = False) -> Collected:
        """Remove the vectors that no chunk of any kept generation holds, in the whole store.

        They come of runs that broke off and of the windows of the semantic chunker. `older_than`
        is an age as of `prune`: those alone that are known to be as old. What a running sync is at
        stays.

        Raises:
            InputError: not an age.
            DeniedError: the principal is not the owner.
            NotFoundError: nothing was published yet.
        """
        self.principal.require_owner("collect garbage")
        least = retaining.age("older_than", older_than)
        switches(dry_run=dry_run)
        mine = self._snapshot().collection_id
        return retaining.gc(self._store, mine, least, dry_run=dry_run, clock=self.clock)

    @telling_damage
    def erase(self, document: str | DocumentName) -> Erased:
        """Remove a document from every generation, the log and the ledger, and keep it out.

        No new generation is published: the kept ones go on without it. What another document
        shares with it stays. The deleted bytes are overwritten, the file rebuilt and its log
        emptied; then the files are searched for strings of what went. Interrupted, it can be run
        again. Linear in the store.

        Raises:
            InputError: not a document's name.
            DeniedError: the principal is not the owner.
            NotFoundError: no kept generation holds it.
            BusyError: a sync is embedding.
            UnavailableError: the disk, or a reader, kept its bytes from going.
        """
        self.principal.require_owner("erase")
        name = _document(document, "document")
        mine = self._snapshot().collection_id
        return retaining.erase(self._store, mine, name, self.clock)

    @telling_damage
    def lift(self, document: str | DocumentName) -> None:
        """Let an erased document be synced again.

        Raises:
            InputError: not a document's name.
            DeniedError: the principal is not the owner.
            NotFoundError: it was not erased.
        """
        self.principal.require_owner("lift an erasure")
        name = _document(document, "document")
        retaining.lift(self._store, self._snapshot().collection_id, name)

    def verify(self, progress: Progress = no_progress) -> list[Finding]:
        """Check every stored promise; an empty list means that all hold.

        Raises:
            DeniedError: the principal is not the owner.
            InputError: `progress` is no function.
            NotFoundError: there is no store.
        """
        self.principal.require_owner("verify the store")
        callback("progress", progress)
        self._store.require()
        return verify(self._store, progress)

    def require(self) -> None:
        """Refuse to go on where nothing was ever synced.

        Raises:
            NotFoundError: there is no store.
        """
        self._store.require()

    @telling_damage
    def status(self, *, effective: date | str | None = None) -> Status:
        """What is published, how large it is, and under which settings.

        Raises:
            InputError: `effective` is not a date.
            NotFoundError: nothing was published yet.
        """
        return status(self._store, self._view(self._asked(effective)), self._configured)

    @telling_damage
    def cost(
        self, by: By | None = None, *, usd_per_million_tokens: float | None = None
    ) -> CostReport:
        """What every publish so far cost, also by document, source, day or generation.

        Linear in the publishes' documents. The price is the configured one by default.

        Raises:
            DeniedError: the principal is not the owner.
            InputError: the price is none, or `by` is no way to group.
            NotFoundError: nothing was published yet.
        """
        self.principal.require_owner("see what it costs")
        given = usd_per_million_tokens
        usd = self.usd_per_million_tokens if given is None else price("price", given)
        lines = self.config.thresholds
        return money.cost(self._store, self._snapshot(), self.clock(), by, lines, usd)

    @telling_damage
    def alerts(self) -> list[Alert]:
        """Where updates cost far more than their edits; empty where they do not.

        Raises:
            DeniedError: the principal is not the owner.
            NotFoundError: nothing was published yet.
        """
        self.principal.require_owner("see what it costs")
        lines = self.config.thresholds
        return money.alerts(self._store, self._snapshot(), self.clock(), lines)

    def doctor(self) -> list[Check]:
        """What is missing or wrong on this machine for this index.

        Raises:
            DeniedError: the principal is not the owner.
        """
        self.principal.require_owner("examine the machine")
        return examine(self.config, [(self.collection, lambda: self.embedder)])

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

    def _load(self, spec: str) -> Embedder:
        if spec not in self._embedders:
            home = self.config.path.parent if self.config.path else Path()
            self._embedders[spec] = Guarded.of(embedder_from_spec(spec, home))
        return self._embedders[spec]

    def _embedder_of(self, wanted: GenerationRow) -> Embedder:
        """The configured model where it made this generation, else the one that did."""
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
        fingerprint = embedder.identity.fingerprint
        if fingerprint not in self._probed:
            require_stored_model(self._store, embedder)
            self._probed.add(fingerprint)

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

    def _target(
        self,
        source: str | Path | None,
        consent: Consent,
        progress: Progress,
        *,
        relayout: bool,
        dropped: tuple[str, ...],
    ) -> Target:
        configs = self._chosen_sources(source, dropped)
        self.collection.sound_chunker()
        return Target(
            tenant=self.collection.tenant,
            collection=self.collection.name,
            settings=self.settings,
            sources=[_build(config) for config in configs],
            roots={config.name: config.recorded_root for config in configs},
            consent=consent,
            progress=progress,
            relayout=relayout,
            configured=self._configured,
            dropped=tuple(dict.fromkeys(dropped)),
        )

    @property
    def _configured(self) -> frozenset[str] | None:
        """The collection's sources; None without a configuration, where every one belongs to it."""
        return frozenset(self.collection.sources) if self.config.path is not None else None

    def _chosen_sources(
        self, source: str | Path | None, dropped: tuple[str, ...]
    ) -> list[SourceConfig]:
        if source is None:
            if self.collection.sources:
                return [self.config.sources[name] for name in self.collection.sources]
            return self._known_sources(dropped)
        given = place("source", source)
        if given in self.collection.sources:
            return [self.config.sources[given]]
        if given.startswith(PREFIX):
            found = source_of_text(given, Path(), self.config.store)
            self._require_free_name(found)
            return [found]
        return [self._source_at(Path(given))]

    def _source_at(self, path: Path) -> SourceConfig:
        """The source whose root is `path`: a configured one, or one named after the folder."""
        for name in self.collection.sources:
            if self.config.sources[name].root.resolve() == path.resolve():
                return self.config.sources[name]
        if self.config.path is not None and not path.exists():
            known = ", ".join(self.collection.sources) or "(none is configured)"
            raise InputError(
                f"{str(path)!r} is neither a configured source nor a folder",
                kind="unknown-source",
                subject=str(path),
                expected=f"one of: {known}, or a path",
                found=str(path),
                remedy=f"name a source of {self.config.path}, or a folder that is there",
            )
        found = source_of_path(path, self.config.store)
        self._require_free_name(found)
        return found

    def _require_free_name(self, found: SourceConfig) -> None:
        collection_id, _ = self._store.head(self.collection.tenant, self.collection.name)
        known = self._store.sources(collection_id)
        root, _ = known.get(found.name, (found.recorded_root, False))
        configured = found.name in self.config.sources
        if configured or root != found.recorded_root:
            raise ConflictError(
                f"source {found.name!r} already stands for another folder",
                kind="source-name-taken",
                subject=found.name,
                expected=root if not configured else str(self.config.sources[found.name].root),
                found=found.recorded_root,
                remedy="configure it under a name of its own in variorum.toml: [sources.NAME]",
            )

    def _known_sources(self, dropped: tuple[str, ...]) -> list[SourceConfig]:
        """The sources of earlier runs without a configuration, but for those to be dropped."""
        collection_id, _ = self._store.head(self.collection.tenant, self.collection.name)
        home = self.config.store.absolute().parent
        known = self._store.sources(collection_id)
        if known:
            return [
                source_of_text(root, home, self.config.store)
                for name, (root, _) in known.items()
                if name not in dropped
            ]
        raise InputError(
            "no source to sync",
            kind="no-source",
            expected="a folder, or a variorum.toml with a [sources.NAME] table",
            found="neither",
            remedy="run `variorum sync FOLDER`, or `variorum init`",
        )


def _document(name: str | DocumentName, argument: str = "explain") -> DocumentName:
    if not isinstance(name, DocumentName):
        return DocumentName.parse(words(argument, name))
    if not name.is_printable:
        raise bad_parameter(argument, "a DocumentName of a source and a path", name)
    return name


def _build(config: SourceConfig) -> Source:
    if config.kind == "jsonl":
        return JsonLinesSource(config.name, config.root, config.max_bytes)
    options: dict[str, object] = {"exclude": config.exclude, "max_bytes": config.max_bytes}
    if config.include:
        options["include"] = config.include
    if config.kind == "git":
        options |= {"revision": config.revision, "path": os.fsencode(config.path)}
        return cast(Callable[..., Source], GitSource)(config.name, config.root, **options)
    options["use_ignore_files"] = config.ignore_files
    return cast(Callable[..., Source], FolderSource)(config.name, config.root, **options)
