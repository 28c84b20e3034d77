"""From documents' counts to tables: means, differences, ratios, bands, sizes, failures.

A set is the documents of one shape and cohort; sets are never averaged together, nor are languages.
Each table says how many documents stand behind a number, of how many. The pool `all` takes every
document that a chunker succeeded on, the pool `common` only those that all of them did.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from statistics import median, pstdev

from variorum.lab.atoms import BANDS
from variorum.lab.costs import Step
from variorum.lab.histories import History
from variorum.lab.record import Cell, Table
from variorum.lab.statistics import (
    Estimate,
    Ratio,
    Score,
    estimate,
    language_estimates,
    mean,
    paired,
    ratios,
)
from variorum.lab.trial import Measured, Tried
from variorum.records.errors import InputError

NATURAL_WEIGHTS = {
    "small": Fraction(88, 100),
    "medium": Fraction(9, 100),
    "large": Fraction(24, 1000),
    "extreme": Fraction(7, 1000),
}
"""How often edits of each band occur in public histories, of 78,973 pairs of revisions."""

Value = Callable[[Step], Fraction | None]
STEP_MEASURES: dict[str, Value] = {
    "recompute_fraction": lambda step: step.recompute_fraction,
    "embedded_fraction": lambda step: step.embedded_fraction,
    "floor": lambda step: step.floor,
    "excess_over_floor": lambda step: step.excess_over_floor,
    "waste_ratio": lambda step: step.waste_ratio,
    "verbatim_presence": lambda step: step.verbatim_presence,
    "vectors_per_thousand_tokens": lambda step: step.vectors_per_thousand_tokens,
}
"""Measures that each revision has a value of, or none."""


@dataclass(frozen=True, slots=True)
class Document:
    """A history with its results."""

    history: History
    measured: Measured

    @property
    def set_name(self) -> str:
        """The set that it belongs to."""
        return f"{self.history.shape} {self.history.cohort}"

    def score(self, value: Fraction) -> Score:
        """A value of this document."""
        history = self.history
        return Score(history.document, history.language, history.repository, value)

    def tried(self, spec: str) -> Tried:
        """Its results under one chunker."""
        return self.measured.tried[spec]

    def succeeded(self, spec: str) -> bool:
        """Whether it has numbers under a chunker."""
        return not self.measured.excluded and not self.tried(spec).failure

    def scores(self, spec: str, value: Value, band: str | None = None) -> Iterator[Score]:
        """A score for each revision that has a value, in one band of edits where one is named."""
        pairs = zip(self.measured.edits, self.tried(spec).steps, strict=True)
        for counts, step in pairs:
            found = value(step)
            if found is not None and band in (None, counts.edit.band):
                yield self.score(found)

    def update_to_full(self, spec: str) -> Score:
        """Tokens of all updates over those of embedding each version in full."""
        steps = self.tried(spec).steps
        full = sum(step.total for step in steps)
        return self.score(Fraction(sum(step.recomputed for step in steps), max(1, full)))


def by_set(documents: Iterable[Document]) -> dict[str, list[Document]]:
    """The included documents of each set, in order."""
    found: dict[str, list[Document]] = defaultdict(list)
    for one in documents:
        if not one.measured.excluded:
            found[one.set_name].append(one)
    return dict(found)


def common_pool(documents: Sequence[Document], specs: Sequence[str]) -> list[Document]:
    """The documents that every chunker succeeded on."""
    return [one for one in documents if all(one.succeeded(spec) for spec in specs)]


def check_controls(documents: Iterable[Document], specs: Sequence[str]) -> None:
    """Stop where a version against itself embedded anything.

    Raises:
        InputError: kind `no-edit-control`.
    """
    wrong = [
        (one.history.document, spec, one.tried(spec).control)
        for one in documents
        if not one.measured.excluded
        for spec in specs
        if one.tried(spec).control
    ]
    if wrong:
        document, spec, tokens = wrong[0]
        raise InputError(
            f"{spec} cuts {document} in two ways: {tokens} tokens embedded where nothing changed",
            kind="no-edit-control",
            subject=f"{document} {spec}",
            expected="0 tokens, for every document and chunker",
            found=f"{len(wrong)} of the controls fail",
            remedy="leave the chunker out; its numbers would measure chance",
        )


def means(documents: Sequence[Document], specs: Sequence[str]) -> Table:
    """Every measure of every chunker, a row each, with both intervals."""
    rows: list[tuple[Cell, ...]] = []
    for name, ours in by_set(documents).items():
        for pool, chosen in (("all", ours), ("common", common_pool(ours, specs))):
            for spec in specs:
                rows += _mean_rows((name, pool), spec, ours, chosen)
    columns = ("set", "pool", "language", "chunker", "succeeded", "all", "measure")
    return Table("means", "Means of documents", (*columns, *INTERVALS), tuple(rows))


INTERVALS = (
    "documents",
    "repositories",
    "mean",
    "low",
    "high",
    "low_by_repository",
    "high_by_repository",
)
"""The columns of an estimate: what stands behind it, the mean, and both intervals."""
_NOTHING: tuple[Cell, ...] = (0, 0, None, None, None, None, None)


def _mean_rows(
    keys: tuple[str, str], spec: str, ours: Sequence[Document], chosen: Sequence[Document]
) -> Iterator[tuple[Cell, ...]]:
    good = [one for one in chosen if one.succeeded(spec)]
    every = Counter(one.history.language for one in ours)
    succeeded = Counter(one.history.language for one in good)
    for measure, scores in _all_scores(good, spec).items():
        found = language_estimates(scores)
        for language in sorted(every):
            before = (*keys, language, spec, succeeded[language], every[language], measure)
            one_estimate = found.get(language)
            yield (*before, *(estimate_cells(one_estimate) if one_estimate else _NOTHING))


def _all_scores(good: Sequence[Document], spec: str) -> dict[str, list[Score]]:
    scores = {
        name: [score for one in good for score in one.scores(spec, value)]
        for name, value in STEP_MEASURES.items()
    }
    scores["update_to_full_ratio"] = [one.update_to_full(spec) for one in good]
    return scores


def estimate_cells(found: Estimate | Ratio) -> tuple[Cell, ...]:
    """The cells of an estimate, as in `INTERVALS`."""
    return (
        found.documents,
        found.repositories,
        found.mean,
        *(found.over_documents or (None, None)),
        *(found.over_repositories or (None, None)),
    )


def differences(documents: Sequence[Document], specs: Sequence[str]) -> Table:
    """Each chunker's R less each other's, over the documents that both succeeded on."""
    rows: list[tuple[Cell, ...]] = []
    for name, ours in by_set(documents).items():
        for measure in ("recompute_fraction", "excess_over_floor"):
            scores = {spec: recompute_scores(ours, spec, measure) for spec in specs}
            for spec, other in combinations(specs, 2):
                found = language_estimates(paired(scores[other], scores[spec]))
                rows += [
                    (name, language, measure, other, spec, *estimate_cells(one))
                    for language, one in found.items()
                ]
    columns = ("set", "language", "measure", "chunker", "less", *INTERVALS)
    return Table("differences", "Paired differences of documents", columns, tuple(rows))


def ratio_table(documents: Sequence[Document], specs: Sequence[str]) -> Table:
    """Each chunker's mean R over that of each one named behind it, of the documents of both."""
    rows: list[tuple[Cell, ...]] = []
    for name, ours in by_set(documents).items():
        scores = {spec: recompute_scores(ours, spec) for spec in specs}
        for spec, other in combinations(specs, 2):
            rows += [
                (name, language, spec, other, *estimate_cells(one))
                for language, one in ratios(scores[spec], scores[other]).items()
            ]
    columns = ("set", "language", "chunker", "over", *INTERVALS)
    return Table("ratios", "Ratios of mean recompute fractions", columns, tuple(rows))


def recompute_scores(
    documents: Iterable[Document], spec: str, measure: str = "recompute_fraction"
) -> list[Score]:
    """A measure of each revision of the documents that a chunker succeeded on."""
    value = STEP_MEASURES[measure]
    return [score for one in documents if one.succeeded(spec) for score in one.scores(spec, value)]


def bands(documents: Sequence[Document], specs: Sequence[str]) -> Table:
    """R by the size of the edit on the common pool, and reweighted to how often sizes occur."""
    rows: list[tuple[Cell, ...]] = []
    value = STEP_MEASURES["recompute_fraction"]
    for name, ours in by_set(documents).items():
        pool = common_pool(ours, specs)
        for language in sorted({one.history.language for one in pool}):
            spoken = [one for one in pool if one.history.language == language]
            for spec in specs:
                rows += _band_rows((name, language, spec), spoken, value)
    columns = ("set", "language", "chunker", "band", *INTERVALS)
    note = "natural: the bands' means weighted 88, 9, 2.4 and 0.7, as often as edits occur"
    return Table("bands", "Recompute fraction by size of edit", columns, tuple(rows), (note,))


def _band_rows(
    keys: tuple[str, str, str], spoken: Sequence[Document], value: Value
) -> Iterator[tuple[Cell, ...]]:
    found: dict[str, Fraction] = {}
    for band, _ in BANDS:
        scores = [score for one in spoken for score in one.scores(keys[2], value, band)]
        if scores:
            one_estimate = estimate(scores)
            found[band] = one_estimate.mean
            yield (*keys, band, *estimate_cells(one_estimate))
    if found:
        weights = {band: NATURAL_WEIGHTS[band] for band in found}
        total = sum(found[band] * weight for band, weight in weights.items())
        natural = total / sum(weights.values())
        yield (*keys, "natural", len(spoken), None, natural, None, None, None, None)


def sizes(documents: Sequence[Document], specs: Sequence[str]) -> Table:
    """Content tokens of chunks, and how many a document has: sizes decide R before rules do."""
    rows: list[tuple[Cell, ...]] = []
    for name, ours in by_set(documents).items():
        for language in sorted({one.history.language for one in ours}):
            spoken = [one for one in ours if one.history.language == language]
            for spec in specs:
                good = [one.tried(spec) for one in spoken if one.succeeded(spec)]
                rows.append((name, language, spec, len(good), len(spoken), *_size_cells(good)))
    columns = ("set", "language", "chunker", "succeeded", "all", *_SIZES)
    notes = (_SHORT,) if any(row[-1] == 1 for row in rows) else ()
    return Table("sizes", "Sizes of chunks in content tokens", columns, tuple(rows), notes)


_SIZES = (
    "mean_tokens",
    "median_old",
    "median_new",
    "variation",
    "smallest",
    "largest",
    "median_chunks_of_a_document",
)
_SHORT = (
    "The median document is a single chunk under some chunker: documents this short cannot tell"
    " chunkers apart."
)


def _size_cells(good: Sequence[Tried]) -> tuple[Cell, ...]:
    every = [size for one in good for version in one.sizes for size in version]
    if not every:
        return (None,) * len(_SIZES)
    middle = Fraction(sum(every), len(every))
    return (
        middle,
        median_size(good, 0),
        median_size(good, -1),
        pstdev(every) / float(middle),
        min(every),
        max(every),
        _halved(median(len(version) for one in good for version in one.sizes)),
    )


def _halved(value: float) -> Cell:
    """A median of whole numbers, which is whole or a half."""
    return int(value) if value == int(value) else Fraction(value)


def median_size(good: Iterable[Tried], version: int) -> Fraction | None:
    """The median over documents of each document's median chunk in one version."""
    found = [Fraction(median(one.sizes[version])) for one in good if one.sizes[version]]
    return Fraction(median(found)) if found else None


def failures(documents: Sequence[Document], specs: Sequence[str]) -> Table:
    """Every document that a chunker has no numbers for, and why."""
    rows: list[tuple[Cell, ...]] = []
    for one in documents:
        keys = (one.set_name, one.history.language, one.history.document)
        if one.measured.excluded:
            rows.append((*keys, "every chunker", f"excluded: {one.measured.excluded}"))
            continue
        rows += [
            (*keys, spec, one.tried(spec).failure) for spec in specs if one.tried(spec).failure
        ]
    columns = ("set", "language", "document", "chunker", "reason")
    return Table("failures", "What has no numbers, and why", columns, tuple(rows))


def document_mean(document: Document, spec: str, measure: str = "recompute_fraction") -> Fraction:
    """The mean of a document's revisions under a chunker."""
    return mean(score.value for score in document.scores(spec, STEP_MEASURES[measure]))
