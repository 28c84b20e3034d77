"""A replay's sums by hand, and the choice with its evidence."""

import csv
from pathlib import Path

import pytest

from repositories import commit_all
from variorum.lab.replay import Replayed, replay
from variorum.lab.trial import Settings
from variorum.sources.git_place import GitPlace

SETTINGS = Settings("hashing(max_tokens=4096)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """`a.txt` is edited at its end, then at its start; `b.txt` once, and back again."""
    place = tmp_path / "notes"
    place.mkdir()
    states = [
        ("one two three four", "red green"),
        ("one two three five", "red blue"),
        ("zero two three five", "red green"),
    ]
    for day, (a, b) in enumerate(states, 1):
        (place / "a.txt").write_text(a)
        (place / "b.txt").write_text(b)
        commit_all(place, day)
    return place


def run(folder: Path, *specs: str, price: float | None = None) -> Replayed:
    return replay(
        GitPlace(str(folder)),
        specs,
        SETTINGS,
        folder.parent / "out",
        lambda *_: None,
        command="variorum lab replay",
        price=price,
        workers=1,
    )


def test_the_sums_by_hand(folder: Path) -> None:
    """Windows of two words take 4 tokens each.

    a: two edits, each changes one window of two: recomputed 4 + 4 of 8 + 8; none comes back.
    b: two edits of its only window: recomputed 4 + 4 of 4 + 4; the second was seen before.
    """
    found = run(folder, "fixed(max_tokens=2)", price=1_000_000.0)
    (total,) = found.totals.values()
    assert (total.edits, total.full, total.recomputed, total.unseen) == (4, 24, 16, 12)
    assert total.edited == 4
    # Each edit of a keeps one window of two words, each of b none: 2 + 2 + 2 + 2 words.
    assert total.floor == 8
    assert total.usd(1_000_000.0) == 16.0
    # Over two days: a year is 182.5 times as long.
    with (folder.parent / "out" / "strategies.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["usd"], row["usd_a_year"]) == ("16.000000", "2920.000000")


def test_the_costliest_document_comes_first(folder: Path) -> None:
    found = run(folder, "fixed(max_tokens=1)", "fixed(max_tokens=4)")
    rows = found.study.table("documents").rows
    costs = [row[4] for row in rows if row[1] == found.study.specs[0]]
    assert costs == sorted(costs, reverse=True)


def test_the_choice_is_the_least_with_its_interval(folder: Path) -> None:
    found = run(folder, "fixed(max_tokens=4)", "fixed(max_tokens=2)")
    assert found.choice.spec.startswith("fixed(max_tokens=2")
    assert found.choice.difference is not None
    assert "points a document" in found.choice.sentence


def test_a_single_strategy_has_nothing_to_beat(folder: Path) -> None:
    assert "nothing to compare" in run(folder, "fixed(max_tokens=2)").choice.sentence
