"""`lab recall`: what chunkers find, on questions with evidence."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from variorum.door.index import Index
from variorum.embedding.e5.cache import cache_root
from variorum.lab.measure import Measure
from variorum.lab.questions import Dataset, load_questions
from variorum.lab.recall.cutters import cutter_of, recipe_of
from variorum.lab.recall.running import (
    DEFAULT_BUDGET,
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
from variorum.lab.record import Run, command_line, write_audit, write_table
from variorum.records.errors import InputError
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, print_json

BASELINE = "recursive(max_tokens=400)"


@click.command()
@click.option(
    "--questions", required=True, metavar="DATASET", help="A set of questions: its path or name."
)
@click.option(
    "--revisions",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="The texts of versioned-en and versioned-zh.",
)
@click.option(
    "--chunker",
    "chunkers",
    multiple=True,
    metavar="SPEC",
    help=f"May be given again [default: {BASELINE}, then as configured].",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=DEFAULT_BUDGET,
    show_default=True,
    metavar="TOKENS",
    help="Tokens that are returned for a question.",
)
@click.option(
    "-k",
    "rank",
    type=click.IntRange(min=1, max=100),
    default=DEFAULT_RANK,
    show_default=True,
    metavar="N",
    help="Cut-off of the ranking measures.",
)
@click.option(
    "--neighbours",
    type=click.IntRange(min=0, max=10),
    default=0,
    show_default=True,
    metavar="N",
    help="Units returned before and after each one that was found.",
)
@click.option(
    "--heading-depth",
    type=click.IntRange(min=0, max=6),
    default=0,
    show_default=True,
    metavar="N",
    help="Headings put before the text for embedding.",
)
@click.option(
    "--split",
    type=click.Choice(["tune", "held-out", "all"]),
    default="held-out",
    show_default=True,
    help="Which questions are asked.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the tables, their records and every question's scores there.",
)
@common_options
def recall(
    common: Common,
    questions: str,
    revisions: Path | None,
    chunkers: tuple[str, ...],
    budget: int,
    rank: int,
    neighbours: int,
    heading_depth: int,
    split: str,
    out: Path | None,
) -> int:
    """Measure what chunkers find within a budget of tokens, on questions with known evidence.

    Every document of the set is in the pool; the first chunker is what the others are compared
    with.
    """
    dataset = load_questions(questions, revisions).part(split)  # type: ignore[arg-type]
    _require_questions(dataset, split)
    trial = Trial(default_measures(budget, rank), neighbours)
    with common.index() as index, common.progress() as progress:
        cache = VectorCache(cache_root() / "lab", index.embedder)
        specs = chunkers or (BASELINE, index.settings.chunker)
        subjects = [_subject(spec, index, cache, heading_depth) for spec in specs]
        found = run(dataset, subjects, trial, cache, progress)
        cache.close()
    written = _write(found, out, index, split, heading_depth) if out else []
    if common.as_json:
        print_json({"ok": True, **_fields(found, cache, split), "written": written})
    else:
        _print(found, cache, split, written)
    return 0


def _require_questions(dataset: Dataset, split: str) -> None:
    if not any(one.is_answerable for one in dataset.questions):
        raise InputError(
            f"{dataset.name} has no answerable question in the split {split}",
            kind="no-questions",
            subject=dataset.name,
            expected="at least one question with evidence",
            found="none",
            remedy="choose --split all, or add questions",
        )


def _subject(spec: str, index: Index, cache: VectorCache, heading_depth: int) -> Subject:
    recipe = recipe_of(spec, index.embedder, heading_depth)
    cutter = cutter_of(spec, index.embedder, cache.vectors, heading_depth)
    return Subject(recipe.chunker, cutter, recipe.fingerprint)


def _write(found: Recall, out: Path, index: Index, split: str, heading_depth: int) -> list[str]:
    settings = {
        "dataset": found.dataset.name,
        "split": split,
        "measures": [str(one) for one in found.trial.measures],
        "neighbours": found.trial.neighbours,
        "heading_depth": heading_depth,
        "model": index.embedder.identity.name,
        "model_fingerprint": index.embedder.identity.fingerprint,
    }
    recipes = {one.subject.name: one.subject.recipe for one in found.results}
    made = Run(command_line(), found.dataset.files, settings, recipes)
    for table in tables(found):
        write_table(out, table, made)
    write_audit(out, audit(found))
    names = [f"{table.name}.{ending}" for table in tables(found) for ending in ("csv", "json")]
    return [str(out / name) for name in [*names, "audit.jsonl"]]


def _fields(found: Recall, cache: VectorCache, split: str) -> Mapping[str, object]:
    first = found.results[0]
    answerable = len(first.measured.scores)
    return {
        "dataset": found.dataset.name,
        "split": split,
        "neighbours": found.trial.neighbours,
        "questions": answerable,
        "question_weight": 1 / answerable,
        "unanswerable": first.measured.unanswerable,
        "unanswerable_returned": first.measured.answered_unanswerable,
        "excluded": len(found.dataset.excluded),
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


def _print(found: Recall, cache: VectorCache, split: str, written: list[str]) -> None:
    out = console()
    first = found.results[0]
    scores = first.measured.scores
    out.print(
        f"{found.dataset.name}, {split}: {len(scores)} questions, each "
        f"{100 / len(scores):.2f} points of a mean",
        style="bold",
    )
    if first.measured.unanswerable:
        out.print(f"  {first.measured.unanswerable} unanswerable questions are not scored")
    for line in _lines(found):
        out.print(line)
    for warning in found.warnings:
        out.print(f"  careful: {warning}", style="yellow")
    out.print(f"  vectors: {cache.embedded:,} embedded, {cache.found:,} kept from before")
    for name in written:
        out.print(f"  written: {name}")


def _lines(found: Recall) -> Iterator[str]:
    first = found.results[0]
    for result in found.results:
        yield ""
        yield f"{result.subject.name}"
        yield (
            f"  {len(result.measured.units.units):,} units of {result.mean_tokens:.0f} tokens, "
            f"{result.vectors_per_thousand_tokens:.1f} vectors a thousand tokens, "
            f"{100 * result.truncated:.1f} % of cuts inside a sentence"
        )
        for one in found.trial.measures:
            gain = difference(result.measured, first.measured, one) if result != first else None
            yield _line(str(one), mean_of(result.measured, one), gain)
        yield _line("unrelated questions", control_of(result.measured), None)


def _line(name: str, mean: Mean | None, gain: Mean | None) -> str:
    if mean is None:
        return f"  {name:<22} NA"
    line = f"  {name:<22} {mean.value:6.3f}  ({mean.interval.low:.3f} to {mean.interval.high:.3f})"
    if gain is None:
        return line
    low, high = gain.interval
    return f"{line}   {gain.value:+.3f} ({low:+.3f} to {high:+.3f}) against the first"


COMMANDS = (recall,)
