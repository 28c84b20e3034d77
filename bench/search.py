"""Search by vector over 100,000 rows under three filters: the scoring step against NumPy's own,
what deciding who may see adds, other engines on the same rows, and hybrid against its legs.

Everything alternates in one process and medians are told. Rows and questions: `search_rows`. All
but the last tables are of exact search, the approximate index turned off.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import variorum
from bench import search_ann, search_kinds
from bench.search_peers import ENGINES, FILTERS, Columns, K, nearest, opened
from bench.search_rows import Rows, make_rows, open_index, question_files
from bench.study import Result, Study, Table, Target
from bench.turns import alternated
from variorum.retrieval.dense import search_dense
from variorum.retrieval.legs import DEPTH, MODES, Loads, Ranking, Way, rank
from variorum.retrieval.lexical import search_lexical
from variorum.retrieval.ranking import Ranked, chunks_of
from variorum.store.view import View

_ASKED = dict(
    zip(
        FILTERS,
        ((None, "any"), ("group:t3", "any"), ("group:t3-r0", "now")),
        strict=True,
    )
)
"""Who asks, and at what date."""
_BOUNDS = dict(zip(FILTERS, (1.2, 1.5, 1.5), strict=True))
"""Most that scoring may take, as a multiple of NumPy's own gather and product."""
_HYBRID = 1.2
_HYBRID_ASKED = 60

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Asked:
    """A filter of ours: an index as somebody reads it, at a date."""

    name: str
    index: "variorum.Index"
    effective: str

    @property
    def view(self) -> View:
        return self.index.view(effective=self.effective)

    @cached_property
    def chosen(self) -> NDArray[np.intp]:
        return chunks_of(self.view.places, None)


def _asked(index: "variorum.Index") -> list[Asked]:
    return [
        Asked(name, index if who is None else index.for_principal(who), effective)
        for name, (who, effective) in _ASKED.items()
    ]


# The scoring step


def scoring(one: Asked, vectors: Sequence[Vector]) -> dict[str, float]:
    """Ours and NumPy's, over the same matrix and the same rows of it."""
    view, chosen = one.view, one.chosen
    matrix, rows = view.vectors(chosen)
    allowed = None if rows.size == len(matrix) else rows
    works: dict[str, Callable[[Vector], object]] = {
        "ours": lambda vector: search_dense(view, vector, chosen, K),
        "NumPy": lambda vector: nearest(matrix, allowed, vector),
    }
    return alternated(works, vectors)


def _score(result: Result, filters: Sequence[Asked], vectors: Sequence[Vector]) -> None:
    printed = []
    for one in filters:
        times = scoring(one, vectors)
        ratio, bound = times["ours"] / times["NumPy"], _BOUNDS[one.name]
        printed.append([one.name, one.chosen.size, times["ours"], times["NumPy"], ratio])
        name = f"scoring {one.chosen.size:,} rows over NumPy's own"
        result.targets.append(Target(name, f"<= {bound}", f"{ratio:.2f}", ratio <= bound))
    columns = ("filter", "rows", "ours, ms", "NumPy, ms", "ratio")
    result.tables.append(Table("The scoring step, ten hits", columns, printed))


# Deciding who may see


def _deciding(result: Result, filters: Sequence[Asked], runs: int) -> None:
    """Milliseconds until it is known which rows pass."""
    printed = []
    for one in filters:
        index = one.index

        def until_known(forget: Callable[[], object], one: Asked = one) -> float:
            taken = []
            for _ in range(runs):
                forget()
                started = perf_counter()
                chunks_of(one.view.places, None)
                taken.append(1e3 * (perf_counter() - started))
            return median(taken)

        one.view.places.input_ids.size  # noqa: B018 (read once, so that the first is not dearer)
        known = until_known(lambda: None)
        new = until_known(index._views.clear)
        first = until_known(index.close)
        printed.append([one.name, one.chosen.size, known, new, first])
    columns = ("filter", "rows", "asked before", "principal not seen before", "store just opened")
    result.tables.append(Table("Deciding which rows pass, ms", columns, printed))


# Beside other engines


def _ours(one: Asked, vector: Vector) -> NDArray[np.int64]:
    """The two steps together, as a search takes them: decide, then score."""
    view = one.view
    chosen = view.chosen("the study", lambda: chunks_of(view.places, None))
    found = search_dense(view, vector, chosen, K)
    return view.places.input_ids[found.indexes]


def _engines(
    result: Result, filters: Sequence[Asked], rows: Rows, vectors: Sequence[Vector], work: Path
) -> None:
    """Ours in turn with each engine, and how many of the true ten each finds."""
    columns = Columns.of(len(rows.texts))
    truth = _truth(rows, columns, vectors)
    printed: list[list[object]] = []
    reasons = {}
    for name in ENGINES:
        print(f"  {name}", flush=True)
        with opened(name, rows, columns, work) as engine:
            if isinstance(engine, str):
                reasons[name] = engine
                printed.append([name, *["NA"] * (3 * len(filters))])
                continue
            cells: list[object] = []
            for one in filters:
                works: dict[str, Callable[[Vector], object]] = {
                    "ours": partial(_ours, one),
                    "theirs": partial(engine.ask, one.name),
                }
                times = alternated(works, vectors)
                found = [engine.ask(one.name, vector) for vector in vectors]
                recall = _recall(found, truth[one.name])
                cells += [times["theirs"], times["theirs"] / times["ours"], recall]
            printed.append([name, *cells])
    heads = [f"{name}: {what}" for name in FILTERS for what in ("ms", "/ ours", "recall@10")]
    result.tables.append(Table("Deciding and scoring together", ["engine", *heads], printed))
    result.figures["not_run"] = reasons


def _truth(
    rows: Rows, columns: Columns, vectors: Sequence[Vector]
) -> dict[str, list[NDArray[np.int64]]]:
    every = np.arange(len(rows.texts))
    mine = columns.tenant == 3
    ours = mine & (columns.readers == 0) & (columns.until > 20_260_101)
    allowed = dict(zip(FILTERS, (every, every[mine], every[ours]), strict=True))
    return {
        name: [nearest(rows.vectors, ids, vector) for vector in vectors]
        for name, ids in allowed.items()
    }


def _recall(found: Iterable[NDArray[np.int64]], true: Iterable[NDArray[np.int64]]) -> float:
    shares = [np.intersect1d(a, b).size / K for a, b in zip(found, true, strict=True)]
    return float(np.mean(shares))


# Hybrid


def _hybrid(result: Result, filters: Sequence[Asked], rows: Rows) -> None:
    """Each mode on the same questions: ranks alone, the model's answer at hand.

    The legs of hybrid are as deep as it asks them, for a thousand; beside them ten hits of each.
    """
    printed = []
    for one in filters:
        view, chosen = one.view, one.chosen
        load = partial(one.index._sound_embedder_of, view.generation)
        works: dict[str, Callable[[str], object]] = {
            mode: partial(_rank, view, load, Way(mode), chosen) for mode in MODES
        }
        works["dense leg"] = partial(_dense_leg, view, load, chosen)
        works["lexical leg"] = lambda query, view=view, chosen=chosen: search_lexical(
            view, query, chosen, DEPTH
        )
        times = alternated(works, rows.questions[:_HYBRID_ASKED])
        ratio = times["hybrid"] / (times["dense leg"] + times["lexical leg"])
        printed.append([one.name, chosen.size, *times.values(), ratio])
        name = f"hybrid over its legs, {chosen.size:,} rows"
        result.targets.append(Target(name, f"<= {_HYBRID}", f"{ratio:.2f}", ratio <= _HYBRID))
    columns = ("filter", "rows", *(f"{name}, ms" for name in times), "hybrid / its legs")
    result.tables.append(
        Table("Ranking by each mode, ten hits; the legs of hybrid", columns, printed)
    )


def _dense_leg(view: View, load: Loads, chosen: NDArray[np.intp], query: str) -> Ranked:
    return search_dense(view, load().embed([query], "query")[0], chosen, DEPTH)


def _rank(view: View, load: Loads, way: Way, chosen: NDArray[np.intp], query: str) -> Ranking:
    return rank(view, load, way, query, chosen, K)


def run(arguments: argparse.Namespace) -> Result:
    result = Result(inputs=question_files())
    rows = make_rows(arguments.rows)
    result.figures |= {"rows": len(rows.texts), "of real passages": rows.real}
    home = Path(arguments.cache) / f"variorum-search-{len(rows.texts)}"
    vectors = list(rows.asked[: arguments.questions])
    with open_index(home, rows) as index, search_ann.open_exact(home, rows) as exact:
        filters = _asked(exact)
        _score(result, filters, vectors)
        _deciding(result, filters, 5)
        with TemporaryDirectory(dir=arguments.cache) as work:
            _engines(result, filters, rows, vectors, Path(work))
        _hybrid(result, filters, rows)
        search_ann.against_exact(result, index, exact, rows, vectors)
    search_ann.crossover(result, rows, vectors)
    search_kinds.kinds(result, rows, vectors)
    return result


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=100, help="asked of each engine")
    parser.add_argument("--cache", default="/dev/shm", help="folder in which the index is kept")


STUDY = Study("search", "by vector under filters, beside NumPy and other engines", run, _arguments)
