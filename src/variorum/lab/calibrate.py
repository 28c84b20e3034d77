"""`lab calibrate`: a size for each family at which their chunks are equally long.

The length of a family is document-balanced: the median over documents of each document's median
chunk, in content tokens, over the newest version of each. Sizes are searched by bisection on the
calibration documents alone, which no comparison may use again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median

from variorum.embedding import embedder_from_spec
from variorum.lab.counting import StudySizer
from variorum.lab.families import families
from variorum.lab.histories import read_histories
from variorum.lab.record import Cell, Table, write_table
from variorum.lab.studying import Setup
from variorum.lab.subjects import subject
from variorum.lab.versions import Version, under_rule

TOLERANCE = Fraction(15, 100)
_TRIES = 9


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A family's size, its spec, and the median length that it gives."""

    family: str
    size: int
    spec: str
    median: Fraction


def calibrate(
    file: Path, names: Sequence[str], target: int, setup: Setup, limit: int | None = None
) -> list[Table]:
    """Find a size for each family and write the table with the realised ratios."""
    sizer = StudySizer(embedder_from_spec(setup.settings.model), setup.settings.cap_tokens)
    rule = setup.settings.text_rule
    newest = [one.revisions[-1] for one in read_histories(file, limit)]
    versions = [
        Version(under_rule(one.text, one.content_type, rule), one.content_type, sizer.tokenizer)
        for one in newest
    ]
    found = []
    for number, (name, spec) in enumerate(families(names).items()):
        found.append(_nearest(name, spec, target, lambda one: _length(one, versions, sizer)))
        setup.progress("families", number + 1, len(names))
    table = _table(found, target)
    run = setup.run(file, [one.spec for one in found], {"target": target, "families": list(names)})
    write_table(setup.folder, table, run)
    return [table]


def _nearest(
    name: str, spec: Callable[[int], str], target: int, length: Callable[[str], Fraction]
) -> Calibrated:
    """The size whose median length comes nearest to the target.

    Bisection between a size that gives too little and one that gives too much, guessed in
    proportion.
    """
    low, high, size = 0, 0, target
    found: dict[int, Fraction] = {}
    for _ in range(_TRIES):
        if size in found:
            break
        middle = found[size] = length(spec(size))
        low, high = (max(low, size), high) if middle < target else (low, min(high or size, size))
        guess = round(size * target / middle) if middle else 2 * size
        inside = low < guess and (not high or guess < high)
        size = guess if inside else (low + high) // 2 if high else 2 * size
    best = min(found, key=lambda one: (abs(found[one] - target), one))
    return Calibrated(name, best, subject(spec(best)).spec, found[best])


def _length(spec: str, versions: Sequence[Version], sizer: StudySizer) -> Fraction:
    """The median over documents of the median chunk."""
    medians = []
    for version in versions:
        cut = subject(spec).fresh().cut(version, sizer)
        if cut.inputs:
            counts = sizer.count(cut.inputs)
            medians.append(Fraction(median(count - sizer.overhead for count in counts)))
    return Fraction(median(medians)) if medians else Fraction(0)


def _table(found: Sequence[Calibrated], target: int) -> Table:
    middle = Fraction(median(one.median for one in found))
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        within = abs(one.median / middle - 1) <= TOLERANCE if middle else False
        ratio = one.median / middle if middle else None
        rows.append((one.family, one.size, one.spec, one.median, ratio, "yes" if within else "no"))
    smallest = min(one.median for one in found)
    largest = max(one.median for one in found)
    spread = f"{float(largest / smallest):.3f}" if smallest else "NA"
    note = f"target {target}; the largest median is {spread} times the smallest"
    columns = ("family", "size", "chunker", "median", "ratio_to_middle", "within_15_percent")
    return Table("calibration", "Sizes of equal length", columns, tuple(rows), (note,))
