"""With --json every command prints exactly one object with the documented fields on stdout."""

import json
import sqlite3
from typing import Any

import pytest

from json_shapes import CONTEXT, ERROR_SHAPE, SHAPES, shape
from workplace import LEAVE, Workplace


def found_shape(place: Workplace, *arguments: str) -> set[str]:
    result = place.run(*arguments, "--json")
    assert result.err == ""
    return shape(result.json)


def with_sources_that_leave(place: Workplace) -> None:
    """`docs` under two names, and two sources that were published and are configured no more."""
    names = {"again": "docs", "gone": "gone", "left": "left"}
    tables = {name: f'[sources.{name}]\nroot = "{root}"\n' for name, root in names.items()}
    place.write("gone/a.md", "Gone.")
    place.write("left/a.md", "Left.")
    place.configure("".join(tables.values()))
    place.run("sync")
    place.configure(tables["again"])


def test_a_plan_has_the_documented_fields(published: Workplace) -> None:
    with_sources_that_leave(published)
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    published.write("docs/bad.md", b"ok \xff")
    published.write("docs/logo.png", b"\x89PNG")
    published.write("docs/odd.md", "---\na: [\n---\n\nText.\n")
    options = ("-v", "--usd-per-mtok", "0.5", "--explain", "docs:leave.md")
    options += ("--drop-source", "gone", "--changed", published.list_of_doubt())
    of_a_removed_document = {"detail[].tokens_by_reason[]"}
    assert found_shape(published, "plan", *options) == SHAPES["plan"] | of_a_removed_document


def test_without_verbose_a_plan_leaves_the_documents_out(published: Workplace) -> None:
    assert {"detail", "explained", "explanations"} & set(published.json("plan")) == set()


def test_a_document_that_stays_has_no_explanations(published: Workplace) -> None:
    plan = published.json("plan", "--explain", "docs:leave.md")
    assert (plan["explained"], plan["explanations"]) == (None, [])


def test_a_sync_has_the_documented_fields(place: Workplace) -> None:
    with_sources_that_leave(place)
    place.write("docs/bad.md", b"ok \xff")
    place.write("docs/logo.png", b"\x89PNG")
    place.write("docs/odd.md", "---\na: [\n---\n\nText.\n")
    options = ("--drop-source", "gone", "--changed", place.list_of_doubt())
    assert found_shape(place, "sync", *options) == SHAPES["sync"]


def test_a_sync_does_what_the_plan_before_it_counted(published: Workplace) -> None:
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    promised, done = published.json("plan"), published.json("sync")
    for name in ("documents", "inputs", "tokens", "recompute_fraction", "embedded_fraction"):
        assert promised[name] == done[name]
    assert (promised["generation"], done["generation"]) == (None, 2)
    assert promised["documents"]["changed"] == 1
    assert done["inputs"]["embed"] >= 1


READING = [
    ("search", ("search", "parental leave", "--explain", "-k", "1"), ()),
    ("log", ("log",), ()),
    ("diff", ("diff", "1", "2"), ()),
    ("status", ("status",), ("held[]", "shared_roots[]")),
    ("restore", ("restore", "1"), ()),
    ("verify", ("verify",), ("findings[]",)),
    ("doctor", ("doctor",), ()),
    ("init", ("init", "--config", "other.toml"), ()),
]


@pytest.mark.parametrize(("name", "arguments", "empty"), READING, ids=str)
def test_a_command_has_the_documented_fields(
    revised: Workplace, name: str, arguments: tuple[str, ...], empty: tuple[str, ...]
) -> None:
    found = found_shape(revised, *arguments)
    documented = {leaf for leaf in SHAPES[name] if not any(leaf.startswith(e) for e in empty)}
    assert found == documented | set(empty)


def test_a_context_has_the_documented_fields(published: Workplace) -> None:
    found = published.json("search", "parental leave", "--context", "--budget", "120")
    assert shape(found) == CONTEXT
    assert found["tokens"] <= 120
    assert all(one["text"] in found["text"] for one in found["passages"])


def test_a_context_alone_is_on_stdout_and_what_it_took_on_stderr(published: Workplace) -> None:
    arguments = ("search", "parental leave", "--context", "--budget", "120")
    text = published.json(*arguments)["text"]
    result = published.done(*arguments, "--explain")
    assert result.out == text
    assert "of 120 tokens" in result.err
    assert "tokens with it" in result.err


@pytest.mark.parametrize("option", [("--budget", "9"), ("--format", "json"), ("--expand", "none")])
def test_an_option_of_a_context_without_one_is_an_error(
    published: Workplace, option: tuple[str, str]
) -> None:
    result = published.run("search", "leave", *option, "--json")
    assert (result.code, result.json["kind"]) == (2, "bad-parameter")


def test_an_opened_citation_has_the_documented_fields(published: Workplace) -> None:
    hit = published.json("search", "parental leave", "-k", "1")["hits"][0]
    opened = published.json("show", hit["citation"])
    assert shape(opened) == SHAPES["show"]
    assert opened["text"] == hit["text"] == LEAVE[hit["start"] : hit["end"]]


def test_a_status_lists_what_is_held_with_the_documented_fields(place: Workplace) -> None:
    with_sources_that_leave(place)
    place.write("docs/bad.md", b"ok \xff")
    assert place.run("sync").code == 3
    assert found_shape(place, "status") == SHAPES["status"]


def test_chunk_prints_one_object_a_line_for_each_file(place: Workplace) -> None:
    result = place.done("chunk", "docs/leave.md", "docs/travel.md", "--json")
    cuts = [json.loads(line) for line in result.out.splitlines()]
    assert [cut["path"] for cut in cuts] == ["docs/leave.md", "docs/travel.md"]
    reuse = {"chunks[].reused", "reused_tokens"}
    assert all(shape(cut) | {"chunks[].heading_path[]"} == SHAPES["chunk"] - reuse for cut in cuts)


def test_chunk_given_an_older_file_says_what_is_reused(place: Workplace) -> None:
    place.write("old.md", LEAVE.replace("80", "70"))
    cut = place.json("chunk", "docs/leave.md", "--given", "old.md")
    assert shape(cut) | {"chunks[].heading_path[]"} == SHAPES["chunk"]


def test_a_repair_has_the_documented_fields_and_exits_8_where_something_is_left(
    published: Workplace,
) -> None:
    with sqlite3.connect(published.folder / ".variorum/store.sqlite") as connection:
        connection.execute("UPDATE chunk SET start = start + 1 WHERE ordinal = 0")
        connection.execute("UPDATE collection SET name = name || 'xyz', seal = seal + 77")
    result = published.run("repair", "--dry-run", "--json")
    assert (result.code, result.json["dry_run"]) == (8, True)
    assert shape(result.json) == SHAPES["repair"]
    said = published.run("repair")
    assert said.code == 8
    assert "mended: chunk layout_id=1 ordinal=0: checksum" in said.out
    assert "left: row: collection id=1" in said.out
    assert "1 finding left" in said.out


def test_a_repair_of_a_whole_store_says_so(published: Workplace) -> None:
    assert "nothing to repair" in published.done("repair").out
    assert published.json("repair") == {
        "ok": True,
        "dry_run": False,
        "findings": 0,
        "mended": [],
        "left": [],
        "embedded": {"inputs": 0, "tokens": 0},
    }


def test_findings_have_the_documented_fields_and_exit_8(published: Workplace) -> None:
    with sqlite3.connect(published.folder / ".variorum/store.sqlite") as connection:
        connection.execute("UPDATE chunk SET start = start + 1 WHERE ordinal = 0")
    result = published.run("verify", "--json")
    assert result.code == 8
    assert result.json["ok"] is False
    assert shape(result.json) == SHAPES["verify"]


def test_doctor_exits_7_where_something_is_wrong(place: Workplace) -> None:
    place.configure("[sources.gone]\nroot = 'gone'\n")
    result = place.run("doctor", "--json")
    assert result.code == 7
    assert result.json["ok"] is False
    assert [c["name"] for c in result.json["checks"] if c["state"] == "wrong"] == ["source gone"]


def test_doctor_calls_a_store_wrong_that_cannot_be_written(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("variorum.door.doctor.os.access", lambda *_: False)
    result = place.run("doctor", "--json")
    assert result.code == 7
    assert [c["name"] for c in result.json["checks"] if c["state"] == "wrong"] == ["store"]


FAILURES: list[tuple[tuple[str, ...], int, str]] = [
    (("search", "hi"), 4, "no-store"),
    (("sync", "nowhere"), 2, "unknown-source"),
    (("chunk", "none.md"), 4, "no-such-file"),
    (("chunk", "docs/leave.md", "--chunker", "foo"), 2, "unknown-chunker"),
    (("show", "xx"), 2, "bad-citation"),
    (("sync", "--max-usd", "1"), 2, "no-price"),
    (("init",), 5, "config-exists"),
    (("nope",), 2, "usage"),
    (("search",), 2, "usage"),
    (("search", "hi", "-k", "many"), 2, "usage"),
    (("plan", "--nope"), 2, "usage"),
]


@pytest.mark.parametrize(("arguments", "code", "kind"), FAILURES, ids=str)
def test_a_failure_is_one_object_on_stdout(
    place: Workplace, arguments: tuple[str, ...], code: int, kind: str
) -> None:
    result = place.run(*arguments, "--json")
    error: dict[str, Any] = result.json
    assert (result.code, error["kind"], error["ok"]) == (code, kind, False)
    assert set(error) == ERROR_SHAPE
    assert error["message"]
    assert error["remedy"]
    assert result.err == ""


@pytest.mark.parametrize(("arguments", "code", "kind"), FAILURES, ids=str)
def test_without_json_a_failure_is_on_stderr_and_says_what_to_do(
    place: Workplace, arguments: tuple[str, ...], code: int, kind: str
) -> None:
    result = place.run(*arguments)
    assert result.code == code
    assert result.out == ""
    assert result.err.startswith("Error: ")
    assert "do:" in result.err


def test_json_behind_a_double_dash_is_a_word_to_search_for(published: Workplace) -> None:
    result = published.run("search", "--", "--json")
    assert result.code == 0
    assert "lines" in result.out


def test_held_documents_exit_3_and_the_rest_is_published(place: Workplace) -> None:
    place.write("docs/bad.md", b"ok \xff")
    result = place.run("sync", "--json")
    assert result.code == 3
    assert result.json["ok"] is True
    assert result.json["generation"] == 1
    assert result.json["documents"]["held"] == 1


def test_json_survives_an_output_that_cannot_carry_its_characters(published: Workplace) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "variorum", "search", "住宿", "--path", "travel.md", "--json"]
    ran = subprocess.run(
        command,
        cwd=published.folder,
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "住宿" in json.loads(ran.stdout)["query"]
