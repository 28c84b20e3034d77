"""Real histories replayed through `sync`: what each step embeds, against two independent counts."""

import argparse
import gzip
import json
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

import variorum
from bench.recording import RecordingEmbedder, embedder_for
from bench.study import SEED, SHARED, Result, Study, Table, Target
from variorum.records.protocols import Embedder
from variorum.records.reports import Report

CHAINS = SHARED / "revisions" / "chains.jsonl.gz"
RESAMPLES = 2_000
RECURSIVE = "recursive(max_tokens=400)"
_TOML = """
[chunking]
chunker = "{chunker}"
planner = {planner}
"""


@dataclass(frozen=True, slots=True)
class Chain:
    """One document's history; its texts oldest first."""

    name: str
    language: str
    suffix: str
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Step:
    """A sync of one revision: what was reported, and what was recounted."""

    recompute: float | None
    embedded: float | None
    embedded_inputs: int


def read_chains(limit: int | None = None, file: Path = CHAINS) -> list[Chain]:
    """The chains, or `limit` of them, as many of each language."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        chains = [_chain(json.loads(line)) for line in lines]
    if limit is None:
        return chains
    by_language = [[one for one in chains if one.language == name] for name in ("en", "zh")]
    return [one for pair in zip(*by_language, strict=True) for one in pair][:limit]


def _chain(record: Mapping[str, object]) -> Chain:
    revisions = record["revisions"]
    assert isinstance(revisions, list)
    suffix = Path(str(record["path"])).suffix
    texts = [str(step["text"]) for step in revisions]
    return Chain(str(record["id"]), str(record["lang"]), suffix, texts)


def replay(chain: Chain, embedder: Embedder, settings: str = "") -> Iterator[Step]:
    """Sync every revision of a chain into one index and check each step.

    Raises:
        AssertionError: an input was embedded twice or not at all, a second sync did something, or
            a reported fraction differs from the one counted from the stored layouts.
    """
    recording = RecordingEmbedder(embedder)
    ever: set[str] = set()
    previous: set[str] = set()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        docs = folder / "docs"
        docs.mkdir()
        (folder / "variorum.toml").write_text(
            f'{settings}\n[sources.docs]\nkind = "folder"\nroot = "docs"\n'
        )
        index = variorum.open(folder, embedder=recording)
        for text in chain.texts:
            (docs / f"page{chain.suffix}").write_bytes(text.encode())
            recording.embedded.clear()
            report = index.sync()
            embedded = list(recording.embedded)
            inputs = stored_inputs(index.store.path)
            _check_step(index, report, recording, inputs, embedded, ever)
            tokens = dict(zip(inputs, embedder.count(inputs), strict=True)) if inputs else {}
            recompute = _share(tokens, previous) if previous else None
            fresh = _share(tokens, ever)
            if report.recompute_fraction is not None or report.documents.changed:
                _check_equal("recompute_fraction", report.recompute_fraction, recompute)
            if report.generation is not None:
                _check_equal("embedded_fraction", report.embedded_fraction, fresh)
            yield Step(recompute if report.documents.changed else None, fresh, len(embedded))
            ever |= set(embedded)
            previous = set(inputs)
        index.close()


def _check_step(
    index: "variorum.Index",
    report: Report,
    recording: RecordingEmbedder,
    inputs: Sequence[str],
    embedded: Sequence[str],
    ever: set[str],
) -> None:
    if sorted(embedded) != sorted(set(inputs) - ever):
        raise AssertionError("embedded other inputs than those never embedded before")
    if report.inputs.embed != len(embedded):
        raise AssertionError(f"reported {report.inputs.embed} inputs, embedded {len(embedded)}")
    recording.embedded.clear()
    again = index.sync()
    if recording.embedded or again.generation is not None:
        raise AssertionError("a second sync did something")


def _share(tokens: Mapping[str, int], known: set[str]) -> float | None:
    total = sum(tokens.values())
    return (
        sum(count for text, count in tokens.items() if text not in known) / total if total else None
    )


def _check_equal(name: str, reported: float | None, counted: float | None) -> None:
    same = (reported is None) == (counted is None)
    if not same or (reported is not None and abs(reported - (counted or 0.0)) > 1e-12):
        raise AssertionError(f"{name}: reported {reported}, counted {counted}")


def stored_inputs(store: Path) -> list[str]:
    """The distinct inputs of the newest generation, cut from the stored bytes by plain slicing.

    Each stands behind its stored prefix.
    """
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        rows = connection.execute(
            "SELECT revision.content, chunk.start, chunk.end, chunk.prefix FROM manifest"
            " JOIN chunk ON chunk.layout_id = manifest.layout_id"
            " JOIN revision ON revision.id = manifest.revision_id"
            " WHERE manifest.to_generation IS NULL ORDER BY manifest.id, chunk.ordinal"
        ).fetchall()
    connection.close()
    texts: dict[bytes, str] = {}
    inputs: dict[str, None] = {}
    for content, start, end, prefix in rows:
        text = texts.setdefault(content, zlib.decompress(content).decode("utf-8"))
        cited = text[start:end].replace("\r\n", "\n").replace("\r", "\n").strip()
        inputs[prefix + cited] = None
    return list(inputs)


def mean_recompute(chain: Chain, model: str, settings: str) -> tuple[float, float]:
    """(mean recompute fraction over the steps that changed it, inputs embedded) of a chain."""
    steps = list(replay(chain, embedder_for(model), settings))
    changed = [step.recompute for step in steps[1:] if step.recompute is not None]
    return fmean(changed), sum(step.embedded_inputs for step in steps)


def interval(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Bootstrap 95 % interval of the ratio of means, resampling chains in pairs."""
    generator = np.random.default_rng(SEED)
    pairs = np.array([ours, theirs])
    picks = generator.integers(0, len(ours), (RESAMPLES, len(ours)))
    ratios = pairs[0][picks].mean(axis=1) / pairs[1][picks].mean(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(high)


def run(arguments: argparse.Namespace) -> Result:
    result = Result(inputs=[CHAINS])
    chains = read_chains(arguments.chains)
    recursive = _TOML.format(chunker=RECURSIVE, planner="false")
    rows: list[tuple[object, ...]] = []
    for chain in chains:
        ours, inputs = mean_recompute(chain, arguments.model, "")
        theirs, their_inputs = mean_recompute(chain, arguments.model, recursive)
        row = (chain.name, chain.language, len(chain.texts), ours, theirs, inputs, their_inputs)
        rows.append(row)
        print(f"  {chain.name}: {100 * ours:.1f} % against {100 * theirs:.1f} %", flush=True)
    columns = ("chain", "language", "revisions", "default", RECURSIVE, "inputs", "its inputs")
    result.tables.append(Table("Mean recompute fraction of a step", columns, rows))
    for language in sorted({chain.language for chain in chains}):
        mine = [row for row in rows if row[1] == language]
        _summarise(result, language, arguments.model, mine)
    return result


def _summarise(
    result: Result, language: str, model: str, rows: Sequence[tuple[object, ...]]
) -> None:
    ours = [float(str(row[3])) for row in rows]
    theirs = [float(str(row[4])) for row in rows]
    ratio = fmean(ours) / fmean(theirs)
    low, high = interval(ours, theirs)
    result.figures[language] = {
        "default_mean": fmean(ours),
        "recursive_400_mean": fmean(theirs),
        "ratio": ratio,
        "interval_95": [low, high],
        "chains": len(rows),
    }
    measured = (
        f"{100 * fmean(ours):.1f} % / {100 * fmean(theirs):.1f} % = {ratio:.3f}"
        f" [{low:.3f}, {high:.3f}]"
    )
    name = f"recompute fraction, default over recursive-400, {language}, {model} tokens"
    result.targets.append(Target(name, "at most 0.5", measured, ratio <= 0.5))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="hashing", help="hashing, or e5-small for its tokens")
    parser.add_argument("--chains", type=int, default=None, help="only so many chains")


STUDY = Study(
    "chains", "24 real histories through sync: exact reuse, and how little", run, _arguments
)
