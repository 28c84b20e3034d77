"""`--changed` at the command line."""

import io
import sys

import pytest

from workplace import LEAVE, Workplace


def test_a_list_on_stdin_says_what_was_looked_at(
    published: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    stdin = io.TextIOWrapper(io.BytesIO(b"M\tdocs/leave.md\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert "looked at  1 path of docs" in published.done("sync", "--changed", "-").out


def test_a_doubt_is_told_to_people_and_programs(published: Workplace) -> None:
    published.write("list", "D\tdocs/leave.md\n")
    assert "all of docs: still there (leave.md)" in published.done("plan", "--changed", "list").out
    (one,) = published.json("sync", "--changed", "list")["compared"]
    assert (one["scope"], one["reason"], one["paths"]) == ("all", "still-there", None)


def test_a_list_that_is_not_there_is_an_error(published: Workplace) -> None:
    refused = published.run("sync", "--changed", "nowhere", "--json")
    assert (refused.code, refused.json["kind"]) == (4, "no-such-file")
