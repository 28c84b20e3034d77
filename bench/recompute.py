"""What a revision embeds again: every chunker of ours and of others at equal mean size.

R is the share of a new version's distinct inputs, weighted by their tokens as sent, that are not
byte for byte among the old version's. The floor is the share of its tokens in no intact old chunk:
whatever the new layout, these are embedded again. R less the floor is the chunker's own excess; it
falls below 0 where a new version repeats an input within itself, which R counts once.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pstdev

import numpy as np

from bench.revisions import PAIRS, Pair, model_sizer, read_pairs
from bench.study import Result, Study, Table, Target
from bench.subjects import (
    SIZES,
    TOLERANCE,
    Family,
    Subject,
    families,
    installed_versions,
    sizes_of,
    tuned,
)
from variorum.lab.costs import step
from variorum.lab.counting import StudySizer
from variorum.lab.statistics import over_clusters, over_documents

LANGUAGES = ("en", "zh")
MOST_EXCESS_PLANNED = 0.3
MOST_EXCESS_ALONE = 3.0
NOTHING = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One pair under one chunker, in percent; `failure` says why there is none."""

    pair: Pair
    recompute: float = 0.0
    floor: float = 0.0
    sizes: tuple[int, ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class Row:
    """One chunker at one size over all pairs."""

    family: Family
    subject: Subject
    outcomes: Sequence[Outcome]
    least: int
    reference: dict[str, float] = field(default_factory=dict)

    def of(self, language: str, band: str | None = None) -> list[Outcome]:
        return [
            one
            for one in self.outcomes
            if not one.failure and one.pair.language == language and band in (None, one.pair.band)
        ]

    def mean(
        self, value: Callable[[Outcome], float], language: str, band: str | None = None
    ) -> float:
        return fmean(value(one) for one in self.of(language, band))

    def sizes(self, *languages: str) -> list[int]:
        return [size for name in languages for one in self.of(name) for size in one.sizes]

    def figures(self) -> dict[str, object]:
        sizes = self.sizes(*LANGUAGES)
        found: dict[str, object] = {
            "spec": self.subject.spec,
            "mean_tokens": fmean(sizes),
            "cv": pstdev(sizes) / fmean(sizes),
            "under_minimum_percent": 100 * sum(s for s in sizes if s < self.least) / sum(sizes),
            "failures": sorted(
                f"{one.pair.name}: {one.failure}" for one in self.outcomes if one.failure
            ),
        }
        for language in LANGUAGES:
            found[language] = self._language(language)
        return found

    def _language(self, language: str) -> dict[str, object]:
        ours = self.of(language)
        shares = [one.recompute for one in ours]
        repositories = [one.pair.repository for one in ours]
        excess = [one.recompute - one.floor for one in ours]
        return {
            "pairs": len(ours),
            "mean_tokens": fmean(self.sizes(language)),
            "recompute": fmean(shares),
            "recompute_95": over_documents(shares),
            "recompute_95_repositories": over_clusters(shares, repositories),
            "floor": self.mean(lambda one: one.floor, language),
            "excess": fmean(excess),
            "excess_95": over_documents(excess),
            "excess_without_negatives": fmean(max(0.0, one) for one in excess),
            "bands": {
                band: self.mean(lambda one: one.recompute, language, band)
                for band in ("small", "medium", "large", "extreme")
                if self.of(language, band)
            },
            "small_excess": self.mean(lambda one: one.recompute - one.floor, language, "small"),
        }


def outcome(subject: Subject, pair: Pair, sizer: StudySizer) -> Outcome:
    """One pair, after the control that a version against itself embeds nothing."""
    try:
        old = subject.cut(pair.old, sizer)
        same = subject.cut(pair.old, sizer, old)
        new = subject.cut(pair.new, sizer, old)
    except Exception as error:
        return Outcome(pair, failure=f"{type(error).__name__}: {error}"[:120])
    if step(old, same, set(), NOTHING, sizer).recomputed:
        return Outcome(pair, failure="the same text is cut in two ways")
    found = step(old, new, set(), NOTHING, sizer)
    shares = (float(100 * found.recompute_fraction), float(100 * (found.floor or 0)))
    return Outcome(pair, *shares, tuple(sizes_of(new)))


def measured(family: Family, size: int, pairs: Sequence[Pair], sizer: StudySizer) -> Row:
    parameter, _ = tuned(family, size, [pair.new for pair in pairs], sizer)
    subject = family.at(parameter)
    outcomes = [outcome(subject, pair, sizer) for pair in pairs]
    return Row(family, subject, outcomes, round(0.5 * size))


def difference(row: Row, other: Row, language: str) -> dict[str, object]:
    """R of `row` less that of `other`, over the pairs that both cut, with both intervals."""
    theirs = {one.pair.name: one.recompute for one in other.of(language)}
    both = [one for one in row.of(language) if one.pair.name in theirs]
    values = [one.recompute - theirs[one.pair.name] for one in both]
    return {
        "against": other.family.name,
        "mean": fmean(values),
        "documents_95": over_documents(values),
        "repositories_95": over_clusters(values, [one.pair.repository for one in both]),
    }


def run(arguments: argparse.Namespace) -> Result:
    sizer = model_sizer()
    pairs = read_pairs(sizer.tokenizer, limit=arguments.pairs)
    result = Result(inputs=[PAIRS])
    result.figures["packages"] = installed_versions()
    contrasts = []
    for size in arguments.sizes:
        rows = []
        for family in families():
            if arguments.only and not any(word in family.name for word in arguments.only):
                continue
            rows.append(measured(family, size, pairs, sizer))
            print(f"  {size}: {family.name}", flush=True)
        result.tables.append(_table(size, rows))
        result.figures[str(size)] = {row.family.name: row.figures() for row in rows}
        named = {row.family.name: row for row in rows}
        if {"anchored", "anchored + planner"} <= named.keys():
            compared = _contrasts(size, named)
            contrasts += compared
            result.targets += _targets(size, named, compared)
    result.figures["contrasts"] = contrasts
    result.tables.append(_contrast_table(contrasts))
    return result


def _contrasts(size: int, rows: dict[str, Row]) -> list[dict[str, object]]:
    """Anchored, alone and planned, against the peer with the lowest R of each language."""
    found = []
    for language in LANGUAGES:
        peers = [row for row in rows.values() if not row.family.ours and row.of(language)]
        if not peers:
            continue
        best = min(peers, key=lambda row: row.mean(lambda one: one.recompute, language))
        for name in ("anchored", "anchored + planner"):
            contrast = difference(rows[name], best, language)
            found.append({"size": size, "language": language, "chunker": name, **contrast})
    return found


def _targets(
    size: int, rows: dict[str, Row], contrasts: Sequence[dict[str, object]]
) -> Iterator[Target]:
    for name, most in (
        ("anchored + planner", MOST_EXCESS_PLANNED),
        ("anchored", MOST_EXCESS_ALONE),
    ):
        row = rows[name]
        worst = {
            language: row.mean(lambda one: one.recompute - one.floor, language)
            for language in LANGUAGES
        }
        text = " / ".join(f"{value:.2f}" for value in worst.values())
        met = max(worst.values()) <= most
        yield Target(f"excess of {name}, {size}, en / zh", f"at most {most} points", text, met)
    for one in contrasts:
        if one["chunker"] == "anchored":
            low, high = one["documents_95"]
            name = f"anchored less {one['against']}, {size}, {one['language']}"
            text = f"{one['mean']:+.2f} ({low:+.2f} to {high:+.2f})"
            yield Target(name, "not above 0 beyond the interval", text, low <= 0)


_COLUMNS = (
    "chunker",
    "mean en / zh",
    "cv",
    "under min %",
    "R en (95 %)",
    "R zh (95 %)",
    "small en / zh",
    "floor en / zh",
    "excess en / zh",
    "NA",
)


def _table(size: int, rows: Sequence[Row]) -> Table:
    return Table(f"Mean size about {size} tokens", _COLUMNS, [_cells(size, row) for row in rows])


def _cells(size: int, row: Row) -> list[object]:
    figures = row.figures()
    by_language = [figures[name] for name in LANGUAGES]
    off = abs(figures["mean_tokens"] - size) > TOLERANCE * size

    def both(key: str, form: str = ".1f") -> str:
        return " / ".join(format(one[key], form) for one in by_language)

    intervals = [
        f"{one['recompute']:.1f} ({one['recompute_95'][0]:.1f}–{one['recompute_95'][1]:.1f})"
        for one in by_language
    ]
    small = " / ".join(f"{one['bands'].get('small', 0.0):.1f}" for one in by_language)
    return [
        row.family.name,
        both("mean_tokens", ".0f") + (" (off)" if off else ""),
        f"{figures['cv']:.2f}",
        f"{figures['under_minimum_percent']:.1f}",
        *intervals,
        small,
        both("floor"),
        both("excess", ".2f"),
        len(figures["failures"]),
    ]


def _contrast_table(contrasts: Sequence[dict[str, object]]) -> Table:
    columns = ("size", "language", "chunker", "best peer", "R less R", "documents", "repositories")
    rows = [
        [
            one["size"],
            one["language"],
            one["chunker"],
            one["against"],
            f"{one['mean']:+.2f}",
            "{:+.2f} to {:+.2f}".format(*one["documents_95"]),
            "{:+.2f} to {:+.2f}".format(*one["repositories_95"]),
        ]
        for one in contrasts
    ]
    return Table("Against the best peer, points of R, 95 % intervals", columns, rows)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--pairs", type=int, help="pairs of each language; all without it")
    parser.add_argument("--only", nargs="+", help="chunkers whose name has one of these words")


STUDY = Study("peers", "recompute fraction on real revisions at equal mean size", run, _arguments)
