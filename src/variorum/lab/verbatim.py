"""`lab verbatim`: how much of what was recomputed stood whole in the old version all along."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from variorum.lab.comparison import INTERVALS, by_set, common_pool, estimate_cells, recompute_scores
from variorum.lab.histories import read_histories
from variorum.lab.record import Cell, Table, write_table
from variorum.lab.statistics import estimate
from variorum.lab.studying import Setup
from variorum.lab.subjects import subjects


def verbatim(
    file: Path, specs: Sequence[str], setup: Setup, limit: int | None = None
) -> list[Table]:
    """Measure on the common pool and write the table: by tokens, and as a mean of documents."""
    names = [one.spec for one in subjects(specs)]
    documents, _ = setup.measured(read_histories(file, limit), names)
    rows: list[tuple[Cell, ...]] = []
    for name, ours in by_set(documents).items():
        pool = common_pool(ours, names)
        for language in sorted({one.history.language for one in pool}):
            spoken = [one for one in pool if one.history.language == language]
            for spec in names:
                steps = [step for one in spoken for step in one.tried(spec).steps]
                total = sum(step.recomputed for step in steps)
                share = Fraction(sum(step.verbatim for step in steps), total) if total else None
                scores = recompute_scores(spoken, spec, "verbatim_presence")
                cells = estimate_cells(estimate(scores)) if scores else (0, 0, *[None] * 5)
                rows.append((name, language, spec, total, share, *cells))
    columns = ("set", "language", "chunker", "recomputed_tokens", "share_of_tokens", *INTERVALS)
    note = "present whole is not reusable: no layout has to have had it as an input of its own"
    title = "Recomputed inputs that stand whole in the old version"
    table = Table("verbatim", title, columns, tuple(rows), (note,))
    write_table(setup.folder, table, setup.run(file, names, {}))
    return [table]
