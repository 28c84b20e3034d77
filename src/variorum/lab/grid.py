"""`lab grid`: chunkers at several targets, compared only where their chunks are equally long.

A setting takes one target of each family. It is length-matched at a gate where the largest of the
families' median chunk lengths is at most that many times the smallest, in the old version and in
the new one. Documents that any chunker of the grid failed on are left out for all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import NoReturn

from variorum.lab.comparison import (
    INTERVALS,
    Document,
    by_set,
    common_pool,
    estimate_cells,
    median_size,
    recompute_scores,
)
from variorum.lab.families import families
from variorum.lab.histories import read_histories
from variorum.lab.record import Cell, Table, write_table
from variorum.lab.statistics import Estimate, Score, estimate, paired
from variorum.lab.studying import Setup
from variorum.lab.subjects import subject
from variorum.records.errors import InputError

TARGETS = (256, 304, 352, 400, 448, 496)
GATES = (Fraction(115, 100), Fraction(110, 100), Fraction(105, 100))
_MOST_SETTINGS = 10_000


@dataclass(frozen=True, slots=True)
class Point:
    """One family at one target on one language's pool."""

    family: str
    target: int
    median_old: Fraction | None
    median_new: Fraction | None
    scores: tuple[Score, ...]


def grid(
    file: Path,
    names: Sequence[str],
    targets: Sequence[int],
    setup: Setup,
    limit: int | None = None,
) -> list[Table]:
    """Measure the grid and write its tables.

    Raises:
        InputError: an unknown family, or too many settings (`grid-too-large`).
    """
    if len(targets) ** len(names) > _MOST_SETTINGS:
        _refuse(len(targets) ** len(names))
    specs = {
        (name, target): subject(spec(target)).spec
        for name, spec in families(names).items()
        for target in targets
    }
    documents, _ = setup.measured(read_histories(file, limit), list(specs.values()))
    points: list[tuple[Cell, ...]] = []
    matched: list[tuple[Cell, ...]] = []
    for name, ours in by_set(documents).items():
        for language in sorted({one.history.language for one in ours}):
            spoken = [one for one in ours if one.history.language == language]
            found = _points(specs, spoken)
            pool = len(common_pool(spoken, list(specs.values())))
            keys = (name, language)
            points += _point_rows((*keys, pool, len(spoken)), found)
            matched += _matched_rows(keys, names, found)
    tables = _tables(points, matched)
    run = setup.run(file, list(specs.values()), {"targets": list(targets), "families": list(names)})
    for table in tables:
        write_table(setup.folder, table, run)
    return tables


def _points(
    specs: Mapping[tuple[str, int], str], spoken: Sequence[Document]
) -> dict[tuple[str, int], Point]:
    pool = common_pool(spoken, list(specs.values()))
    found = {}
    for (family, target), spec in specs.items():
        tried = [one.tried(spec) for one in pool]
        medians = median_size(tried, 0), median_size(tried, -1)
        scores = tuple(recompute_scores(pool, spec))
        found[family, target] = Point(family, target, *medians, scores)
    return found


def _point_rows(
    keys: tuple[Cell, ...], points: Mapping[tuple[str, int], Point]
) -> Iterator[tuple[Cell, ...]]:
    for one in points.values():
        if one.scores:
            cells = estimate_cells(estimate(one.scores))
            yield (*keys, one.family, one.target, one.median_old, one.median_new, *cells)


def _matched_rows(
    keys: tuple[str, str], names: Sequence[str], points: Mapping[tuple[str, int], Point]
) -> Iterator[tuple[Cell, ...]]:
    """A row for each contrast of each setting within the widest gate."""
    contrasts: dict[tuple[Point, Point], Estimate] = {}
    targets = list(dict.fromkeys(target for _, target in points))
    for setting in product(targets, repeat=len(names)):
        chosen = [points[pair] for pair in zip(names, setting, strict=True)]
        ratio = length_ratio(chosen)
        if ratio is None or ratio > GATES[0]:
            continue
        label = " ".join(f"{one.family}={one.target}" for one in chosen)
        for one, other in combinations(chosen, 2):
            key = (other, one)
            if key not in contrasts:
                contrasts[key] = estimate(paired(other.scores, one.scores))
            cells = estimate_cells(contrasts[key])
            yield (*keys, label, ratio, other.family, one.family, *cells)


def length_ratio(points: Sequence[Point]) -> Fraction | None:
    """The larger, over both versions, of the largest median over the smallest."""
    ratios = []
    for medians in ([one.median_old for one in points], [one.median_new for one in points]):
        known = [one for one in medians if one]
        if len(known) < len(points):
            return None
        ratios.append(max(known) / min(known))
    return max(ratios)


def _tables(points: list[tuple[Cell, ...]], matched: list[tuple[Cell, ...]]) -> list[Table]:
    keys = ("set", "language")
    sizes = ("pool", "all", "family", "target", "median_old", "median_new")
    contrast = ("setting", "ratio", "family", "less")
    return [
        Table("grid", "Every family at every target", (*keys, *sizes, *INTERVALS), tuple(points)),
        Table(
            "matched",
            "Differences of R in length-matched settings",
            (*keys, *contrast, *INTERVALS),
            tuple(matched),
        ),
        _gates(matched),
    ]


def _gates(matched: Sequence[tuple[Cell, ...]]) -> Table:
    """For each gate and contrast: how far the settings spread, and on which side of 0 they lie."""
    rows: list[tuple[Cell, ...]] = []
    contrasts = list(dict.fromkeys((row[0], row[1], row[4], row[5]) for row in matched))
    for gate in GATES:
        for contrast in contrasts:
            inside = [
                row
                for row in matched
                if (row[0], row[1], row[4], row[5]) == contrast and _number(row[3]) <= gate
            ]
            if inside:
                rows.append((*contrast, gate, len(inside), *_spread(inside)))
    columns = ("set", "language", "family", "less", "gate", "settings", "lowest", "highest")
    note = "A spread over settings is no interval; below and above count intervals on one side of 0"
    return Table(
        "gates",
        "Length-matched settings by gate",
        (*columns, "below", "above"),
        tuple(rows),
        (note,),
    )


def _spread(rows: Sequence[tuple[Cell, ...]]) -> tuple[Cell, ...]:
    """The least and the greatest difference, and how many intervals lie below and above 0."""
    means = [Fraction(_number(row[8])) for row in rows]
    below = sum(_number(row[10]) < 0 for row in rows)
    above = sum(_number(row[9]) > 0 for row in rows)
    return min(means), max(means), below, above


def _number(cell: Cell) -> Fraction | float:
    assert isinstance(cell, Fraction | float | int)
    return cell


def _refuse(settings: int) -> NoReturn:
    raise InputError(
        f"{settings:,} settings are too many to compare",
        kind="grid-too-large",
        subject="--family",
        expected=f"at most {_MOST_SETTINGS:,}: targets to the power of families",
        found=f"{settings:,}",
        remedy="name fewer families or targets",
    )
