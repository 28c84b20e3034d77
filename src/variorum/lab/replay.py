"""`lab replay`: what each strategy would have embedded over a repository's own history."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from variorum.lab.comparison import Document, recompute_scores
from variorum.lab.own_history import Window, own_history
from variorum.lab.pool import measure_all
from variorum.lab.recompute import Study, compared, study_run, write_study
from variorum.lab.record import Cell, Table
from variorum.lab.statistics import Estimate, estimate, paired
from variorum.lab.subjects import subjects
from variorum.lab.trial import Settings
from variorum.records.protocols import Progress
from variorum.sources.git import Selection
from variorum.sources.git_place import GitPlace

STRATEGIES = (
    "fixed(max_tokens=304)",
    "recursive(max_tokens=400)",
    "structural",
    "content_defined",
    "anchored(max_tokens=512, min_tokens=170)",
    "anchored",
    "anchored+planner",
)
"""What is replayed where nothing is named: common settings, then this library's own."""

_YEAR_DAYS = 365


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one strategy embeds over all edits of some documents.

    `full` is what embedding every changed version whole takes, `recomputed` what the inputs of the
    previous version do not spare, `unseen` what no earlier version of the document spares, `floor`
    the least that the previous layouts allow (None where chunks overlap).
    """

    edits: int
    full: int
    recomputed: int
    unseen: int
    edited: int
    floor: int | None
    vectors: int

    def usd(self, price: float | None) -> float | None:
        """Money at a price for a million tokens."""
        return None if price is None else self.recomputed * price / 1e6


@dataclass(frozen=True, slots=True)
class Choice:
    """The strategy that embedded least, and how sure that is against the next one."""

    spec: str
    recomputed: int
    next_spec: str
    difference: Estimate | None

    @property
    def sentence(self) -> str:
        """The choice with its evidence."""
        if self.difference is None:
            return f"{self.spec} embeds least; there is nothing to compare it with."
        low, high = self.difference.over_documents
        mean = 100 * float(self.difference.mean)
        sure = "beyond" if self.difference.over_documents.excludes_zero else "within"
        return (
            f"{self.spec} embeds least: {self.recomputed:,} tokens. Against {self.next_spec} its"
            f" recompute fraction differs by {mean:+.1f} points a document"
            f" ({100 * low:+.1f} to {100 * high:+.1f}), {sure} the interval."
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replayed window: the study's tables with those of the replay, and the choice."""

    window: Window
    study: Study
    choice: Choice
    totals: dict[str, Tokens]


def replay(
    place: GitPlace,
    specs: Sequence[str],
    settings: Settings,
    folder: Path,
    progress: Progress,
    *,
    command: str,
    last: int | None = None,
    since: str | None = None,
    price: float | None = None,
    selection: Selection | None = None,
    workers: int | None = None,
) -> Replayed:
    """Replay a repository's history under every strategy and write tables to `folder`.

    Raises:
        InputError: a chunker or the window is not sound.
        NotFoundError: no such repository or revision.
        UnavailableError: git refuses the repository.
        UnsupportedError: git or the model is not installed.
    """
    chosen = subjects(specs)
    names = [one.spec for one in chosen]
    window = own_history(place, selection or Selection(), last=last, since=since)
    results = measure_all(window.histories, names, settings, folder, progress, workers)
    run = study_run(command, {f"git {window.repository}": window.tip}, settings, chosen)
    study = compared(run, names, window.histories, results)
    documents = [one for one in study.documents if not one.measured.excluded]
    totals = {spec: tokens(documents, spec) for spec in names}
    best = choice(documents, names, totals)
    more = [_strategies(window, totals, price), _documents(documents, names, window, price)]
    more.append(_left_out(window))
    study = Study(run, study.specs, study.documents, (*more, *study.tables), results)
    write_study(folder, study, settings)
    return Replayed(window, study, best, totals)


def tokens(documents: Sequence[Document], spec: str) -> Tokens:
    """The sums of a strategy over the documents that it succeeded on."""
    good = [one for one in documents if one.succeeded(spec)]
    steps = [step for one in good for step in one.tried(spec).steps]
    bounded = all(step.kept is not None for step in steps)
    floors = [step.text - step.kept for step in steps if step.kept is not None]
    return Tokens(
        edits=len(steps),
        full=sum(step.total for step in steps),
        recomputed=sum(step.recomputed for step in steps),
        unseen=sum(step.unseen for step in steps),
        edited=sum(step.edited for step in steps),
        floor=sum(floors) if bounded else None,
        vectors=sum(one.tried(spec).steps[-1].inputs for one in good),
    )


def choice(
    documents: Sequence[Document], specs: Sequence[str], totals: dict[str, Tokens]
) -> Choice:
    """The strategy with the fewest tokens among those that failed nowhere, with its evidence."""
    whole = [spec for spec in specs if all(one.succeeded(spec) for one in documents)] or list(specs)
    ordered = sorted(whole, key=lambda spec: (totals[spec].recomputed, specs.index(spec)))
    best = ordered[0]
    if len(ordered) == 1 or not documents:
        return Choice(best, totals[best].recomputed, "", None)
    ours, theirs = (recompute_scores(documents, spec) for spec in ordered[:2])
    return Choice(best, totals[best].recomputed, ordered[1], estimate(paired(ours, theirs)))


_TOKEN_COLUMNS = ("edits", "full", "recomputed", "unseen", "floor", "edited", "vectors")


def _strategies(window: Window, totals: dict[str, Tokens], price: float | None) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            spec,
            *_token_cells(one),
            Fraction(one.recomputed, max(1, one.full)),
            one.usd(price),
            _a_year(one.usd(price), window.days),
        )
        for spec, one in totals.items()
    ]
    columns = ("chunker", *_TOKEN_COLUMNS, "update_to_full_ratio", "usd", "usd_a_year")
    note = (
        f"{window.commits} commits over {window.days:.1f} days, tip {window.tip[:12]}; full is"
        " every changed version embedded whole"
    )
    title = "Tokens that each strategy embeds over the history"
    return Table("strategies", title, columns, tuple(rows), (note,))


def _token_cells(one: Tokens) -> tuple[Cell, ...]:
    return (one.edits, one.full, one.recomputed, one.unseen, one.floor, one.edited, one.vectors)


def _a_year(usd: float | None, days: float) -> float | None:
    return None if usd is None or days < 1 else usd * _YEAR_DAYS / days


def _documents(
    documents: Sequence[Document], specs: Sequence[str], window: Window, price: float | None
) -> Table:
    """Each document under each strategy, the one that costs the first strategy most on top."""
    rows: list[tuple[Cell, ...]] = []
    costs = {one.history.document: tokens([one], specs[0]).recomputed for one in documents}
    for one in sorted(documents, key=lambda one: -costs[one.history.document]):
        for spec in specs:
            if one.succeeded(spec):
                found = tokens([one], spec)
                money = found.usd(price)
                year = _a_year(money, window.days)
                rows.append((one.history.document, spec, *_token_cells(found), money, year))
    columns = ("document", "chunker", *_TOKEN_COLUMNS, "usd", "usd_a_year")
    return Table("documents", "What each document's edits cost", columns, tuple(rows))


def _left_out(window: Window) -> Table:
    title = "Documents without a history here"
    return Table("left_out", title, ("document", "reason"), window.left_out)
