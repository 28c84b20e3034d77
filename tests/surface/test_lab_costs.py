"""The lab's commands about costs, as a person and as a program runs them."""

import json
import re
from pathlib import Path

import pytest

from json_shapes import SHAPES, shape
from repositories import commit_all
from unit.lab.revisions import write_pairs
from workplace import Workplace

MODEL = ("--model", "hashing(max_tokens=4096)", "--workers", "1")
CHUNKERS = (
    "--chunker",
    "fixed(max_tokens=40)",
    "--chunker",
    "anchored(max_tokens=60, min_tokens=12)+planner",
)


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    found = Workplace(tmp_path)
    write_pairs(tmp_path / "pairs.jsonl")
    return found


@pytest.fixture
def repository(place: Workplace) -> Workplace:
    for day, number in enumerate((3, 5, 7), 1):
        place.write(
            "repo/notes.md", f"# Notes\n\nThere are {number} days of leave.\n\nAsk early.\n"
        )
        place.write("repo/笔记.md", f"# 笔记\n\n每年有{number}天假期。\n")
        if day == 2:
            place.write("repo/bad.md", b"\x89PNG\0")
        if day == 3:
            place.write("repo/bad.md", b"\x89PNG\0\0")
        commit_all(place.folder / "repo", day)
    return place


def study(place: Workplace, name: str, *more: str) -> dict[str, object]:
    return place.json("lab", name, "--revisions", "pairs.jsonl", *more, *MODEL)


def test_recompute_has_the_documented_fields(place: Workplace) -> None:
    found = study(place, "recompute", *CHUNKERS)
    missing = {"failures[]", "notes[]"}
    expected = {one for one in SHAPES["lab recompute"] if not one.startswith("failures[]")}
    assert shape(found) | missing == expected | missing
    assert found["tables"] == [
        "means",
        "differences",
        "ratios",
        "bands",
        "sizes",
        "sensitivity",
        "failures",
    ]


def test_a_failure_has_the_documented_fields(place: Workplace) -> None:
    found = study(place, "recompute", *CHUNKERS, "--min-tokens", "100000")
    fields = {one for one in SHAPES["lab recompute"] if one.startswith("failures[]")}
    assert fields <= shape(found)


def test_recompute_prints_the_ratio_of_the_first_chunker_to_each_other_one(
    place: Workplace,
) -> None:
    shown = place.done("lab", "recompute", "--revisions", "pairs.jsonl", *CHUNKERS, *MODEL).out
    words = " ".join(shown.split())
    # Of so few pages some resamples hold none that the planner embeds anything of: NA.
    said = r"R of fixed\(max_tokens=40\) is (\d+\.\d{3}) times that of .*?planner \((\S+)–(\S+)\)"
    assert [len(one) for one in re.findall(said, words)] == [3, 3]


def test_recompute_shows_one_line_a_chunker_and_where_the_rest_is(place: Workplace) -> None:
    shown = place.done("lab", "recompute", "--revisions", "pairs.jsonl", *CHUNKERS, *MODEL).out
    assert "pairs primary, en" in shown
    assert "pairs primary, zh" in shown
    assert re.search(r"^fixed\(max_tokens=40\) +\d+/\d+ +\d+ +\d+\.\d", shown, re.MULTILINE)
    assert "lab-recompute" in shown


def test_replay_has_the_documented_fields(repository: Workplace) -> None:
    found = repository.json("lab", "replay", "git:repo", *CHUNKERS, *MODEL, "--price", "0.02")
    left = {"failures[]"}
    expected = {one for one in SHAPES["lab replay"] if not one.startswith("failures[]")}
    assert shape(found) | left == expected | left
    assert (found["commits"], found["documents"]) == (3, 2)
    assert found["left_out"] == [{"document": "bad.md", "reason": "binary"}]


def test_replay_says_what_costs_most_and_which_setting_to_choose(repository: Workplace) -> None:
    shown = repository.done("lab", "replay", "git:repo", *CHUNKERS, *MODEL, "--last", "2").out
    assert "2 commits" in shown
    assert "笔记.md" in shown
    assert "embeds least" in shown
    assert "left out" in shown


def test_a_repository_that_is_not_there_is_told(place: Workplace) -> None:
    result = place.run("lab", "replay", "git:nowhere", *MODEL, "--json")
    assert (result.code, result.json["kind"]) == (4, "no-such-repository")


@pytest.mark.parametrize(
    ("name", "options", "tables"),
    [
        (
            "grid",
            ("--family", "fixed", "--family", "anchored", "--target", "40"),
            ["grid", "matched", "gates"],
        ),
        ("position", CHUNKERS, ["position"]),
        ("verbatim", CHUNKERS, ["verbatim"]),
        ("overlap", ("--size", "40", "--percent", "0", "--percent", "25"), ["overlap"]),
        ("calibrate", ("--target", "40", "--family", "fixed"), ["calibration"]),
    ],
)
def test_a_study_gives_its_tables_as_rows_and_as_files(
    place: Workplace, name: str, options: tuple[str, ...], tables: list[str]
) -> None:
    found = study(place, name, *options)
    assert found["tables"] == tables
    for table in tables:
        path = place.folder / f"lab-{name}" / f"{table}.csv"
        columns = path.read_text().splitlines()[0].split(",")
        rows = found[table]
        assert isinstance(rows, list)
        assert all(list(row) == columns for row in rows)
    shown = place.done("lab", name, "--revisions", "pairs.jsonl", *options, *MODEL).out
    assert f"lab-{name}" in shown


def test_an_unknown_chunker_is_refused_before_anything_is_read(place: Workplace) -> None:
    result = place.run(
        "lab", "recompute", "--revisions", "nowhere.jsonl", "--chunker", "none", *MODEL, "--json"
    )
    assert (result.code, result.json["kind"]) == (2, "unknown-chunker")


def test_the_report_is_one_file_that_loads_nothing(place: Workplace) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `report`")
    study(place, "recompute", *CHUNKERS)
    study(place, "position", *CHUNKERS, "--out", "lab-recompute/position")
    found = place.json("lab", "report", "lab-recompute")
    assert shape(found) == SHAPES["lab report"]
    assert found["runs"] == 2
    page = (place.folder / "lab-recompute" / "report.html").read_text()
    links = re.findall(r'(?:src|href)="(?!#)([^"]*)"|url\((?!#)([^)]*)\)', page)
    assert links == []
    assert "<script" not in page
    assert page.count("<svg") >= 6
    assert 'name="viewport"' in page
    assert "@media print" in page
    assert 'lang="zh"' in page
    assert "天" in page


def test_the_same_tables_give_the_same_report(place: Workplace) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `report`")
    study(place, "recompute", *CHUNKERS)
    for name in ("one.html", "two.html"):
        place.done("lab", "report", "lab-recompute", "--file", name)
    one, two = ((place.folder / name).read_bytes() for name in ("one.html", "two.html"))
    assert one == two


def test_a_report_without_text_has_figures_and_hashes_alone(place: Workplace) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `report`")
    study(place, "recompute", *CHUNKERS)
    place.done("lab", "report", "lab-recompute", "--without-text", "--file", "figures.html")
    page = (place.folder / "figures.html").read_text()
    worst = json.loads((place.folder / "lab-recompute" / "worst.json").read_text())
    texts = [row["new"]["text"] for one in worst for row in one["rows"] if row.get("new")]
    assert texts
    assert not any(text in page for text in texts)


def test_markup_in_a_document_stays_text(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `report`")
    place = Workplace(tmp_path)
    attack = "<script>alert(1)</script> & <img src=x onerror=y>"
    record = {"id": attack, "repo": "r", "lang": "en", "path": "a.md", "old_path": "a.md"}
    record |= {"old_text": f"one two {attack}", "new_text": f"one two three {attack}"}
    place.write("pairs.jsonl", json.dumps(record))
    study(place, "recompute", "--chunker", "fixed(max_tokens=4)")
    place.done("lab", "report", "lab-recompute")
    page = (tmp_path / "lab-recompute" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_a_table_that_was_changed_by_hand_is_refused(place: Workplace) -> None:
    study(place, "recompute", *CHUNKERS)
    path = place.folder / "lab-recompute" / "means.csv"
    path.write_text(path.read_text().replace("0.", "0.0", 1))
    result = place.run("lab", "report", "lab-recompute", "--json")
    assert (result.code, result.json["kind"]) == (8, "changed-table")


def test_a_folder_without_a_run_is_told(place: Workplace) -> None:
    result = place.run("lab", "report", ".", "--json")
    assert (result.code, result.json["kind"]) == (4, "no-tables")
