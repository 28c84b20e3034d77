"""`prune`, `gc` and `erase` at the command line."""

import pytest

from json_shapes import SHAPES, shape
from workplace import LEAVE, Workplace


@pytest.fixture
def twice(published: Workplace) -> Workplace:
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    published.done("sync")
    return published


@pytest.mark.parametrize(
    "arguments",
    [("prune", "--keep", "1"), ("gc", "--older-than", "0d"), ("erase", "docs:leave.md")],
)
def test_a_removal_has_the_documented_fields(twice: Workplace, arguments: tuple[str, ...]) -> None:
    assert shape(twice.json(*arguments)) == SHAPES[arguments[0]]


def test_the_log_shows_what_was_pruned(twice: Workplace) -> None:
    assert (
        "Would remove 1 generation, 1 revision"
        in twice.done("prune", "--keep", "1", "--dry-run").out
    )
    assert "Generation 2 is the oldest that is kept." in twice.done("prune", "--keep", "1").out
    lines = twice.done("log").out.splitlines()
    assert [("pruned" in line) for line in lines] == [False, True]
    refused = twice.run("search", "leave", "--as-of", "1", "--json")
    assert (refused.code, refused.json["kind"]) == (4, "generation-pruned")


def test_an_erasure_says_what_it_proved_and_what_it_cannot_reach(twice: Workplace) -> None:
    out = twice.done("erase", "docs:leave.md").out
    assert "searched for in the store's files: 0 found" in out
    assert "Out of reach: exports, backups and copies" in out
    assert "docs:leave.md: erased" in twice.done("plan", "-v").out
    assert "takes docs:leave.md up again" in twice.done("erase", "docs:leave.md", "--lift").out
    assert twice.json("sync")["documents"]["added"] == 1
    again = twice.run("erase", "docs:leave.md", "--lift", "--json")
    assert (again.code, again.json["kind"]) == (4, "not-erased")
