"""`lab recall` on a set of one's own, with the hashing model."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from json_shapes import SHAPES, shape
from workplace import LEAVE, MODEL, TRAVEL, Workplace

QUESTIONS = (
    {"document": "leave", "path": "docs/leave.md"},
    {"document": "travel", "path": "docs/travel.md"},
    {
        "query_id": "q1",
        "question": "How many working days of parental leave are there?",
        "evidence": [[{"document": "leave", "quote": "Parental leave is 80 working days"}]],
        "split": "held-out",
    },
    {
        "query_id": "q2",
        "question": "高铁二等座可以报销吗？",
        "evidence": [[{"document": "travel", "quote": "高铁二等座可以全额报销。"}]],
        "split": "held-out",
    },
    {"query_id": "q3", "question": "Who cooks?", "evidence": [], "split": "held-out"},
)


@pytest.fixture
def asked(place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.setenv("VARIORUM_CACHE_DIR", str(tmp_path / "cache"))
    lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in QUESTIONS]
    place.write("questions.jsonl", "".join(lines))
    return place


def recall(place: Workplace, *more: str) -> dict[str, Any]:
    found = place.json("lab", "recall", "--questions", "questions.jsonl", "--model", MODEL, *more)
    assert found["ok"], found
    return found


CHUNKERS = ("--chunker", "fixed(max_tokens=64)", "--chunker", "anchored")


def test_it_has_the_documented_fields(asked: Workplace) -> None:
    assert shape(recall(asked, *CHUNKERS)) == SHAPES["lab recall"]


def test_both_languages_are_found_and_the_unanswerable_question_is_in_no_mean(
    asked: Workplace,
) -> None:
    found = recall(asked, *CHUNKERS)
    assert (found["questions"], found["unanswerable"], found["question_weight"]) == (2, 1, 0.5)
    for chunker in found["chunkers"]:
        means = {one["measure"]: one["mean"] for one in chunker["measures"]}
        assert means["evidence_recall@2048"] == 1


def test_a_second_run_embeds_nothing_and_writes_the_same_bytes(asked: Workplace) -> None:
    first = recall(asked, *CHUNKERS)
    written = {name: (asked.folder / name).read_bytes() for name in first["written"]}
    again = recall(asked, *CHUNKERS)
    assert (first["vectors"]["embedded"] > 0, again["vectors"]["embedded"]) == (True, 0)
    assert {name: (asked.folder / name).read_bytes() for name in again["written"]} == written


def test_the_audit_has_every_question_under_every_chunker(asked: Workplace) -> None:
    recall(asked, *CHUNKERS, "--out", "found")
    lines = (asked.folder / "found/audit.jsonl").read_text(encoding="utf-8").splitlines()
    keys = [(one["chunker"].partition("(")[0], one["query_id"]) for one in map(json.loads, lines)]
    assert keys == [("fixed", "q1"), ("fixed", "q2"), ("anchored", "q1"), ("anchored", "q2")]


def test_neighbours_and_headings_are_taken_into_account(asked: Workplace) -> None:
    small = ("--chunker", "fixed(max_tokens=4)", "--budget", "8")
    alone = recall(asked, *small)["chunkers"][0]["measures"][0]
    wide = recall(asked, *small, "--neighbours", "1")["chunkers"][0]["measures"][0]
    assert alone["measure"] == wide["measure"] == "evidence_recall@8"
    headed = recall(asked, *small, "--heading-depth", "2")
    assert headed["vectors"]["embedded"] > 0


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (("--split", "tune"), "no-questions"),
        (("--chunker", "anchored+planner"), "bad-parameter"),
        (("--chunker", "nothing"), "unknown-chunker"),
        (("--model", "none"), "unknown-model"),
    ],
)
def test_what_cannot_be_measured_is_an_error(
    asked: Workplace, options: tuple[str, ...], kind: str
) -> None:
    arguments = ("--questions", "questions.jsonl", "--model", MODEL)
    found = asked.json("lab", "recall", *arguments, *options)
    assert (found["ok"], found["kind"]) == (False, kind)


def test_a_versioned_set_needs_its_texts(asked: Workplace) -> None:
    found = asked.json("lab", "recall", "--questions", "versioned-xx")
    assert found["kind"] == "no-such-questions"


def test_the_screen_shows_means_and_differences(asked: Workplace) -> None:
    shown = asked.done(
        "lab", "recall", "--questions", "questions.jsonl", "--model", MODEL, *CHUNKERS
    ).out
    assert "2 questions, each 50.00 points of a mean" in shown
    assert "less the first" in shown
    assert "1 unanswerable questions are not scored" in shown


def chain(text: str, edited: str, language: str) -> dict[str, Any]:
    texts = (text, edited)
    revisions = [{"text": one, "sha256": hashlib.sha256(one.encode()).hexdigest()} for one in texts]
    named = {"id": language, "repo": "repository", "lang": language, "path": "a.md"}
    return {**named, "revisions": revisions}


def test_the_frontier_sets_cost_against_recall(asked: Workplace) -> None:
    chains = (
        chain(LEAVE, LEAVE.replace("80", "90"), "en"),
        chain(TRAVEL, TRAVEL.replace("三百", "四百"), "zh"),
    )
    lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in chains]
    asked.write("chains.jsonl", "".join(lines))
    where = ("--revisions", "chains.jsonl", "--questions", "questions.jsonl", "--workers", "1")
    found = asked.json("lab", "frontier", *where, "--model", MODEL)
    assert shape(found) == SHAPES["lab frontier"]
    points = found["points"]
    assert len(points) == 2 * 5
    assert {one["neighbours"] for one in points} == {0, 1}
    assert points[0]["chunker"].endswith("+planner")
    assert all(0 < one["recompute_fraction_zh"] <= 1 for one in points)
    shown = asked.done("lab", "frontier", *where, "--model", MODEL).out
    assert "beaten on both" in shown
