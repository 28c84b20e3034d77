"""Grid, position, verbatim, overlap and calibration on small files, with the arithmetic by hand."""

import csv
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from unit.lab.fickle import a_peer, never_alike
from unit.lab.revisions import pages, pair, write_pairs, write_records
from unit.lab.words import Words
from variorum.lab import peers
from variorum.lab.calibrate import calibrate
from variorum.lab.families import FAMILIES, families
from variorum.lab.grid import Point, grid, length_ratio
from variorum.lab.histories import Revised
from variorum.lab.overlap import overlap
from variorum.lab.plots import MOST_POINTS, thinned
from variorum.lab.position import insertion, position
from variorum.lab.studying import Setup
from variorum.lab.subjects import subject
from variorum.lab.trial import Settings
from variorum.lab.verbatim import verbatim
from variorum.records.errors import InputError

SETTINGS = Settings("hashing(max_tokens=4096)")


def setup(folder: Path) -> Setup:
    return Setup(SETTINGS, folder, lambda *_: None, "variorum lab", 1)


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_pairs(tmp_path / "pairs.jsonl")


def test_every_family_gives_a_spec_at_any_size() -> None:
    for name, spec in families(FAMILIES).items():
        for size in (60, 300, 500):
            assert subject(spec(size)).spec.startswith(name.partition("+")[0].partition("(")[0])


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        families(["fixed", "nothing"])
    assert caught.value.kind == "unknown-family"


def point(old: int, new: int) -> Point:
    return Point("f", 1, Fraction(old), Fraction(new), ())


def test_the_length_ratio_is_the_larger_of_both_versions() -> None:
    """Old: 300/250 = 1.2; new: 330/220 = 1.5."""
    assert length_ratio([point(300, 330), point(250, 220)]) == Fraction(3, 2)
    assert length_ratio([point(300, 300), Point("f", 1, None, None, ())]) is None


def test_a_grid_compares_only_what_is_equally_long(pairs: Path, tmp_path: Path) -> None:
    grid(pairs, ["fixed", "anchored"], [24, 40, 60], setup(tmp_path))
    matched = rows(tmp_path, "matched")
    assert matched
    assert all(float(row["ratio"]) <= 1.15 for row in matched)
    gates = rows(tmp_path, "gates")
    counts = [int(row["settings"]) for row in gates if row["language"] == "en"]
    assert counts == sorted(counts, reverse=True)
    for row in gates:
        assert float(row["lowest"]) <= float(row["highest"])


def test_a_grid_too_large_to_compare_is_refused(pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        grid(pairs, list(FAMILIES), [1, 2, 3, 4, 5, 6], setup(tmp_path))
    assert caught.value.kind == "grid-too-large"


BASE = " ".join(f"w{n}" for n in range(200))


@pytest.mark.parametrize(
    ("place", "expected"),
    [("start", f"s0 s1\n\n{BASE}"), ("end", f"{BASE}\n\ns0 s1")],
)
def test_one_percent_of_the_tokens_is_put_in(place: str, expected: str) -> None:
    """200 words: two words go in."""
    source = Revised(" ".join(f"s{n}" for n in range(50)), "text/plain")
    assert insertion(Revised(BASE, "text/plain"), [source], place, Words()) == expected


def test_what_is_put_in_is_prose_and_stands_where_blocks_meet() -> None:
    """Neither a heading nor an open comment goes in, and nothing comes before the front matter."""
    source = "---\ntitle: x\n---\n\n# Head\n\n<!-- open\n\n-->\n\n* item\n\nPlain words here.\n"
    base = "---\ntitle: base\n---\n\n" + " ".join(f"w{n}" for n in range(300))
    short = Revised("# Only a heading", "text/markdown")
    given = [short, Revised(source, "text/markdown")]
    changed = insertion(Revised(base, "text/markdown"), given, "start", Words())
    assert changed == base.replace("w0 ", "Plain words here.\n\nw0 ", 1)


def test_the_middle_is_a_boundary_of_blocks() -> None:
    text = "\n\n".join(f"Paragraph {n} of the page." for n in range(9))
    changed = insertion(
        Revised(text, "text/markdown"), [Revised("put in", "text/plain")], "middle", Words()
    )
    before, after = changed.split("\n\nput\n\n")
    assert f"{before}\n\n{after}".replace("\n\n\n\n", "\n\n") == text
    assert abs(len(before) - len(after)) < 40


def test_fixed_windows_recompute_everything_after_an_insertion(pairs: Path, tmp_path: Path) -> None:
    position(
        pairs, ["fixed(max_tokens=20)", "anchored(max_tokens=40, min_tokens=8)"], setup(tmp_path)
    )
    found = {
        (row["language"], row["chunker"].partition("(")[0], row["position"]): float(row["mean"])
        for row in rows(tmp_path, "position")
    }
    for language in ("en", "zh"):
        assert found[language, "fixed", "start"] > 0.9
        assert found[language, "fixed", "start"] > found[language, "fixed", "end"]
        assert found[language, "anchored", "start"] < found[language, "fixed", "start"]


@pytest.mark.parametrize("study", [position, verbatim])
def test_the_no_edit_control_stops_a_study_too(
    study: Callable[..., object], pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(peers.PEERS, "fickle", a_peer(never_alike()))
    with pytest.raises(InputError) as caught:
        study(pairs, ["fixed", "fickle"], setup(tmp_path / "out"), None)
    assert caught.value.kind == "no-edit-control"
    assert not list((tmp_path / "out").glob("*.csv"))


def test_verbatim_presence_by_hand(tmp_path: Path) -> None:
    """`zero` in front moves windows of two: `zero one`, `two three`, `four` are new, 4 + 4 + 3.

    `two three` and `four` stand whole in the old text: 7 of 11 tokens.
    """
    file = write_records(
        tmp_path / "f.jsonl", [pair("a.txt", "one two three four", "zero one two three four")]
    )
    verbatim(file, ["fixed(max_tokens=2)"], setup(tmp_path / "out"))
    (row,) = rows(tmp_path / "out", "verbatim")
    assert row["recomputed_tokens"] == "11"
    assert row["share_of_tokens"] == f"{7 / 11:.6f}"


def test_overlap_embeds_more_input_as_the_formula_says(tmp_path: Path) -> None:
    """Windows of 10 that share 5 advance by 5: 20 words take 3 of them, 3 * 12 tokens for 20."""
    text = " ".join(f"w{n}" for n in range(20))
    file = write_records(tmp_path / "f.jsonl", [pair("a.txt", f"{text} x", text)])
    overlap(file, [10], [0, 50], setup(tmp_path / "out"))
    found = {row["percent"]: row for row in rows(tmp_path / "out", "overlap")}
    assert found["0"]["inputs_per_text"] == f"{2 * 12 / 20:.6f}"
    assert found["50"]["inputs_per_text"] == f"{3 * 12 / 20:.6f}"
    assert found["50"]["shared_tokens"] == "5"


def test_calibration_finds_equal_lengths_and_prints_the_ratios(pairs: Path, tmp_path: Path) -> None:
    tables = calibrate(pairs, ["fixed", "recursive"], 40, setup(tmp_path))
    found = rows(tmp_path, "calibration")
    assert [row["family"] for row in found] == ["fixed", "recursive"]
    assert float(found[0]["median"]) == 40
    assert "times the smallest" in tables[0].notes[0]
    assert all(row["within_15_percent"] in ("yes", "no") for row in found)


def test_the_demo_has_pages_in_both_languages() -> None:
    languages = {pair(*one)["lang"] for one in pages()}
    assert languages == {"en", "zh"}


def test_a_scatter_draws_a_bounded_number_of_points_over_its_whole_width() -> None:
    few = [(3.0, 1.0), (1.0, 2.0)]
    assert thinned(few) == sorted(few)
    many = [(float(n), 0.0) for n in range(10 * MOST_POINTS)]
    shown = thinned(many)
    assert len(set(shown)) == MOST_POINTS
    assert shown[0] == many[0]
    assert shown[-1] == many[-10]
