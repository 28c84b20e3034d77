"""Carrying a plan out: embed what has no vector, keep each as it arrives, publish once."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter

from variorum.analysis import ANALYZER
from variorum.embedding.jobs import CallCount, Embedded, Outcome, Rejected, embed_and_keep
from variorum.records.errors import ConflictError, UnavailableError, VariorumError
from variorum.records.reports import Held, Report, WindowCounts
from variorum.sources.folder import FolderSource
from variorum.store.derived import DERIVATIONS
from variorum.store.generations import RULES
from variorum.store.leases import leases
from variorum.store.publish import (
    Publication,
    publish,
    register_collection,
    register_recipe,
    release_sources,
)
from variorum.store.removals import require_nothing_removed
from variorum.store.staged_derived import documents_with, forget_output, output_keys
from variorum.store.staged_terms import TermsTakenError
from variorum.store.staging import StagedInput
from variorum.store.standing import settle
from variorum.store.store import Store
from variorum.store.vectors import NewVector, record_vectors
from variorum.sync.costing import document_costs
from variorum.sync.deriving import Deriving
from variorum.sync.planning import Plan, planned
from variorum.sync.probing import keep_or_compare
from variorum.sync.sharing import Shared
from variorum.sync.spending import NOTHING_TO_PUBLISH, LostAttempts, note, noted
from variorum.sync.target import Target
from variorum.sync.terming import make_ready, stage_new_terms

ATTEMPTS = 3
DERIVE_FAILED = "derive-failed"
"""Why a document is held of which a user's function could not make an output."""

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
    windows = WindowCounts()
    lost = LostAttempts()
    for attempt in range(ATTEMPTS):
        with planned(store, target, create=True, spent=windows) as plan:
            try:
                return lost.told(_execute(plan, clock, lost))
            except ConflictError as error:
                windows = plan.windows.counts
                if error.kind != "generation-conflict" or attempt == ATTEMPTS - 1:
                    raise
    raise AssertionError("the last attempt returns or raises")


def _require_roots(store: Store, target: Target) -> None:
    """A first sync of sources that are not there leaves no empty store behind."""
    if not store.exists:
        for source in target.sources:
            next(iter(source.list()), None)


def _execute(plan: Plan, clock: Clock, lost: LostAttempts) -> Report:
    _require_budget(plan, lost.tokens)
    make_ready(plan.staging.connection, plan.target.progress)
    if plan.report.changes_nothing and not (plan.report.inputs.embed or plan.report.derived.run):
        _settle(plan)
        return plan.report.with_run(elapsed_s=perf_counter() - plan.started)
    settings = plan.target.settings
    connection = plan.staging.connection
    recipe_id, model_id = register_recipe(
        connection, settings.recipe, settings.embedder.identity, settings.embedder_spec
    )
    run = _Run(plan, model_id)
    now = clock()
    with lost.counted(run), noted(plan, run, now):
        run.embed()
        run.derive()
        if not plan.report.changes_nothing:
            with _noticing_removals(plan):
                return run.report(_publish(plan, run, recipe_id, now))
    note(plan, run, now, NOTHING_TO_PUBLISH)
    _settle(plan)
    return run.report()


@contextmanager
def _noticing_removals(plan: Plan) -> Iterator[None]:
    """What trips over rows that are gone says that they were taken out, if they were.

    Raises:
        ConflictError: something was, since the plan was begun.
    """
    try:
        yield
    except VariorumError:
        raise
    except Exception:
        with plan.staging.connection.begin():
            require_nothing_removed(plan.staging.connection, plan.removal)
        raise


def _publish(plan: Plan, run: "_Run", recipe_id: int, now: datetime) -> int:
    connection = plan.staging.connection
    publication = Publication(
        collection_id=register_collection(connection, plan.target.tenant, plan.target.collection),
        parent=plan.parent,
        kind=plan.target.kind,
        created_at=now.isoformat(timespec="milliseconds"),
        model_id=run.model_id,
        recipe_id=recipe_id,
        # Names stand in documents' rows alone, so that an erasure finds them.
        report={
            **run.report().as_fields(),
            "skipped": [],
            "compared": [],
            "unnamed": [],
            RULES: _rules(plan),
            DERIVATIONS: dict(one.named for one in plan.target.derive),
        },
        sources=plan.target.roots,
        held=plan.held,
        dropped=plan.target.dropped,
        costs=document_costs(plan, run.embed_s),
        removal=plan.removal,
    )
    for _ in range(ATTEMPTS - 1):
        stage_new_terms(plan.staging)
        with suppress(TermsTakenError):
            return publish(plan.staging, publication, ANALYZER)
    stage_new_terms(plan.staging)
    return publish(plan.staging, publication, ANALYZER)


def _rules(plan: Plan) -> dict[str, str]:
    """By what rules each source was listed last: a list of changes holds under the same alone."""
    rules = dict(plan.store.rules(plan.collection_id))
    for source in plan.target.sources:
        rules.pop(source.name, None)
        if isinstance(source, FolderSource):
            rules[source.name] = source.rules
    return rules


def _with_what_is_kept(error: UnavailableError, count: CallCount, total: int) -> UnavailableError:
    """The same error, which also says what the run has to show for its calls."""
    left = total - count.embedded
    return UnavailableError(
        f"{error.message}; nothing was published, {count.embedded} of {total} inputs are kept",
        kind=error.kind,
        subject=error.subject,
        expected=error.expected,
        found=error.found,
        remedy=f"{error.remedy}; the next sync embeds the {left} that are left",
    )


def _settle(plan: Plan) -> None:
    """Where there is nothing to publish: a yes to `release`, what is held now, what is dropped."""
    if plan.collection_id is None:
        return
    target, connection = plan.target, plan.staging.connection
    if target.consent.release:
        release_sources(connection, plan.collection_id, list(target.roots))
    settle(connection, plan.collection_id, target.heard, plan.held, target.dropped)


def _require_budget(plan: Plan, lost_tokens: int) -> None:
    limit = plan.target.consent.max_tokens
    windows = plan.report.windows.tokens
    needed = plan.report.tokens.embed + windows + lost_tokens
    if limit is not None and needed > limit:
        spent = f"{windows:,} of them went into finding the chunks" if windows else "none was spent"
        if lost_tokens:
            spent = f"{lost_tokens + windows:,} of them are spent already"
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
    done_inputs: int = 0
    done_tokens: int = 0
    made_outputs: int = 0
    dropped_outputs: int = 0
    rejected: list[Rejected[StagedInput]] = field(default_factory=list)

    def embed(self) -> None:
        """Embed every input that has no vector; hold the documents whose input is rejected.

        Inputs that another writer is at are waited for, with nothing of this run's in the way.
        """
        started = perf_counter()
        total = self.plan.report.tokens.embed
        self.plan.target.progress("embed", 0, total)
        try:
            if self.plan.report.inputs.embed:
                self._embed()
        except UnavailableError as error:
            raise _with_what_is_kept(error, self.count, self.plan.report.inputs.embed) from error
        finally:
            self.embed_s = perf_counter() - started
        if self.plan.staging.forget_unsent():
            self.plan.count()
        self._hold_rejected()

    def _embed(self) -> None:
        staging, settings = self.plan.staging, self.plan.target.settings
        keep_or_compare(staging.connection, settings, self.model_id)
        with leases(staging.connection, self.plan.store.folder) as mine:
            Shared(mine, staging.inputs_to_embed, mine.elsewhere).rounds(self._embed_claimed)

    def _embed_claimed(self, claimed: Iterator[StagedInput]) -> None:
        inputs = ((staged, staged.text) for staged in claimed)
        embedder = self.plan.target.settings.embedder
        embed_and_keep(
            embedder, inputs, self._keep, count=self.count, tokens=lambda one: one.tokens
        )

    def _keep(self, outcomes: Sequence[Outcome[StagedInput]]) -> None:
        """Keep what the model answered; inputs that it refuses are set aside."""
        staging, settings = self.plan.staging, self.plan.target.settings
        fresh = [
            NewVector(one.key.key, one.key.tokens, one.vector)
            for one in outcomes
            if isinstance(one, Embedded)
        ]
        if fresh:
            record_vectors(staging.connection, self.model_id, fresh, settings.precision)
        staging.note_sent([one.key.key for one in outcomes])
        self.done_inputs += len(fresh)
        self.done_tokens += sum(one.tokens for one in fresh)
        self.rejected += [one for one in outcomes if isinstance(one, Rejected)]
        total = self.plan.report.tokens.embed
        self.plan.target.progress("embed", self.done_tokens, total)

    def _hold_rejected(self) -> None:
        """Hold the documents of refused inputs, in the order of their names."""
        found = {
            document: outcome.reason
            for outcome in self.rejected
            for document, _ in self.plan.staging.documents_with_input(outcome.key.key)
        }
        for document, reason in sorted(found.items()):
            held = Held(document, "input-rejected", message=reason)
            self.plan.withdraw(document, held)

    def derive(self) -> None:
        """Run the functions over what they were not run over; hold the documents of a failure.

        A document that is held already stays so without the output.
        """
        plan, staging, wanted = self.plan, self.plan.staging, self.plan.target.derive
        if not wanted:
            return
        total = plan.report.derived.run
        deriving = Deriving(staging, wanted, plan.removal, plan.target.progress, total)
        deriving.run(plan.store.folder)
        self.made_outputs = len(deriving.made)
        for key, reason in deriving.failures.items():
            for document, is_staged in documents_with(
                staging, plan.collection_id, *forget_output(staging, key)
            ):
                held = Held(document, DERIVE_FAILED, message=reason)
                if is_staged:
                    plan.withdraw(document, held)
                else:
                    plan.note_held(held)
        if deriving.failures:
            self.dropped_outputs = len(deriving.made - output_keys(staging))

    @property
    def calls(self) -> int:
        """Calls of the model."""
        return self.count.calls

    def report(self, generation: int | None = None) -> Report:
        """The plan's report with what this run measured."""
        derived = self.plan.report.derived
        return self.plan.report.with_run(
            generation=generation,
            derived=derived.after(self.made_outputs, self.dropped_outputs),
            embedder_calls=self.count.calls,
            embed_s=self.embed_s,
            elapsed_s=perf_counter() - self.plan.started,
        )
