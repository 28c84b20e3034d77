"""The plan: what a sync would do, staged and priced, with nothing written to the store."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter

from variorum.chunking import render
from variorum.formats import BinaryContentError, UndecodableError, decode, parser_of
from variorum.records.changes import Compared
from variorum.records.errors import BugError, DamagedError, InputError
from variorum.records.layout import Layout, PreviousLayout, Recipe, input_key
from variorum.records.names import DocumentName
from variorum.records.protocols import Source
from variorum.records.reports import (
    DerivedCounts,
    DocumentCounts,
    Fallback,
    Held,
    PlannedDocument,
    Report,
    SkippedPath,
    WindowCounts,
)
from variorum.records.text import Revision
from variorum.store.counting import count_plan, planned_documents
from variorum.store.granting import unnamed_documents
from variorum.store.manifests import ManifestRow
from variorum.store.publish import find_recipe
from variorum.store.removals import newest_removal
from variorum.store.staged_derived import count_outputs, forget_unneeded
from variorum.store.staging import StagedRevision, Staging
from variorum.store.store import Store, require_released
from variorum.sync.compare import Comparison, Found, is_laid_out
from variorum.sync.deriving import stage_lacking
from variorum.sync.laying import Laid, Task, in_order, lay
from variorum.sync.scoping import Known, scope_of
from variorum.sync.standing import Roots, orphaned, require_droppable, shared_roots
from variorum.sync.target import Target
from variorum.sync.windows import Windows

FAULTS_OF_A_DOCUMENT = frozenset(
    {"binary", "undecodable", "block-too-large", "window-rejected", "bad-front-matter"}
)
"""Refusals that hold one document; any other is a fault of the run."""

NO_WINDOWS = WindowCounts()


@dataclass(slots=True)
class Plan:
    """A staged plan. `report` is its promise; `documents` prices each document."""

    target: Target
    store: Store
    staging: Staging
    collection_id: int | None
    parent: int | None
    comparisons: list[Comparison]
    windows: Windows
    roots: Roots
    parent_documents: Counter[str]
    removal: int
    compared: list[Compared] = field(default_factory=list)
    report: Report = field(init=False)
    withdrawn: list[Held] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    def documents(self) -> Iterator[PlannedDocument]:
        """What happens to each document that the plan touches."""
        return planned_documents(self.staging)

    def note_held(self, held: Held) -> None:
        """Hold a document that the plan leaves as it is, and count the plan again."""
        if all(other.document != held.document for other in self.held):
            self.withdrawn.append(held)
        self.count()

    def withdraw(self, document: DocumentName, held: Held) -> None:
        """Hold a document whose input the model rejected, and count the plan again."""
        self.staging.withdraw(document)
        forget_unneeded(self.staging)
        if all(other.document != document for other in self.held):
            self.withdrawn.append(held)
        self.count()

    @property
    def held(self) -> tuple[Held, ...]:
        """Documents held by their listing, then those held by the model."""
        listed = (held for comparison in self.comparisons for held in comparison.held)
        return (*listed, *self.withdrawn)

    def count(self) -> None:
        """Count the staged rows into `report`."""
        counts = count_plan(self.staging, self.collection_id)
        actions = self.staging.actions()
        dropped, orphans = orphaned(self.target, self.parent_documents, self.roots)
        self.report = Report(
            collection=self.target.collection,
            parent=self.parent,
            generation=None,
            documents=DocumentCounts(
                added=actions.get("added", 0),
                changed=actions.get("changed", 0),
                unchanged=sum(comparison.unchanged for comparison in self.comparisons),
                removed=actions.get("removed", 0),
                held=len(self.held),
            ),
            inputs=counts.inputs,
            tokens=counts.tokens,
            windows=self.windows.counts,
            derived=self._outputs(),
            recompute_fraction=counts.recompute_fraction,
            embedded_fraction=counts.embedded_fraction,
            held=self.held,
            skipped=tuple(skipped for c in self.comparisons for skipped in c.skipped),
            fallbacks=tuple(self.fallbacks),
            unnamed=tuple(unnamed_documents(self.staging.connection, self.collection_id)),
            dropped=dropped,
            orphaned=orphans,
            shared_roots=shared_roots(self._roots_after()),
            compared=tuple(self.compared),
            elapsed_s=perf_counter() - self.started,
        )

    def _outputs(self) -> DerivedCounts:
        if not self.target.derive:
            return DerivedCounts()
        return count_outputs(self.staging, self.collection_id)

    def _roots_after(self) -> dict[str, str]:
        """The root of every source that has documents once this is published."""
        roots = {
            name: root for name, (root, _) in self.roots.items() if self.parent_documents[name]
        }
        for comparison in self.comparisons:
            if comparison.listed:
                roots[comparison.source.name] = self.target.roots[comparison.source.name]
            else:
                roots.pop(comparison.source.name, None)
        return {name: root for name, root in roots.items() if name not in self.target.dropped}


@contextmanager
def planned(
    store: Store, target: Target, *, create: bool = False, spent: WindowCounts = NO_WINDOWS
) -> Iterator[Plan]:
    """Stage the plan for `target`; it is gone when the block ends. Writes nothing but windows.

    With `create` windows are kept in the store. `spent` is what the run's earlier plans came to.

    Raises:
        ConflictError: a restore holds a source, a listing shrank without consent, or a source to
            drop is configured.
        NotFoundError: a source's root is not there, or no source has the name to drop.
        UnavailableError: a listing broke off.
    """
    with store.connection(create=create) as connection:
        with connection.begin():
            removal = newest_removal(connection)  # First: what is read from here on is guarded.
        collection_id, parent = store.head(target.tenant, target.collection)
        roots = store.sources(collection_id)
        _require_released(target, roots)
        recipe = target.settings.recipe
        recipe_id, _ = find_recipe(connection, recipe.fingerprint, recipe.model)
        staging = Staging(connection, target.tenant, recipe_id)
        known = staging.open_rows(collection_id, store.known_rows(connection, collection_id))
        store.remember_rows(connection, collection_id, known)
        rows = list(known.values())
        documents = Counter(row.document.source for row in rows)
        require_droppable(target, documents, roots)
        windows = Windows(store, target, keep=create, counts=spent)
        try:
            plan = Plan(
                target,
                store,
                staging,
                collection_id,
                parent,
                [],
                windows,
                roots,
                documents,
                removal,
            )
            with staging.batches():
                _stage_sources(plan, rows, recipe_id)
                _stage_other_sources(plan, rows, recipe_id)
            staging.forget_known_texts()
            stage_lacking(staging, target.tenant, collection_id, target.derive)
            plan.count()
            yield plan
        finally:
            windows.close()
            staging.drop()


def _require_released(target: Target, known: Roots) -> None:
    names = [*(source.name for source in target.sources), *target.dropped]
    if not target.consent.release:
        require_released([name for name in names if name in known and known[name][1]])


def _stage_sources(plan: Plan, rows: list[ManifestRow], recipe_id: int) -> None:
    denials = plan.store.denials(plan.collection_id)
    for source in plan.target.sources:
        mine = {row.document.path: row for row in rows if row.document.source == source.name}
        only = _scoped(plan, source, mine, recipe_id)
        comparison = Comparison(
            source,
            mine if only is None else {path: mine[path] for path in only & mine.keys()},
            recipe_id,
            everything=plan.target.relayout,
            denials=denials,
            only=only,
            others=0 if only is None else len(mine.keys() - only),
        )
        plan.comparisons.append(comparison)
        _stage_changes(plan, comparison)
        plan.target.progress("plan", comparison.listed, comparison.listed)
        comparison.require_consent(
            empty=plan.target.consent.empty, shrink=plan.target.consent.shrink
        )
        for row in comparison.removed:
            plan.staging.stage_removal(row.document, row.id)
        for row in comparison.held_rows:
            _relay(plan, row, recipe_id)


def _scoped(
    plan: Plan, source: Source, rows: Mapping[bytes, ManifestRow], recipe_id: int
) -> frozenset[bytes] | None:
    """The paths to look at, where a list of changes is given and enough; else None."""
    if plan.target.changes is None:
        return None
    known = Known(
        rows=rows,
        held=frozenset(
            one.document.path
            for one in plan.store.held(plan.collection_id)
            if one.document.source == source.name
        ),
        rules=plan.store.rules(plan.collection_id).get(source.name),
        is_current=lambda row: is_laid_out(row, recipe_id),
        content=lambda row: plan.staging.content(row.revision_id),
        everything=_why_all(plan, source.name),
        roots=tuple(one.root for one in plan.target.sources),
    )
    scope = scope_of(source, plan.target.changes, plan.target.base, known)
    plan.compared.append(scope.compared)
    return scope.only


def _why_all(plan: Plan, source: str) -> str:
    """Why no list of changes could be enough, if it could not."""
    root, is_restored = plan.roots.get(source, ("", False))
    if plan.target.relayout:
        return "relayout"
    if is_restored:
        return "restored"
    return "" if root == plan.target.roots.get(source) else "never-listed"


def _stage_other_sources(plan: Plan, rows: list[ManifestRow], recipe_id: int) -> None:
    """Remove what is dropped; what is not listed is laid out again where the recipe changed.

    A generation has one recipe.
    """
    heard, dropped = plan.target.heard, plan.target.dropped
    for row in rows:
        if row.document.source in dropped:
            plan.staging.stage_removal(row.document, row.id)
        elif row.document.source not in heard:
            _relay(plan, row, recipe_id, action="changed")


def _relay(plan: Plan, row: ManifestRow, recipe_id: int, action: str = "held") -> None:
    if is_laid_out(row, recipe_id):
        return
    content = plan.staging.content(row.revision_id)
    revision = Revision(content, row.content_type, row.sha256)
    staged = _staged(row.document, action, revision, row.metadata, row)
    if plan.staging.reuse_layout(staged):
        return
    try:
        laid = lay(Task(revision), plan.target.settings, plan.windows.vectors)
    except InputError as error:
        _keep_layout(plan, row, error)
    else:
        _stage_layout(plan, replace(staged, outline=laid.outline), laid)


def _keep_layout(plan: Plan, row: ManifestRow, error: InputError) -> None:
    """Hold a document that the new recipe refuses, in the layout that it has."""
    if error.kind not in FAULTS_OF_A_DOCUMENT:
        raise error
    if all(held.document != row.document for held in plan.held):
        plan.withdrawn.append(Held(row.document, error.kind, message=error.message))


def _stage_changes(plan: Plan, comparison: Comparison) -> None:
    """Lay out what the comparison finds, several documents at once, and stage it in order."""
    tasks = ((found, _task(plan, found)) for found in comparison.changes())
    settings, embed = plan.target.settings, plan.windows.vectors
    give_up = plan.windows.give_up
    for (found, _), laid in in_order(tasks, lambda pair: lay(pair[1], settings, embed), give_up):
        try:
            _stage_found(plan, comparison, found, laid.result())
        except InputError as error:
            _note_fault(comparison, found, error)
        plan.target.progress("plan", comparison.listed, None)


def _note_fault(comparison: Comparison, found: Found, error: InputError) -> None:
    """Hold the document, or skip a new one that is no text; raise what is no document's fault."""
    if isinstance(error, BinaryContentError) and found.row is None:
        comparison.skipped.append(SkippedPath(found.document, error.kind, error.found))
        return
    if error.kind not in FAULTS_OF_A_DOCUMENT:
        raise error
    position = error.position if isinstance(error, UndecodableError) else None
    comparison.hold(Held(found.document, error.kind, position, error.message), found.row)


def _task(plan: Plan, found: Found) -> Task:
    if plan.target.relayout:
        return Task(found.revision)
    if plan.staging.knows_layout(_staged(found.document, "", found.revision, {}, found.row)):
        return Task(found.revision, is_known=True)
    recipe = plan.target.settings.recipe
    return Task(found.revision, _previous(plan.staging, recipe, found.row))


def _stage_found(plan: Plan, comparison: Comparison, found: Found, laid: Laid) -> None:
    metadata = {**laid.metadata, "source": dict(found.metadata)}
    action = "added" if found.row is None else "changed"
    staged = _staged(found.document, action, found.revision, metadata, found.row)
    staged = replace(staged, outline=laid.outline)
    if laid.fallback:
        plan.fallbacks.append(Fallback(found.document, laid.fallback))
    if plan.target.relayout:
        _stage_anew(plan, comparison, found, staged, laid)
    elif not plan.staging.reuse_layout(staged):
        _stage_layout(plan, staged, laid)


def _stage_anew(
    plan: Plan, comparison: Comparison, found: Found, staged: StagedRevision, laid: Laid
) -> None:
    """Stage the layout of a fresh index, by the stored one where that is equal."""
    if plan.staging.share_layout(staged):
        return
    stored = plan.staging.newest_layout(staged)
    fresh = laid.layout.chunks if laid.layout else ()
    if stored is None or plan.staging.chunks(stored) != fresh:
        _stage_layout(plan, staged, laid)
    elif found.unchanged and found.row is not None and found.row.layout_id == stored:
        comparison.unchanged += 1
    else:
        plan.staging.reuse_layout(staged)


def _staged(
    document: DocumentName,
    action: str,
    revision: Revision,
    metadata: Mapping[str, Mapping[str, object]],
    row: ManifestRow | None,
) -> StagedRevision:
    return StagedRevision(
        document=document,
        action=action,
        content=revision.content,
        sha256=revision.sha256,
        content_type=revision.content_type,
        parser=parser_of(revision.content_type),
        metadata=metadata,
        closes=None if row is None else row.id,
    )


def _stage_layout(plan: Plan, staged: StagedRevision, laid: Laid) -> None:
    layout = laid.layout
    if layout is None:
        raise BugError(
            "a layout that was stored is gone",
            kind="layout-gone",
            subject=str(staged.document),
            remedy="run the command again, and report this",
        )
    keys = _keys(plan.target.tenant, plan.target.settings.recipe, layout)
    plan.staging.stage_layout(staged, layout.chunks, keys, layout.inputs)


def _keys(tenant: str, recipe: Recipe, layout: Layout) -> list[bytes]:
    return [input_key(tenant, recipe.model, "passage", text) for text in layout.inputs]


def _previous(staging: Staging, recipe: Recipe, row: ManifestRow | None) -> PreviousLayout | None:
    """The old layout, for the reuse planner; a change of recipe ignores it (invariant 11)."""
    if row is None or not recipe.planner or not is_laid_out(row, staging.recipe_id):
        return None
    return previous_layout(staging, row)


def previous_layout(staging: Staging, row: ManifestRow) -> PreviousLayout | None:
    """A row's text and layout; None where damage keeps them from being read.

    What replaces a damaged revision is laid out as a fresh index would, and published.
    """
    try:
        content = staging.content(row.revision_id)
        chunks = staging.chunks(row.layout_id)
    except DamagedError:
        return None
    old = decode(Revision(content, row.content_type, row.sha256))
    inputs = (render(one.prefix, old.characters[one.start : one.end]) for one in chunks)
    return PreviousLayout(old.characters, Layout(chunks, tuple(inputs)))
