"""`lab recall`: what chunkers find, on questions with evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from variorum.embedding import embedder_from_spec
from variorum.embedding.e5.cache import cache_root
from variorum.lab.measure import Measure
from variorum.lab.questions import Dataset, load_questions
from variorum.lab.recall.cutters import canonical, cutter_of, recipe_text
from variorum.lab.recall.running import (
    DEFAULT_RANK,
    Recall,
    Result,
    Subject,
    audit,
    default_measures,
    run,
    tables,
)
from variorum.lab.recall.study import Trial
from variorum.lab.recall.summary import Mean, control_of, difference, mean_of
from variorum.lab.recall.vectors import VectorCache
from variorum.lab.record import AUDIT, Run, command_line, write_audit, write_table
from variorum.lab.subjects import short
from variorum.records.errors import InputError
from variorum.records.protocols import Embedder
from variorum.surfaces.cli.lab_options import (
    budget_option,
    chosen,
    chunker_option,
    lab_options,
    out_option,
    peers_option,
    print_table,
    questions_option,
    split_option,
)
from variorum.surfaces.cli.options import Common
from variorum.surfaces.cli.output import console, print_json

BASELINE = "recursive(max_tokens=400)"
DEFAULT = "anchored"


@click.command()
@questions_option
@click.option(
    "--revisions",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The texts of versioned-en and versioned-zh.",
)
@chunker_option
@peers_option
@budget_option
@click.option(
    "-k",
    "rank",
    type=click.IntRange(1, 100),
    default=DEFAULT_RANK,
    show_default=True,
    metavar="N",
    help="Cut-off of the ranking measures.",
)
@click.option(
    "--neighbours",
    type=click.IntRange(0, 10),
    default=0,
    show_default=True,
    metavar="N",
    help="Units returned before and after each one that was found.",
)
@click.option(
    "--heading-depth",
    type=click.IntRange(0, 6),
    default=0,
    show_default=True,
    metavar="N",
    help="Headings put before the text for embedding.",
)
@split_option
@click.option(
    "--model", default="e5-small", show_default=True, metavar="SPEC", help="What embeds and counts."
)
@out_option("lab-recall")
@lab_options
def recall(
    common: Common,
    questions: str,
    revisions: Path | None,
    chunkers: tuple[str, ...],
    peers: bool,
    budget: int,
    rank: int,
    neighbours: int,
    heading_depth: int,
    split: Literal["tune", "held-out", "all"],
    model: str,
    out: Path,
) -> int:
    """Measure what chunkers find within a budget of tokens, on questions with known evidence.

    Every document of the set is in the pool. The first chunker is what the others are compared
    with. Vectors are kept in the user's cache folder, and no input is embedded twice.
    """
    dataset = load_questions(questions, revisions).part(split)
    require_questions(dataset, split)
    asked = _Asked(dataset, split, heading_depth, embedder_from_spec(model))
    specs = [canonical(one) for one in chosen(chunkers, (BASELINE, DEFAULT), peers=peers)]
    trial = Trial(default_measures(budget, rank), neighbours)
    cache = VectorCache(cache_root() / "lab", asked.embedder)
    with common.progress() as progress:
        subjects = [asked.subject(spec, cache) for spec in dict.fromkeys(specs)]
        found = run(dataset, subjects, trial, cache, progress)
        cache.close()
    written = _write(found, asked, out)
    if common.as_json:
        print_json({"ok": True, **_fields(found, asked, cache), "written": written})
    else:
        _print(found, asked, cache, out)
    return 0


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command was asked to measure."""

    dataset: Dataset
    split: str
    heading_depth: int
    embedder: Embedder

    def subject(self, spec: str, cache: VectorCache) -> Subject:
        cutter = cutter_of(spec, self.embedder, cache.vectors, self.heading_depth)
        return Subject(spec, cutter, recipe_text(spec, self.embedder, self.heading_depth))

    def settings(self, found: Recall) -> dict[str, object]:
        return {
            "dataset": self.dataset.name,
            "split": self.split,
            "measures": [str(one) for one in found.trial.measures],
            "neighbours": found.trial.neighbours,
            "heading_depth": self.heading_depth,
            "model": self.embedder.identity.name,
            "model_fingerprint": self.embedder.identity.fingerprint,
        }


def require_questions(dataset: Dataset, split: str) -> None:
    """Refuse a set that has nothing to score.

    Raises:
        InputError: kind `no-questions`.
    """
    if not any(one.is_answerable for one in dataset.questions):
        raise InputError(
            f"{dataset.name} has no answerable question in the split {split}",
            kind="no-questions",
            subject=dataset.name,
            expected="at least one question with evidence",
            found="none",
            remedy="choose --split all, or add questions",
        )


def _write(found: Recall, asked: _Asked, out: Path) -> list[str]:
    recipes = {one.subject.name: one.subject.recipe for one in found.results}
    made = Run(command_line(), asked.dataset.files, asked.settings(found), recipes)
    for table in tables(found):
        write_table(out, table, made)
    write_audit(out, audit(found))
    names = [f"{table.name}.{ending}" for table in tables(found) for ending in ("csv", "json")]
    return [str(out / name) for name in [*names, AUDIT]]


def _fields(found: Recall, asked: _Asked, cache: VectorCache) -> Mapping[str, object]:
    first = found.results[0]
    answerable = len(first.measured.scores)
    return {
        "dataset": asked.dataset.name,
        "split": asked.split,
        "neighbours": found.trial.neighbours,
        "questions": answerable,
        "question_weight": 1 / answerable,
        "unanswerable": first.measured.unanswerable,
        "unanswerable_returned": first.measured.answered_unanswerable,
        "excluded": len(asked.dataset.excluded),
        "chunkers": [_result_fields(one, first, found) for one in found.results],
        "warnings": list(found.warnings),
        "vectors": {"embedded": cache.embedded, "reused": cache.found},
    }


def _result_fields(result: Result, first: Result, found: Recall) -> Mapping[str, object]:
    control = control_of(result.measured)
    return {
        "chunker": result.subject.name,
        "units": len(result.measured.units.units),
        "mean_tokens": round(result.mean_tokens, 1),
        "vectors_per_thousand_tokens": round(result.vectors_per_thousand_tokens, 3),
        "overlap_factor": round(result.overlap_factor, 4),
        "sentence_truncation": round(result.truncated, 6),
        "cut_sentences": round(result.cut_sentences, 6),
        "ties": result.ties,
        "unrelated_questions": control.value if control else None,
        "measures": [_measure_fields(result, first, one) for one in found.trial.measures],
    }


def _measure_fields(result: Result, first: Result, one: Measure) -> Mapping[str, object]:
    mean = mean_of(result.measured, one)
    gain = difference(result.measured, first.measured, one)
    return {
        "measure": str(one),
        "mean": mean.value if mean else None,
        "interval": list(mean.interval) if mean else None,
        "clusters_mean": mean.documents_mean if mean else None,
        "questions": mean.questions if mean else 0,
        "clusters": mean.clusters if mean else 0,
        "difference": gain.value if gain else None,
        "difference_interval": list(gain.interval) if gain else None,
    }


def _print(found: Recall, asked: _Asked, cache: VectorCache, out: Path) -> None:
    first = found.results[0]
    count = len(first.measured.scores)
    screen = console()
    screen.print(
        f"{asked.dataset.name}, {asked.split}: {count} questions, each {100 / count:.2f} points "
        "of a mean",
        style="bold",
    )
    for result in found.results:
        _print_result(result, first, found)
    if first.measured.unanswerable:
        screen.print(f"  {first.measured.unanswerable} unanswerable questions are not scored")
    for warning in found.warnings:
        screen.print(f"  {warning}", style="yellow")
    screen.print(f"  {cache.embedded:,} inputs embedded, {cache.found:,} kept from before")
    screen.print(f"Tables, records and audit are in {out}.")


def _print_result(result: Result, first: Result, found: Recall) -> None:
    units = f"{len(result.measured.units.units):,} units of {result.mean_tokens:.0f} tokens"
    vectors = f"{result.vectors_per_thousand_tokens:.1f} vectors a thousand tokens"
    parted = f"{100 * result.truncated:.1f} % of cuts inside a sentence"
    rows = []
    for one in found.trial.measures:
        gain = None if result is first else difference(result.measured, first.measured, one)
        rows.append([str(one), *_mean(mean_of(result.measured, one), ""), *_mean(gain, "+")])
    rows.append(["unrelated questions", *_mean(control_of(result.measured), ""), "", ""])
    title = f"{short(result.subject.name)}: {units}, {vectors}, {parted}"
    print_table(title, ("measure", "mean", "95 %", "less the first", "95 %"), rows)


def _mean(mean: Mean | None, sign: str) -> tuple[str, str]:
    if mean is None:
        return ("", "") if sign else ("NA", "")
    low, high = mean.interval
    return f"{mean.value:{sign}.3f}", f"{low:{sign}.3f} to {high:{sign}.3f}"


COMMANDS = (recall,)
