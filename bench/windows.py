"""What `semantic` embeds at a small edit, its windows of sentences apart, beside `anchored`.

The pairs are the shortest small edits of each language, since every window of both versions has to
be embedded by the default model once. Vectors are kept in the user's cache folder.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from bench.revisions import PAIRS, Pair, model_sizer, read_pairs
from bench.study import Result, Study, Table
from bench.subjects import word_vectors
from variorum.chunking import Embed, lay_out
from variorum.embedding import embedder_from_spec
from variorum.embedding.e5.cache import cache_root
from variorum.lab.counting import StudySizer
from variorum.lab.recall.vectors import VectorCache
from variorum.lab.statistics import over_documents
from variorum.records.layout import Layout, PreviousLayout, Recipe
from variorum.records.protocols import Vectors

SPECS = (
    ("semantic(max_tokens=200, min_tokens=64)", False),
    ("anchored", False),
    ("anchored", True),
)
LIMIT = 4


@dataclass
class Asked:
    """An `embed` that keeps the texts it was asked for."""

    inner: Embed
    texts: list[str] = field(default_factory=list)

    def __call__(self, inputs: Sequence[str]) -> Vectors:
        self.texts += inputs
        return self.inner(inputs)


@dataclass(frozen=True, slots=True)
class Version:
    """A layout and the windows that finding it took."""

    layout: Layout
    windows: frozenset[str]


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens that an edit embeds again, and those of all of the new version's inputs."""

    inputs: int
    windows: int
    total: int
    chunks: int


def cost(pair: Pair, spec: str, sizer: StudySizer, embed: Embed, *, planner: bool = False) -> Cost:
    """Inputs and windows of the new version that are not byte for byte among the old one's."""
    recipe = Recipe(spec, planner, 0, "bench", "bench", "bench")

    def laid(side: object, before: PreviousLayout | None) -> Version:
        asked = Asked(embed)
        layout = lay_out(side.text, side.structure, recipe, sizer, before, asked)
        return Version(layout, frozenset(asked.texts))

    old = laid(pair.old, None)
    new = laid(pair.new, PreviousLayout(pair.old.text, old.layout) if planner else None)
    return Cost(
        inputs=_tokens(set(new.layout.inputs) - set(old.layout.inputs), sizer),
        windows=_tokens(new.windows - old.windows, sizer),
        total=_tokens(set(new.layout.inputs), sizer),
        chunks=len(new.layout.chunks),
    )


def _tokens(texts: set[str] | frozenset[str], sizer: StudySizer) -> int:
    return sum(sizer.count(sorted(texts)))


def chosen(pairs: Sequence[Pair], language: str, limit: int) -> list[Pair]:
    """The shortest small edits of a language."""
    small = [one for one in pairs if one.language == language and one.band == "small"]
    return sorted(small, key=lambda one: len(one.old.text))[:limit]


def run(arguments: argparse.Namespace) -> Result:
    sizer = model_sizer()
    cache = VectorCache(cache_root() / "lab", embedder_from_spec())
    embed: Embed = word_vectors if arguments.words else cache.vectors
    pairs = read_pairs(sizer.tokenizer)
    result = Result(inputs=[PAIRS])
    rows = []
    for language in ("en", "zh"):
        ours = chosen(pairs, language, arguments.limit)
        for spec, planner in SPECS:
            costs = [cost(one, spec, sizer, embed, planner=planner) for one in ours]
            rows.append([language, f"{spec}{'+planner' if planner else ''}", *_cells(costs)])
        result.figures[language] = [one.name for one in ours]
    cache.close()
    result.figures["embedded"] = cache.embedded
    result.tables.append(Table("Embedded again at a small edit, % of the inputs", _COLUMNS, rows))
    return result


_COLUMNS = (
    "language",
    "chunker",
    "pairs",
    "mean tokens of an input",
    "inputs % (95 %)",
    "windows % (95 %)",
    "together %",
)


def _cells(costs: Sequence[Cost]) -> list[object]:
    inputs = [100 * one.inputs / one.total for one in costs]
    windows = [100 * one.windows / one.total for one in costs]
    size = sum(one.total for one in costs) / sum(one.chunks for one in costs)
    together = fmean(map(sum, zip(inputs, windows, strict=True)))
    return [len(costs), f"{size:.0f}", _spread(inputs), _spread(windows), f"{together:.1f}"]


def _spread(values: Sequence[float]) -> str:
    low, high = over_documents(values)
    return f"{fmean(values):.1f} ({low:.1f}–{high:.1f})"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=LIMIT, help="pairs of each language")
    parser.add_argument("--words", action="store_true", help="hashed words in place of the model")


STUDY = Study("windows", "what semantic's windows cost at a small edit", run, _arguments)
