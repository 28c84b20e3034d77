"""Cases of the area retrieval, by id."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import variorum
from variorum.records.errors import InputError
from variorum.records.protocols import ModelIdentity, Role, Vectors
from workbench import Bench, Recorder, json_lines

FOUND_BY_WORDS = {
    "水位": "docs:river.md",
    "监测站": "docs:river.md",
    "花火": "docs:festival.md",
}


def test_RET_01_any_part_of_a_chinese_sentence_finds_it_by_words_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"river.md": "河流水位监测站每天上报数据", "festival.md": "夏祭りの花火大会は中止"})
    bench.sync()
    for query, wanted in FOUND_BY_WORDS.items():
        assert bench.found(query, mode="lexical") == [wanted]
        assert bench.found(query)[0] == wanted


LITERAL = {
    "issue.md": "See #4471 for the report.",
    "option.md": "The switch --dry-run writes nothing.",
    "tide.md": "The tide-table hangs at the gate.",
    "math.md": "There x=9 and y grows.",
    "pier.md": "The pier is open at low water.",
}
PUNCTUATED = [
    "isn't the pier open, today?",
    "#4471",
    '"--dry-run"',
    "( OR wharf",
    "kelp*",
    "tide-table",
    "x=9 5%/yr",
    "a/b\\\\c",
]
FINDS = {
    "#4471": "docs:issue.md",
    '"--dry-run"': "docs:option.md",
    "tide-table": "docs:tide.md",
    "x=9 5%/yr": "docs:math.md",
}


@pytest.mark.parametrize("mode", ["lexical", "hybrid", "dense"])
def test_RET_02_punctuation_in_a_question_is_no_syntax(tmp_path: Path, mode: str) -> None:
    bench = Bench(tmp_path)
    bench.write(LITERAL)
    bench.sync()
    for query in PUNCTUATED:
        found = bench.found(query, mode=mode)
        if mode == "lexical" and query in FINDS:
            assert found[0] == FINDS[query]
    with pytest.raises(InputError) as refused:
        bench.found("", mode=mode)
    assert refused.value.kind in ("blank-query", "bad-parameter")


def test_RET_03_words_that_are_operators_elsewhere_are_words(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": "NEAR miss reports AND NOT wind", "b.md": "Nothing of the kind."})
    bench.sync()
    for query in ("NEAR", "NOT wind"):
        assert bench.found(query, mode="lexical")[0] == "docs:a.md"
    for query in ("title: wind", "col:wind"):
        assert isinstance(bench.found(query, mode="lexical"), list)


TIES = 30
RUNS = [2, pytest.param(20, marks=pytest.mark.long)]


def tied(home: Path, names: Sequence[str]) -> Bench:
    """The same text in documents that were brought in one after the other."""
    bench = Bench(home, "[model]\nspec = 'hashing(dimensions=64)'\n")
    for start in range(0, len(names), 10):
        bench.write(dict.fromkeys(names[start : start + 10], "The harbour closes at dusk."))
        with bench.open(embedder=None) as index:
            index.sync()
    return bench


@pytest.mark.parametrize("runs", RUNS)
def test_RET_04_equal_scores_come_in_the_same_order_in_every_process(
    tmp_path: Path, runs: int
) -> None:
    names = [f"n{number:02d}.md" for number in range(TIES)]
    benches = [tied(tmp_path / "up", names), tied(tmp_path / "down", names[::-1])]

    def ask(number: int) -> list[str]:
        command = [sys.executable, "-m", "variorum", "search", "harbour dusk", "-k", "7", "--json"]
        here = str(Path(variorum.__file__).parents[1])
        environment = {**os.environ, "PYTHONHASHSEED": str(number), "PYTHONPATH": here}
        home = benches[number % 2].home
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, check=True)
        return [hit["document"] for hit in json.loads(done.stdout)["hits"]]

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(ask, range(runs)))
    assert answers == [[f"docs:{name}" for name in names[:7]]] * runs


IDS = ["0", "10", "010", "None", "ß", "SS"]


def test_RET_06_ids_that_look_alike_stay_apart(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    settings = '[sources.notes]\nkind = "jsonl"\nroot = "notes.jsonl"\n'
    (bench.home / "variorum.toml").write_text(settings)
    lines = [{"id": one, "text": "The same words in each."} for one in IDS]
    (bench.home / "notes.jsonl").write_text(json_lines(lines))
    bench.sync()
    for mode in ("lexical", "dense", "hybrid"):
        found = bench.found("same words", mode=mode)
        assert found == sorted(f"notes:{one}" for one in IDS)
    (bench.home / "notes.jsonl").write_text(json_lines([*lines, {"id": "", "text": "None."}]))
    with pytest.raises(InputError):
        bench.sync()


PLANAR = {"first": (0.6, 0.8), "second": (0.8, 0.6), "third": (0.0, 0.0)}


class Planar(Recorder):
    """Vectors of two numbers, by the first word of a text."""

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity("planar", "planar", 2)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        rows = [PLANAR.get(text.split()[0], (1.0, 0.0)) for text in inputs]
        return np.array(rows, np.float32)


def test_RET_07_a_vector_of_zeros_never_outranks_one_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, embedder=Planar())
    bench.write({f"{name}.md": f"{name} words" for name in PLANAR})
    report, _ = bench.sync()
    assert [str(one.document) for one in report.held] == ["docs:third.md"]
    monkeypatch.setattr("variorum.embedding.answers.faults_of_rows", lambda vectors: {})
    monkeypatch.setattr("variorum.embedding.jobs.faults_of_rows", lambda vectors: {})
    bench.sync()
    with bench.open() as index:
        hits = index.search("first", 3, mode="dense").hits
    assert [(str(hit.document), hit.score) for hit in hits] == [
        ("docs:first.md", 1.0),
        ("docs:second.md", 0.96),
        ("docs:third.md", 0.0),
    ]
