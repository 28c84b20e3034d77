"""From sources to a published generation: plan, sync, watch, restore, and the choice of a model."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from time import time
from typing import cast

from variorum.door.choosing import Sources, build
from variorum.door.estimate import estimate
from variorum.door.models import ModelUse, models, require_model_in_use, settings_of
from variorum.door.naming import named_document
from variorum.door.opened import Opened
from variorum.door.reading import file_bytes
from variorum.door.telling import telling_damage
from variorum.door.tracing import traced
from variorum.door.watching import Watched, limited, require_folders, watched
from variorum.embedding.guarded import Guarded
from variorum.embedding.throttled import Throttled
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
from variorum.records.changes import Changes
from variorum.records.errors import BusyError, DamagedError, UnavailableError
from variorum.records.names import DocumentName
from variorum.records.protocols import Embedder, Progress
from variorum.records.reports import Explanation, PlannedDocument, Report
from variorum.sources.change_lists import read_changes
from variorum.sources.following import bursts
from variorum.store.ann_building import keep_ann
from variorum.store.vectors import Precision
from variorum.sync.execution import sync
from variorum.sync.planning import planned
from variorum.sync.reasons import explain_document, with_reasons
from variorum.sync.restoring import restore
from variorum.sync.target import MODEL, Consent, Target, no_progress

LONGEST_WAIT_MS = 3_600_000
"""An hour: what changes more slowly is better synced by a schedule."""


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


class Syncing(Opened):
    """What makes generations."""

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
        changed: str | Path | bytes | Changes | None = None,
        usd_per_mtok: float | None = None,
        reasons: bool = False,
        explain: str | DocumentName | None = None,
        progress: Progress = no_progress,
    ) -> PlanView:
        """What `sync` with the same arguments would do. Writes nothing.

        `reasons` splits each document's tokens by why they are embedded; `explain` names a document
        to be explained input by input. Both read the old revisions and compare them with the new.
        `changed` is as of `sync`.

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
        named = None if explain is None else named_document(explain)
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
        target = replace(target, changes=self._changes(changed))
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
        changed: str | Path | bytes | Changes | None = None,
        max_tokens: int | None = None,
        progress: Progress = no_progress,
    ) -> Report:
        """Embed what changed and publish one generation; none where nothing changed.

        With `relayout`, every listed document is laid out as a fresh index would, whatever its
        history made of it; earlier generations keep their layouts. The documents of
        `drop_sources`, which must not be configured any more, are removed; earlier generations
        keep them. `changed` is a list of changes, a file or its bytes: nothing else is looked at,
        unless it does not fit what is stored; the report's `compared` says so.

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
            target = replace(target, changes=self._changes(changed))
            report = sync(self._store, target, self.clock)
            self._keep_ann(progress)
            span.note(
                generation=report.generation,
                embedded_tokens=report.tokens.embed,
                embedder_calls=report.embedder_calls,
                embed_s=report.embed_s,
                held=report.documents.held,
            )
            return report

    def _keep_ann(self, progress: Progress) -> None:
        """Make the approximate index where it is due. Without one a search looks at every vector,
        so that what keeps it from being made keeps nothing else.
        """
        if self.config.ann:
            with suppress(BusyError, DamagedError, UnavailableError, ImportError, OSError):
                keep_ann(self._store, self.collection.tenant, self.collection.name, progress)

    def watch(
        self,
        source: str | Path | None = None,
        *,
        settle_ms: int = 300,
        longest_ms: int = 3000,
        stop: Event | None = None,
    ) -> Iterator[Watched]:
        """Sync, then follow the folders: each burst of edits becomes one publish.

        A burst ends when nothing was touched for `settle_ms`, or after `longest_ms`. Yields each
        publish with the lag of its edits, and each error that kept one from being published; these
        edits are tried again. Ends when `stop` is set.

        Raises:
            DeniedError: the principal is not the owner.
            InputError: no folder among the sources, or an argument is not sound.
            NotFoundError: a folder is not there.
        """
        self.principal.require_owner("watch")
        for name, value, least in (
            ("settle_ms", settle_ms, 10),
            ("longest_ms", longest_ms, settle_ms),
        ):
            if whole(name, value, least) > LONGEST_WAIT_MS:
                raise bad_parameter(name, f"{LONGEST_WAIT_MS:,}, an hour, at most", value)
        folders = [one for one in self._sources.chosen(source, ()) if one.kind == "folder"]
        require_folders(folders)

        def run(changes: Changes | None) -> Report:
            if changes is None:
                return self.sync(source)
            target = self._target(source, Consent(), no_progress, relayout=False, dropped=())
            names = {one.name for one in folders}
            return sync(self._store, limited(target, names, changes), self.clock)

        touched = bursts(
            [one.root for one in folders],
            [self.config.store],
            settle_ms=settle_ms,
            longest_ms=longest_ms,
            stop=stop or Event(),
        )
        yield from watched(touched, run, time)

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
    def models(self) -> list[ModelUse]:
        """Every model that made a generation of the collection, in the order of first use.

        Raises:
            DeniedError: the principal is not the owner.
            NotFoundError: nothing was published yet.
        """
        self.principal.require_owner("list the models")
        self._snapshot()
        return models(self._store, self._generations())

    @telling_damage
    def use_model(
        self,
        model: str | Embedder,
        *,
        tokens_per_minute: int | None = None,
        max_tokens: int | None = None,
        dry_run: bool = False,
        progress: Progress = no_progress,
    ) -> Report:
        """Embed the newest generation's documents by another model, then switch in one publish.

        No source is listed, and nothing but the model changes. Until the publish every answer
        comes from the old model; a run that breaks off keeps its vectors, and the next goes on.
        A model whose vectors are still there is switched to without embedding. `model` is a spec,
        or an object; `tokens_per_minute` bounds the rate. A dry run writes nothing.

        Raises:
            DeniedError: the principal is not the owner.
            InputError: no such model, or an argument is not sound.
            NotFoundError: nothing was published yet.
            ConflictError: `max_tokens` would be exceeded, or other writers won every attempt.
            UnavailableError: the model or the disk failed; nothing was published.
        """
        self.principal.require_owner("switch models")
        callback("progress", progress)
        switches(dry_run=dry_run)
        rate = None if tokens_per_minute is None else whole("tokens_per_minute", tokens_per_minute)
        limit = None if max_tokens is None else whole("max_tokens", max_tokens, 0)
        row = self._snapshot().generation
        embedder, spec = self._model(model)
        paced = embedder if rate is None else Throttled.of(embedder, rate)
        precision = cast(Precision, self.config.precision)
        target = Target(
            tenant=self.collection.tenant,
            collection=self.collection.name,
            settings=settings_of(row, paced, spec, precision),
            sources=[],
            consent=Consent(max_tokens=limit),
            progress=progress,
            configured=self._configured,
            kind=MODEL,
            derive=self.derivations,
        )
        with traced("use_model", collection=self.collection.name):
            if dry_run:
                return self._estimated(target)
            report = sync(self._store, target, self.clock)
        self._used[embedder.identity.fingerprint] = embedder
        return report

    def _model(self, model: str | Embedder) -> tuple[Embedder, str]:
        if isinstance(model, str):
            spec = words("model", model)
            return self._load(spec), spec
        given = Guarded.of(model)
        return given, given.identity.name

    def _estimated(self, target: Target) -> Report:
        with planned(self._store, target) as plan:
            priced = estimate(plan, self._generations(), self.usd_per_million_tokens)
            return plan.report.with_run(estimate=priced)

    @property
    def _sources(self) -> Sources:
        return Sources(self.config, self.collection, self._store)

    def _target(
        self,
        source: str | Path | None,
        consent: Consent,
        progress: Progress,
        *,
        relayout: bool,
        dropped: tuple[str, ...],
    ) -> Target:
        configs = self._sources.chosen(source, dropped)
        self.collection.sound_chunker()
        if not self._is_model_asked_for:
            require_model_in_use(self._generations(), self.embedder, self.model_spec)
        return Target(
            tenant=self.collection.tenant,
            collection=self.collection.name,
            settings=self.settings,
            sources=[build(config) for config in configs],
            roots={config.name: config.recorded_root for config in configs},
            consent=consent,
            progress=progress,
            relayout=relayout,
            configured=self._configured,
            dropped=tuple(dict.fromkeys(dropped)),
            base=os.fsencode(self._home.absolute()),
            derive=self.derivations,
        )

    @staticmethod
    def _changes(changed: str | Path | bytes | Changes | None) -> Changes | None:
        if changed is None or isinstance(changed, Changes):
            return changed
        if isinstance(changed, bytes):
            return read_changes(changed)
        return read_changes(file_bytes(Path(place("changed", changed))))
