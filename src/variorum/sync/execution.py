"""Carrying a plan out: embed what has no vector, keep each as it arrives, publish once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter

from variorum.analysis import ANALYZER
from variorum.embedding.jobs import (
    BatchLimits,
    CallCount,
    Embedded,
    Rejected,
    embed_in_order,
)
from variorum.records.errors import ConflictError
from variorum.records.reports import Held, Report
from variorum.store.publish import (
    Publication,
    publish,
    register_collection,
    register_recipe,
    release_sources,
)
from variorum.store.staging import StagedInput
from variorum.store.store import Store
from variorum.store.vectors import NewVector, record_vectors
from variorum.sync.planning import Plan, planned
from variorum.sync.target import Target
from variorum.sync.terming import make_ready, stage_new_terms

FLUSH_ITEMS = 256
FLUSH_S = 0.1
SMALL_BATCHES = BatchLimits(max_inputs=16)
"""Finished vectors reach the store within two of these, whatever ends the run."""

ATTEMPTS = 3

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


def sync(store: Store, target: Target, clock: Clock = utc_now) -> Report:
    """Plan, embed and publish one generation, or none where nothing changed.

    A run that loses to another writer plans again from the new state; finished vectors are kept,
    so nothing is paid for twice.

    Raises:
        ConflictError: `max_tokens` would be exceeded, consent is missing, or other writers won
            every attempt.
        BusyError: another process kept the write lock.
        UnavailableError: the provider, the disk or a listing failed; nothing was published.
    """
    _require_roots(store, target)
    for attempt in range(ATTEMPTS):
        with planned(store, target, create=True) as plan:
            try:
                return _execute(plan, clock)
            except ConflictError as error:
                if error.kind != "generation-conflict" or attempt == ATTEMPTS - 1:
                    raise
    raise AssertionError("the last attempt returns or raises")


def _require_roots(store: Store, target: Target) -> None:
    """A first sync of sources that are not there leaves no empty store behind."""
    if not store.exists:
        for source in target.sources:
            next(iter(source.list()), None)


def _execute(plan: Plan, clock: Clock) -> Report:
    _require_budget(plan)
    make_ready(plan.staging.connection, plan.target.progress)
    if plan.report.changes_nothing and not plan.report.inputs.embed:
        _release(plan)
        return plan.report.with_run(elapsed_s=perf_counter() - plan.started)
    settings = plan.target.settings
    connection = plan.staging.connection
    recipe_id, model_id = register_recipe(
        connection, settings.recipe, settings.embedder.identity, settings.embedder_spec
    )
    run = _Run(plan, model_id)
    run.embed()
    if plan.report.changes_nothing:
        _release(plan)
        return run.report()
    collection_id = register_collection(connection, plan.target.tenant, plan.target.collection)
    publication = Publication(
        collection_id=collection_id,
        parent=plan.parent,
        kind="sync",
        created_at=clock().isoformat(timespec="milliseconds"),
        model_id=model_id,
        recipe_id=recipe_id,
        report={**run.report().as_fields(), "skipped": [], "unnamed": []},
        sources=plan.target.roots,
    )
    stage_new_terms(plan.staging)
    number = publish(plan.staging, publication, ANALYZER)
    return run.report(number)


def _release(plan: Plan) -> None:
    """A yes to `release` holds also where there is nothing to publish."""
    if plan.target.consent.release and plan.collection_id is not None:
        release_sources(plan.staging.connection, plan.collection_id, list(plan.target.roots))


def _require_budget(plan: Plan) -> None:
    limit = plan.target.consent.max_tokens
    windows = plan.report.windows.tokens
    needed = plan.report.tokens.embed + windows
    if limit is not None and needed > limit:
        spent = f"{windows:,} of them went into finding the chunks" if windows else "none was spent"
        raise ConflictError(
            f"this sync would embed {needed:,} tokens, more than allowed; {spent}",
            kind="over-budget",
            subject=plan.target.collection,
            expected=f"at most {limit:,} tokens",
            found=f"{needed:,} tokens",
            remedy="look at `variorum plan -v`, then raise the limit or sync fewer sources",
        )


@dataclass(slots=True)
class _Run:
    """The embedding of one plan, and what it took."""

    plan: Plan
    model_id: int
    count: CallCount = field(default_factory=CallCount)
    embed_s: float = 0.0
    done_tokens: int = 0
    finished: list[NewVector] = field(default_factory=list)
    flushed_at: float = 0.0

    def embed(self) -> None:
        """Embed every input that has no vector; hold the documents whose input is rejected."""
        started = self.flushed_at = perf_counter()
        total = self.plan.report.tokens.embed
        self.plan.target.progress("embed", 0, total)
        rejected: list[Rejected[StagedInput]] = []
        try:
            for outcome in self._outcomes():
                if isinstance(outcome, Rejected):
                    rejected.append(outcome)
                else:
                    self._keep(outcome)
                self.plan.target.progress("embed", self.done_tokens, total)
        finally:
            self._flush()
            self.embed_s = perf_counter() - started
        for outcome in rejected:
            self._hold(outcome)

    def _outcomes(self) -> Iterator[Embedded[StagedInput] | Rejected[StagedInput]]:
        inputs = ((staged, staged.text) for staged in self.plan.staging.inputs_to_embed())
        embedder = self.plan.target.settings.embedder
        return embed_in_order(embedder, inputs, limits=SMALL_BATCHES, count=self.count)

    def _keep(self, outcome: Embedded[StagedInput]) -> None:
        self.done_tokens += outcome.key.tokens
        self.finished.append(NewVector(outcome.key.key, outcome.key.tokens, outcome.vector))
        now = perf_counter()
        if len(self.finished) >= FLUSH_ITEMS or now - self.flushed_at >= FLUSH_S:
            self._flush()

    def _flush(self) -> None:
        if self.finished:
            precision = self.plan.target.settings.precision
            record_vectors(self.plan.staging.connection, self.model_id, self.finished, precision)
            self.finished.clear()
        self.flushed_at = perf_counter()

    def _hold(self, outcome: Rejected[StagedInput]) -> None:
        for document, _ in self.plan.staging.documents_with_input(outcome.key.key):
            held = Held(document, "input-rejected", message=outcome.reason)
            self.plan.withdraw(document, held)

    def report(self, generation: int | None = None) -> Report:
        """The plan's report with what this run measured."""
        return self.plan.report.with_run(
            generation=generation,
            embedder_calls=self.count.calls,
            embed_s=self.embed_s,
            elapsed_s=perf_counter() - self.plan.started,
        )
