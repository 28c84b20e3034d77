"""What a chunker's failures could hide: its missing documents filled in, six ways, by name."""

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from variorum.lab.comparison import (
    INTERVALS,
    Document,
    by_set,
    document_mean,
    estimate_cells,
)
from variorum.lab.record import Cell, Table
from variorum.lab.statistics import Score, estimate, mean

Fill = Callable[[Document], Fraction | None]
NAMES = ("full", "mean", "band-mean", "fixed", "recursive", "larger-baseline")
"""Full re-embedding; the mean of the chunker's own successes in the language; that of the edit's
band; the document's own value under fixed windows, under the recursive chunker; the larger."""


def sensitivity(documents: Sequence[Document], specs: Sequence[str]) -> Table:
    """A chunker with failures less each baseline, over all documents, under every imputation."""
    rows: list[tuple[Cell, ...]] = []
    baselines = baseline_specs(specs)
    for name, ours in by_set(documents).items():
        for spec in specs:
            if spec in baselines.values() or all(one.succeeded(spec) for one in ours):
                continue
            for language in sorted({one.history.language for one in ours}):
                spoken = [one for one in ours if one.history.language == language]
                rows += _rows((name, language), spec, baselines, spoken)
    columns = ("set", "language", "chunker", "less", "imputation", "filled")
    title = "Failures filled in: recompute fraction less a baseline's"
    return Table("sensitivity", title, (*columns, *INTERVALS), tuple(rows))


def baseline_specs(specs: Sequence[str]) -> dict[str, str]:
    """The first fixed chunker without overlap and the first recursive one, by name."""
    plain = [one for one in specs if not re.search(r"overlap_tokens=[1-9]", one)]
    found: dict[str, str] = {}
    for name in ("fixed", "recursive"):
        for spec in plain:
            if spec.startswith(f"{name}("):
                found.setdefault(name, spec)
    return found


def _rows(
    keys: tuple[str, str], spec: str, baselines: dict[str, str], spoken: Sequence[Document]
) -> Iterator[tuple[Cell, ...]]:
    missing = [one for one in spoken if not one.succeeded(spec)]
    for baseline in baselines.values():
        usable = [one for one in spoken if one.succeeded(baseline)]
        for name in NAMES if missing else ():
            fill = _fills(spec, baselines, spoken)[name]
            scores = list(_filled(spec, baseline, usable, fill))
            if scores:
                cells = estimate_cells(estimate(scores))
                yield (*keys, spec, baseline, name, len(missing), *cells)


def _filled(spec: str, baseline: str, documents: Sequence[Document], fill: Fill) -> Iterator[Score]:
    for one in documents:
        ours = document_mean(one, spec) if one.succeeded(spec) else fill(one)
        if ours is not None:
            yield one.score(ours - document_mean(one, baseline))


def _fills(spec: str, baselines: dict[str, str], spoken: Sequence[Document]) -> dict[str, Fill]:
    good = [one for one in spoken if one.succeeded(spec)]

    def own(document: Document, name: str) -> Fraction | None:
        baseline = baselines.get(name)
        if baseline is None or not document.succeeded(baseline):
            return None
        return document_mean(document, baseline)

    def larger(document: Document) -> Fraction | None:
        values = [value for name in baselines if (value := own(document, name)) is not None]
        return max(values, default=None)

    def band_mean(document: Document) -> Fraction | None:
        alike = [one for one in good if first_band(one) == first_band(document)]
        return mean(document_mean(one, spec) for one in alike) if alike else None

    overall = mean(document_mean(one, spec) for one in good) if good else None
    return {
        "full": lambda _: Fraction(1),
        "mean": lambda _: overall,
        "band-mean": band_mean,
        "fixed": lambda document: own(document, "fixed"),
        "recursive": lambda document: own(document, "recursive"),
        "larger-baseline": larger,
    }


def first_band(document: Document) -> str:
    """The band of a document's first edit: a pair has no other."""
    return document.measured.edits[0].edit.band
