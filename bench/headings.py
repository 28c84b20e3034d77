"""What headings put before the text cost at an update: the default layout at several depths."""

import argparse
from collections.abc import Sequence
from statistics import fmean

from bench.revisions import PAIRS, Pair, model_sizer, read_pairs
from bench.study import Result, Study, Table
from bench.subjects import Ours
from variorum.lab.counting import StudySizer
from variorum.lab.statistics import over_clusters, over_documents

DEPTHS = (0, 2, 6)
SPEC = "anchored"


def share(pair: Pair, depth: int, sizer: StudySizer) -> float:
    """Percent of the new version's distinct inputs, by tokens, that the old one does not have."""
    subject = Ours(SPEC, planner=True, heading_depth=depth)
    old = subject.cut(pair.old, sizer)
    new = subject.cut(pair.new, sizer, old)
    inputs = list(dict.fromkeys(new.inputs))
    cost = dict(zip(inputs, sizer.count(inputs), strict=True))
    known = set(old.inputs)
    fresh = sum(tokens for text, tokens in cost.items() if text not in known)
    return 100 * fresh / sum(cost.values())


def run(arguments: argparse.Namespace) -> Result:
    sizer = model_sizer()
    pairs = read_pairs(sizer.tokenizer, limit=arguments.limit)
    found = {depth: [share(one, depth, sizer) for one in pairs] for depth in arguments.depths}
    result = Result(inputs=[PAIRS])
    rows = [
        [language, band or "all", depth, *_cells(pairs, found, depth, language, band)]
        for language in ("en", "zh")
        for band in (None, "small")
        for depth in arguments.depths
    ]
    title = f"Embedded again, % of the inputs: {SPEC} with the planner"
    result.tables.append(Table(title, _COLUMNS, rows))
    result.figures = {str(depth): shares for depth, shares in found.items()}
    result.figures["pairs"] = [one.name for one in pairs]
    return result


_COLUMNS = (
    "language",
    "edits",
    "depth",
    "pairs",
    "R % (95 %)",
    "less the first depth's",
    "over documents",
    "over repositories",
)


def _cells(
    pairs: Sequence[Pair],
    found: dict[int, list[float]],
    depth: int,
    language: str,
    band: str | None,
) -> list[object]:
    chosen = [
        place
        for place, one in enumerate(pairs)
        if one.language == language and band in (None, one.band)
    ]
    shares = [found[depth][place] for place in chosen]
    first = next(iter(found.values()))
    more = [found[depth][place] - first[place] for place in chosen]
    repositories = [pairs[place].repository for place in chosen]
    low, high = over_documents(shares)
    return [
        len(chosen),
        f"{fmean(shares):.1f} ({low:.1f}–{high:.1f})",
        f"{fmean(more):+.2f}",
        "{:+.2f} to {:+.2f}".format(*over_documents(more)),
        "{:+.2f} to {:+.2f}".format(*over_clusters(more, repositories)),
    ]


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--depths", type=int, nargs="+", default=list(DEPTHS))
    parser.add_argument("--limit", type=int, help="pairs of each language")


STUDY = Study("headings", "what headings before the text cost at an update", run, _arguments)
