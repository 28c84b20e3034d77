"""`lab overlap`: fixed windows that share tokens with the window before, over sizes and shares."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from variorum.lab.comparison import INTERVALS, Document, by_set, estimate_cells, recompute_scores
from variorum.lab.histories import read_histories
from variorum.lab.record import Cell, Table, write_table
from variorum.lab.statistics import estimate, mean
from variorum.lab.studying import Setup
from variorum.lab.subjects import subject

SIZES = (100, 152, 200, 304, 400)
PERCENTS = (0, 10, 20, 30)


def overlap(
    file: Path,
    sizes: Sequence[int],
    percents: Sequence[int],
    setup: Setup,
    limit: int | None = None,
) -> list[Table]:
    """Measure every size with every overlap and write the heat map's table."""
    specs = {
        (size, percent): subject(window(size, percent)).spec
        for size in sizes
        for percent in percents
    }
    documents, _ = setup.measured(read_histories(file, limit), list(specs.values()))
    rows: list[tuple[Cell, ...]] = []
    for name, ours in by_set(documents).items():
        for language in sorted({one.history.language for one in ours}):
            spoken = [one for one in ours if one.history.language == language]
            for (size, percent), spec in specs.items():
                cells = estimate_cells(estimate(recompute_scores(spoken, spec)))
                shared = size * percent // 100
                grown = inflation(spoken, spec)
                rows.append((name, language, size, percent, shared, grown, *cells))
    columns = ("set", "language", "size", "percent", "shared_tokens", "inputs_per_text", *INTERVALS)
    note = (
        "inputs_per_text: tokens of all distinct inputs over those of the text, in the new version"
    )
    table = Table(
        "overlap", "Recompute fraction by size and overlap", columns, tuple(rows), (note,)
    )
    study = {"sizes": list(sizes), "percents": list(percents)}
    write_table(setup.folder, table, setup.run(file, list(specs.values()), study))
    return [table]


def window(size: int, percent: int) -> str:
    """The spec of windows that share a percentage of their size."""
    return f"fixed(max_tokens={size}, overlap_tokens={size * percent // 100})"


def inflation(documents: Sequence[Document], spec: str) -> Fraction:
    """The mean over documents of input tokens for each token of the newest text."""
    return mean(
        Fraction(one.tried(spec).steps[-1].total, max(1, one.tried(spec).steps[-1].text))
        for one in documents
        if one.succeeded(spec)
    )
