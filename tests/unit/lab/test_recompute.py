"""A whole study: controls, failures that stay, tables that repeat, runs that go on."""

import csv
import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from unit.lab.fickle import a_peer, never_alike
from unit.lab.revisions import pair, write_pairs, write_records
from unit.lab.words import WordSizer
from variorum.lab import peers, pool, trial
from variorum.lab.counting import StudySizer
from variorum.lab.histories import History, Revised
from variorum.lab.recompute import Study, recompute
from variorum.lab.subjects import Cut, Ours, subject
from variorum.lab.trial import STAGES, Settings, Trial
from variorum.lab.versions import Version
from variorum.records.errors import InputError
from variorum.records.protocols import Sizer
from variorum.records.text import Span

SETTINGS = Settings("hashing(max_tokens=4096)")
SPECS = (
    "fixed(max_tokens=40)",
    "recursive(max_tokens=60)",
    "anchored(max_tokens=60, min_tokens=12)",
)


def run(
    file: Path, folder: Path, specs: Sequence[str] = SPECS, settings: Settings = SETTINGS
) -> Study:
    return recompute(
        file, specs, settings, folder, lambda *_: None, command="variorum lab recompute", workers=1
    )


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_pairs(tmp_path / "pairs.jsonl")


def test_the_same_command_twice_writes_the_same_bytes(pairs: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(pairs, tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").glob("*.*") if path.stem != "timing")
    assert len(files) > 10
    for name in files:
        first, second = ((tmp_path / place / name).read_bytes() for place in ("one", "two"))
        assert first == second, name


def test_two_processes_give_what_one_gives(pairs: Path, tmp_path: Path) -> None:
    run(pairs, tmp_path / "one")
    recompute(
        pairs,
        SPECS,
        SETTINGS,
        tmp_path / "two",
        lambda *_: None,
        command="variorum lab recompute",
        workers=2,
    )
    for name in ("means.csv", "audit.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_run_that_was_stopped_measures_only_what_is_missing(pairs: Path, tmp_path: Path) -> None:
    whole = run(pairs, tmp_path / "out")
    kept = sorted((tmp_path / "out" / pool.RESULTS).iterdir())
    for path in kept[::2]:
        path.unlink()
    kept[1].write_text("{ half a fil")
    again = run(pairs, tmp_path / "out")
    assert again.results.reused == len(kept) - len(kept[::2]) - 1
    assert again.tables == whole.tables


def test_another_chunker_is_added_to_what_is_there(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(pairs, tmp_path / "out", SPECS[:1])
    tried: list[str] = []
    real = trial.subject
    monkeypatch.setattr(trial, "subject", lambda spec: tried.append(spec) or real(spec))
    run(pairs, tmp_path / "out", SPECS[:2])
    assert {spec.partition("(")[0] for spec in tried} == {"recursive"}


def test_what_other_rules_of_the_same_name_gave_is_measured_again(
    pairs: Path, tmp_path: Path
) -> None:
    run(pairs, tmp_path)
    file = sorted((tmp_path / "documents").iterdir())[0]
    fields = json.loads(file.read_text())
    for tried in fields["tried"].values():
        tried.update(recipe="older rules", control=999)
    file.write_text(json.dumps(fields))
    again = run(pairs, tmp_path)
    assert again.results.reused == len(again.documents) - 1


def test_another_setting_is_another_result(pairs: Path, tmp_path: Path) -> None:
    run(pairs, tmp_path / "out")
    capped = Settings(SETTINGS.model, cap_tokens=20)
    again = run(pairs, tmp_path / "out", settings=capped)
    assert again.results.reused == 0
    assert all(int(row["largest"]) <= 20 for row in rows(tmp_path / "out", "sizes"))


def test_a_document_mean_by_hand(tmp_path: Path) -> None:
    """Two chunks of two words; the second one is edited: 4 of 8 tokens, half."""
    record = pair("a.txt", "one two three four", "one two three five")
    file = write_records(tmp_path / "f.jsonl", [record])
    study = run(file, tmp_path / "out", ["fixed(max_tokens=2)"])
    (document,) = study.documents
    (step,) = document.tried("fixed(max_tokens=2, overlap_tokens=0)").steps
    assert step.recompute_fraction == Fraction(1, 2)
    (row,) = [
        row
        for row in rows(tmp_path / "out", "means")
        if row["measure"] == "recompute_fraction" and row["pool"] == "all"
    ]
    assert (row["mean"], row["low"], row["documents"]) == ("0.500000", "0.500000", "1")


def test_documents_outside_the_bounds_are_excluded_with_the_reason(
    pairs: Path, tmp_path: Path
) -> None:
    study = run(pairs, tmp_path / "out", settings=Settings(SETTINGS.model, least_tokens=10**6))
    found = rows(tmp_path / "out", "failures")
    assert len(found) == len(study.documents)
    assert all("under 1000000" in row["reason"] for row in found)


def test_cohorts_and_shapes_are_sets_of_their_own(tmp_path: Path) -> None:
    old, new = "one two three", "one two four"
    records = [
        pair("a.md", old, new),
        pair("b.md", old, new, cohort="diagnostic"),
        {"id": "p", "version": "1", "text": old},
        {"id": "p", "version": "2", "text": new},
    ]
    run(write_records(tmp_path / "f.jsonl", records), tmp_path / "out")
    found = {row["set"] for row in rows(tmp_path / "out", "means")}
    assert found == {"pairs primary", "pairs diagnostic", "sentences primary"}


def test_the_no_edit_control_stops_the_report(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(peers.PEERS, "fickle", a_peer(never_alike()))
    with pytest.raises(InputError) as caught:
        run(pairs, tmp_path / "out", ["fixed", "fickle"])
    assert caught.value.kind == "no-edit-control"
    assert not (tmp_path / "out" / "means.csv").exists()


class Forgetful(Ours):
    """Cuts the last version in another way when it is cut again."""

    def cut(self, version: Version, sizer: Sizer, previous: Cut | None = None) -> Cut:
        found = Ours.cut(self, version, sizer, previous)
        if previous is None or previous.version is not version or previous.layout is None:
            return found
        again = [f"{one} " for one in found.inputs]
        return replace(found, inputs=again) if "new" in version.text else found


def test_the_control_cuts_the_last_version_again_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "subject", lambda spec: Forgetful(subject(spec).spec))
    file = write_records(tmp_path / "f.jsonl", [pair("a.md", "Some words.", "Some new words.")])
    with pytest.raises(InputError) as caught:
        run(file, tmp_path / "out", ["fixed"])
    assert caught.value.kind == "no-edit-control"


def refuses_chinese(text: str) -> list[Span]:
    if "的" in text:
        raise ValueError("a word is too long")
    return [Span(0, len(text))]


def test_a_failure_stays_in_the_tables_and_leaves_the_common_pool(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(peers.PEERS, "refuses", a_peer(refuses_chinese))
    study = run(pairs, tmp_path / "out", ["fixed", "recursive", "refuses"])
    failed = {row["document"]: row["reason"] for row in rows(tmp_path / "out", "failures")}
    assert failed
    assert set(failed.values()) == {"ValueError: a word is too long"}
    found = {
        (row["pool"], row["language"], row["chunker"].partition("(")[0]): (
            int(row["succeeded"]),
            int(row["all"]),
        )
        for row in rows(tmp_path / "out", "means")
    }
    chinese = sum(one.history.language == "zh" for one in study.documents)
    assert found["all", "zh", "refuses"] == (chinese - len(failed), chinese)
    assert found["all", "zh", "fixed"] == (chinese, chinese)
    assert found["common", "zh", "fixed"] == (chinese - len(failed), chinese)


def test_failures_are_filled_in_six_ways_by_name(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(peers.PEERS, "refuses", a_peer(refuses_chinese))
    run(pairs, tmp_path / "out", ["fixed(max_tokens=40)", "recursive(max_tokens=60)", "refuses"])
    found = rows(tmp_path / "out", "sensitivity")
    if not found:
        pytest.skip("every Chinese page is refused, so that there is no mean to fill in")
    names = [row["imputation"] for row in found if row["less"].startswith("fixed")]
    assert set(names) <= {"full", "mean", "band-mean", "fixed", "recursive", "larger-baseline"}
    assert {"full", "fixed", "recursive", "larger-baseline"} <= set(names)


def test_imputations_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixed windows of two words: page a embeds 4 of 8 tokens, page b nothing but a new 3 of 11.

    The peer takes a page as one chunk (R = 1 on page a) and refuses page b. Filled in: full 1, the
    mean of its successes 1, fixed 3/11.
    """
    records = [
        pair("a.txt", "one two three four", "one two three five"),
        pair("b.txt", "refuse one two three", "refuse one two three four"),
    ]

    def refuses(text: str) -> list[Span]:
        if "refuse" in text:
            raise ValueError("refused")
        return [Span(0, len(text))]

    monkeypatch.setitem(peers.PEERS, "refuses", a_peer(refuses))
    file = write_records(tmp_path / "f.jsonl", records)
    run(file, tmp_path / "out", ["fixed(max_tokens=2)", "refuses"])
    found = {row["imputation"]: row["mean"] for row in rows(tmp_path / "out", "sensitivity")}
    fixed_b = Fraction(3, 11)
    expected = {
        "full": (Fraction(1, 2) + 1 - fixed_b) / 2,
        "mean": (Fraction(1, 2) + 1 - fixed_b) / 2,
        "fixed": (Fraction(1, 2) + 0) / 2,
        "larger-baseline": (Fraction(1, 2) + 0) / 2,
    }
    for name, value in expected.items():
        assert found[name] == f"{float(value):.6f}", name


def test_the_record_beside_a_table_names_what_made_it(pairs: Path, tmp_path: Path) -> None:
    run(pairs, tmp_path / "out")
    record = json.loads((tmp_path / "out" / "means.json").read_text())
    assert list(record["inputs_sha256"]) == ["pairs.jsonl"]
    assert record["settings"]["model"] == SETTINGS.model
    assert all("/" in recipe for recipe in record["recipes"].values())


def test_the_audit_has_every_document_with_every_count(pairs: Path, tmp_path: Path) -> None:
    study = run(pairs, tmp_path / "out")
    lines = (tmp_path / "out" / "audit.jsonl").read_text().splitlines()
    assert len(lines) == len(study.documents)
    for line in map(json.loads, lines):
        assert len(line["chunkers"]) == len(SPECS)
        assert all(one["control"] == 0 for one in line["chunkers"].values())
        assert len(line["edits"]) == 1


def test_seconds_are_told_by_stage_and_by_chunker(pairs: Path, tmp_path: Path) -> None:
    whole = run(pairs, tmp_path)
    timing = json.loads((tmp_path / "timing.json").read_text())
    assert timing["measured_before"] == 0
    by_chunker = timing["cpu"].pop("cutting_by_chunker_s")
    assert set(by_chunker) == set(whole.specs)
    assert set(timing["cpu"]) == {f"{stage}_s" for stage in STAGES}
    assert sum(by_chunker.values()) == pytest.approx(timing["cpu"]["cutting_s"], abs=0.01)


def test_no_second_counts_twice() -> None:
    """A clock that ticks at every look: the stages add up to no more than all of its ticks."""
    looks = itertools.count()

    def clock() -> float:
        return float(next(looks))

    trial = Trial(StudySizer(WordSizer(), clock=clock), SETTINGS, clock)
    old, new = (Revised(f"one two\n\n{word} four\n", "text/markdown") for word in ("3", "three"))
    history = History("page", "page", "en", "pairs", "primary", (old, new))
    measured, spent = trial.measure(history, [subject(SPECS[0]).spec])
    assert not measured.excluded
    assert 0 < sum(spent.stages_s.values()) <= next(looks)
    assert all(seconds >= 0 for seconds in spent.stages_s.values())
