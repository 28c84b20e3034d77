"""`lab frontier`: update cost against recall, over chunkers and sizes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import click

from variorum.embedding import embedder_from_spec
from variorum.embedding.e5.cache import cache_root
from variorum.lab.frontier import Point, grid, points, recompute_of, table
from variorum.lab.measure import Measure
from variorum.lab.questions import load_questions
from variorum.lab.recall.vectors import VectorCache
from variorum.lab.recompute import recompute
from variorum.lab.record import Run, Table, command_line, write_table
from variorum.lab.statistics import Estimate
from variorum.lab.subjects import short
from variorum.lab.trial import Settings
from variorum.surfaces.cli.lab_options import (
    budget_option,
    chunker_option,
    lab_options,
    out_option,
    peers_option,
    print_table,
    questions_option,
    revisions_option,
    row_fields,
    split_option,
    study_options,
)
from variorum.surfaces.cli.lab_recall import require_questions
from variorum.surfaces.cli.options import Common
from variorum.surfaces.cli.output import console, print_json


@click.command()
@revisions_option
@questions_option
@chunker_option
@peers_option
@budget_option
@split_option
@out_option("lab-frontier")
@study_options
@lab_options
def frontier(
    common: Common,
    settings: Settings,
    revisions: Path,
    questions: str,
    chunkers: tuple[str, ...],
    peers: bool,
    budget: int,
    split: Literal["tune", "held-out", "all"],
    out: Path,
    limit: int | None,
    workers: int | None,
) -> int:
    """Set what chunkers embed again on real histories against what they find in a budget.

    The grid is every --chunker (anchored+planner without one) and recursive at 100, 170, 250 and
    400 tokens, with --peers also LangChain's and semantic-text-splitter's Markdown splitters; each
    alone and with one neighbour each side.
    """
    dataset = load_questions(questions).part(split)
    require_questions(dataset, split)
    specs = grid(chunkers, peers=peers)
    measure = Measure("evidence_recall", budget)
    cache = VectorCache(cache_root() / "lab", embedder_from_spec(settings.model))
    with common.progress() as progress:
        study = recompute(
            revisions,
            specs,
            settings,
            out,
            progress,
            command=command_line(),
            limit=limit,
            workers=workers,
        )
        costs = {spec: recompute_of(study.documents, spec) for spec in study.specs}
        found = list(points(dataset, costs, measure, cache, progress))
        cache.close()
    languages = sorted({language for one in costs.values() for language in one})
    result = table(found, measure, languages)
    asked = {"questions": dataset.name, "split": split, "budget": budget}
    inputs = {**study.run.inputs, **dataset.files}
    settings_fields = {**settings.as_fields(), **asked}
    made = Run(study.run.command, inputs, settings_fields, study.run.recipes, study.run.packages)
    write_table(out, result, made)
    if common.as_json:
        print_json({"ok": True, **_fields(result, asked), "out": str(out)})
    else:
        _print(found, languages, asked, out)
    return 0


def _fields(result: Table, asked: Mapping[str, object]) -> Mapping[str, object]:
    return {**asked, "points": row_fields(result)}


def _print(
    found: list[Point], languages: list[str], asked: Mapping[str, object], out: Path
) -> None:
    rows = []
    for one in sorted(found, key=lambda point: (-point.recall.value, point.spec)):
        low, high = one.recall.interval
        recall = f"{100 * one.recall.value:.1f} ({100 * low:.1f}–{100 * high:.1f})"
        costs = [_cost(one.recompute.get(language)) for language in languages]
        beaten = [
            language
            for language in languages
            if any(one.is_beaten_by(other, language) for other in found)
        ]
        words = ", ".join(beaten) or "–"
        rows.append(
            [short(one.spec), str(one.neighbours), f"{one.mean_tokens:.0f}", recall, *costs, words]
        )
    columns = ["chunker", "neighbours", "size", "recall % (95 %)"]
    columns += [f"R {language} % (95 %)" for language in languages]
    title = "{questions}, {split}, {budget} tokens".format(**asked)
    print_table(title, [*columns, "beaten on both"], rows)
    console().print(f"Tables, records and audit are in {out}.")


def _cost(cost: Estimate | None) -> str:
    if cost is None:
        return "NA"
    low, high = cost.over_documents
    return f"{100 * float(cost.mean):.1f} ({100 * low:.1f}–{100 * high:.1f})"


COMMANDS = (frontier,)
