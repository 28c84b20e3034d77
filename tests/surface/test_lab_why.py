"""`lab why` names the stage that lost a passage, in a real store."""

from typing import Any

import pytest

from workplace import LEAVE, Workplace

QUESTION = "How long is parental leave?"


def citation(place: Workplace, query: str = "parental leave working days") -> str:
    return str(place.json("search", query, "-k", "1")["hits"][0]["citation"])


def asked(place: Workplace, expected: str, *more: str) -> dict[str, Any]:
    found = place.json("lab", "why", QUESTION, "--expect", expected, *more)
    assert found["ok"], found
    return found


def state(found: dict[str, Any], stage: str) -> str:
    [one] = [one for one in found["stages"] if one["stage"] == stage]
    return str(one["state"])


def test_a_passage_that_comes_back_is_lost_nowhere(published: Workplace) -> None:
    found = asked(published, citation(published))
    assert found["lost_at"] is None
    [chunk] = found["chunks"]
    assert (chunk["rank"], chunk["packed"]) == (1, True)
    assert state(found, "permission") == "not-checked"


def test_the_passage_is_followed_into_a_later_revision_and_through_a_rename(
    revised: Workplace,
) -> None:
    travel = citation(revised, "高铁 报销")
    assert "trips.md" in travel
    assert asked(revised, travel.replace("trips.md", "travel.md"))["lost_at"] is None


def test_a_passage_that_was_edited_away_is_lost_at_version(published: Workplace) -> None:
    before = citation(published)
    published.write("docs/leave.md", LEAVE.replace("80 working days at full pay", "not granted"))
    published.done("sync")
    found = asked(published, before)
    assert found["lost_at"] == "version"
    assert [state(found, name) for name in ("parsing", "split")] == ["passed", "not-reached"]
    assert asked(published, before, "--as-of", "1")["lost_at"] is None


def test_a_passage_of_a_removed_document_is_lost_at_version(published: Workplace) -> None:
    before = citation(published)
    (published.folder / "docs/leave.md").unlink()
    published.done("sync")
    assert asked(published, before)["lost_at"] == "version"


def test_a_revision_that_could_not_be_read_is_lost_at_parsing(place: Workplace) -> None:
    place.write("docs/bad.md", b"ok \xff")
    assert place.run("sync").code == 3
    found = asked(place, "docs:bad.md@0123456789abcdef[0:2]")
    assert found["lost_at"] == "parsing"
    assert "undecodable" in found["stages"][0]["found"]


def test_a_passage_behind_the_candidates_is_lost_at_ranking(published: Workplace) -> None:
    travel = citation(published, "高铁 报销")
    found = asked(published, travel, "-k", "1")
    assert found["lost_at"] == "ranking"
    assert found["chunks"][0]["rank"] > 1


def test_a_passage_that_does_not_fit_is_lost_at_packing(published: Workplace) -> None:
    found = asked(published, citation(published), "--budget", "3")
    assert found["lost_at"] == "packing"


def test_a_passage_of_which_one_half_is_back_is_lost_at_split(place: Workplace) -> None:
    place.configure("[chunking]\nchunker = 'fixed(max_tokens=4)'\nplanner = false\n")
    place.done("sync")
    start, end = LEAVE.index("Parental leave is"), LEAVE.index(" at full pay.")
    head = citation(place).partition("[")[0]
    found = asked(place, f"{head}[{start}:{end}]", "--budget", "4")
    assert len(found["chunks"]) > 1
    assert found["lost_at"] == "split"


@pytest.mark.parametrize(
    ("expected", "kind"),
    [
        ("docs:leave.md", "bad-citation"),
        ("docs:none.md@0123456789abcdef[0:2]", "no-such-citation"),
    ],
)
def test_what_cannot_be_followed_is_an_error(
    published: Workplace, expected: str, kind: str
) -> None:
    found = published.json("lab", "why", QUESTION, "--expect", expected)
    assert (found["ok"], found["kind"]) == (False, kind)


def test_a_range_without_text_and_a_blank_question_are_errors(published: Workplace) -> None:
    head = citation(published).partition("[")[0]
    for question, span in ((QUESTION, "[0:0]"), (QUESTION, "[0:99999]"), (" ", "[0:9]")):
        found = published.run("lab", "why", question, "--expect", head + span)
        assert found.code == 2


def test_the_screen_names_the_stage(published: Workplace) -> None:
    shown = published.done("lab", "why", QUESTION, "--expect", citation(published), "-k", "1").out
    assert "is returned" in shown
    assert shown.count("\n") == 7
