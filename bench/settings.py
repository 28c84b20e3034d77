"""`anchored`'s minimum as a share of its maximum, chosen by cross-validation over repositories.

Every candidate is tuned to each mean size, and measured a little under, at and over it, since one
setting's mean over 120 pairs hangs on where a few chunks happen to pass the maximum. Repositories
are dealt into folds; each fold is measured with the candidate of the lowest mean excess over all
others, both languages counting alike. The last row chooses on all of them: the default's ratio.
"""

import argparse
from collections.abc import Iterator, Sequence
from random import Random
from statistics import fmean

from bench.recompute import LANGUAGES, MOST_EXCESS_ALONE, outcome
from bench.revisions import PAIRS, Pair, model_sizer, read_pairs
from bench.study import SEED, Result, Study, Table, Target
from bench.subjects import SIZES, Family, Ours, tuned
from variorum.chunking import Anchored
from variorum.lab.counting import StudySizer
from variorum.lab.statistics import over_clusters

RATIOS = (0.15, 0.2, 0.25, 0.3, 0.4)
NEAR = (0.97, 1.0, 1.03)
FOLDS = 5

Excesses = dict[tuple[float, int], list[float]]
"""By ratio and mean size: the excess of each pair, in the pairs' order."""


def family(ratio: float) -> Family:
    """`anchored` with the maximum left open."""

    def at(size: int) -> Ours:
        return Ours(Anchored(size, max(1, min(size // 2, round(ratio * size)))).spec)

    return Family(f"anchored, minimum {ratio:.0%} of the maximum", at)


def excesses(ratio: float, size: int, pairs: Sequence[Pair], sizer: StudySizer) -> list[float]:
    """Mean excess of each pair over the sizes near `size`."""
    most, _ = tuned(family(ratio), size, [pair.new for pair in pairs], sizer)
    subjects = [family(ratio).at(round(most * near)) for near in NEAR]
    runs = [[outcome(subject, pair, sizer) for pair in pairs] for subject in subjects]
    return [fmean(one.recompute - one.floor for one in same) for same in zip(*runs, strict=True)]


def folds(pairs: Sequence[Pair]) -> dict[str, int]:
    """The fold of each repository: dealt out in turn, those with the most pairs first."""
    names = sorted({pair.repository for pair in pairs})
    Random(SEED).shuffle(names)
    names.sort(key=lambda name: -sum(pair.repository == name for pair in pairs))
    return {name: number % FOLDS for number, name in enumerate(names)}


def mean_excess(
    found: Excesses, ratio: float, pairs: Sequence[Pair], kept: Sequence[bool]
) -> float:
    """Over the sizes and the languages, each counting alike, of the pairs that are kept."""
    return fmean(
        fmean(_of(found[ratio, size], pairs, kept, language))
        for size in SIZES
        for language in LANGUAGES
    )


def _of(
    values: Sequence[float], pairs: Sequence[Pair], kept: Sequence[bool], language: str
) -> list[float]:
    known = zip(values, pairs, kept, strict=True)
    return [value for value, pair, keep in known if keep and pair.language == language]


def run(arguments: argparse.Namespace) -> Result:
    sizer = model_sizer()
    pairs = read_pairs(sizer.tokenizer, limit=arguments.pairs)
    found: Excesses = {}
    for ratio in RATIOS:
        for size in SIZES:
            found[ratio, size] = excesses(ratio, size, pairs, sizer)
            print(f"  {ratio}: {size}", flush=True)
    fold_of = folds(pairs)
    chosen = {
        fold: _best(found, pairs, [fold_of[p.repository] != fold for p in pairs])
        for fold in range(FOLDS)
    }
    everything = [True] * len(pairs)
    best = _best(found, pairs, everything)
    held_out = {
        size: [
            found[chosen[fold_of[pair.repository]], size][number]
            for number, pair in enumerate(pairs)
        ]
        for size in SIZES
    }
    result = Result(inputs=[PAIRS])
    result.tables = [
        Table(
            "Mean excess by ratio",
            ("minimum / maximum", *map(str, SIZES), "mean"),
            list(_candidates(found, pairs)),
        ),
        Table("What each fold chose", _COLUMNS, list(_fold_rows(found, pairs, fold_of, chosen))),
        Table(
            "Held-out excess",
            ("mean size", "en (95 %)", "zh (95 %)"),
            list(_held_out(held_out, pairs)),
        ),
    ]
    result.figures = {
        "folds": {name: fold_of[name] for name in sorted(fold_of)},
        "chosen": chosen,
        "chosen_on_all": best,
        "held_out": {
            str(size): {
                lang: fmean(_of(held_out[size], pairs, everything, lang)) for lang in LANGUAGES
            }
            for size in SIZES
        },
    }
    result.targets = list(_targets(held_out, pairs, best))
    return result


def _best(found: Excesses, pairs: Sequence[Pair], kept: Sequence[bool]) -> float:
    return min(RATIOS, key=lambda ratio: mean_excess(found, ratio, pairs, kept))


def _candidates(found: Excesses, pairs: Sequence[Pair]) -> Iterator[list[object]]:
    everything = [True] * len(pairs)
    for ratio in RATIOS:
        by_size = [
            " / ".join(
                f"{fmean(_of(found[ratio, size], pairs, everything, language)):.2f}"
                for language in LANGUAGES
            )
            for size in SIZES
        ]
        yield [f"{ratio:.2f}", *by_size, f"{mean_excess(found, ratio, pairs, everything):.2f}"]


_COLUMNS = (
    "fold",
    "repositories",
    "pairs",
    "chosen ratio",
    "excess of the others",
    "held-out excess",
)


def _fold_rows(
    found: Excesses, pairs: Sequence[Pair], fold_of: dict[str, int], chosen: dict[int, float]
) -> Iterator[list[object]]:
    for fold, ratio in chosen.items():
        held = [fold_of[pair.repository] == fold for pair in pairs]
        others = [not one for one in held]
        repositories = sum(one == fold for one in fold_of.values())
        means = [f"{mean_excess(found, ratio, pairs, kept):.2f}" for kept in (others, held)]
        yield [fold + 1, repositories, sum(held), f"{ratio:.2f}", *means]


def _held_out(held_out: dict[int, list[float]], pairs: Sequence[Pair]) -> Iterator[list[object]]:
    for size, values in held_out.items():
        cells = []
        for language in LANGUAGES:
            own = [
                (v, p.repository)
                for v, p in zip(values, pairs, strict=True)
                if p.language == language
            ]
            low, high = over_clusters([v for v, _ in own], [name for _, name in own])
            cells.append(f"{fmean(v for v, _ in own):.2f} ({low:.2f} to {high:.2f})")
        yield [size, *cells]


def _targets(
    held_out: dict[int, list[float]], pairs: Sequence[Pair], best: float
) -> Iterator[Target]:
    everything = [True] * len(pairs)
    for size, values in held_out.items():
        means = [fmean(_of(values, pairs, everything, language)) for language in LANGUAGES]
        text = " / ".join(f"{one:.2f}" for one in means)
        name = f"held-out excess of anchored, {size}, en / zh"
        yield Target(
            name, f"under {MOST_EXCESS_ALONE} points", text, max(means) < MOST_EXCESS_ALONE
        )
    default = Anchored()
    ratio = default.min_tokens / default.max_tokens
    yield Target(
        "the default's ratio",
        "as chosen on all repositories",
        f"{ratio:.2f}, {best:.2f}",
        abs(ratio - best) < 0.01,
    )


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, help="pairs of each language; all without it")


STUDY = Study("settings", "anchored's ratio by cross-validation over repositories", run, _arguments)
