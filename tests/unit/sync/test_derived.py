"""Users' functions over chunks: run once a text and version, published with the generation."""

from collections import Counter
from pathlib import Path

import pytest

from deriving import Counting, hits
from dying import Died, Mortal, copy_of
from variorum.records.errors import InputError, UnavailableError
from workbench import Bench, Recorder, document, rule, section, words


def check_outputs(bench: Bench, name: str, function: Counting) -> None:
    """Every hit of the newest generation has what the function makes of its text."""
    found = hits(bench)
    assert found
    for hit in found:
        assert dict(hit.derived) == {name: Counting(function.mark)(hit.text.strip())}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two"), "休假.md": "# 休假\n\n每年有二十五天的年假。\n"})
    return bench


def synced(bench: Bench, **derive: object) -> object:
    named = {key.replace("_v", "@"): value for key, value in derive.items()}
    with bench.open(derive=named) as index:
        planned = index.plan().report
        report = index.sync()
    assert (planned.derived, planned.held) == (report.derived, ()) or report.held
    return report


def test_each_chunk_has_an_output_and_only_what_an_edit_changed_is_run_again(bench: Bench) -> None:
    summary = Counting()
    report = synced(bench, summary_v1=summary)
    assert report.derived.run == len(summary.texts) == 3  # type: ignore[attr-defined]
    check_outputs(bench, "summary", summary)
    bench.write({"a.md": document("One", "Three")})
    synced(bench, summary_v1=summary)
    assert len(summary.texts) == 4
    assert summary.texts[-1].startswith("## Three")
    check_outputs(bench, "summary", summary)


def test_the_same_text_is_run_over_once_wherever_it_stands(bench: Bench) -> None:
    summary = Counting()
    synced(bench, summary_v1=summary)
    bench.write({"copy.md": document("Two", "One"), "late.md": "\n\n" + section("One")})
    synced(bench, summary_v1=summary)
    bench.remove("a.md")
    synced(bench, summary_v1=summary)
    bench.write({"a.md": document("One", "Two")})
    synced(bench, summary_v1=summary)
    assert max(Counter(summary.texts).values()) == 1
    check_outputs(bench, "summary", summary)


def test_another_version_is_run_over_all_in_a_generation_of_its_own(bench: Bench) -> None:
    first, second = Counting("a"), Counting("b")
    synced(bench, summary_v1=first)
    report = synced(bench, summary_v2=second)
    assert (report.generation, report.derived.documents) == (2, 2)  # type: ignore[attr-defined]
    assert sorted(first.texts) == sorted(second.texts)
    check_outputs(bench, "summary", second)
    assert all(hit.derived["summary"].startswith("a:") for hit in hits(bench, as_of=1))
    assert synced(bench, summary_v2=second).generation is None  # type: ignore[attr-defined]
    with bench.open() as index:
        index.restore(1)
        assert index.verify() == []
    check_outputs(bench, "summary", first)
    assert len(first.texts) == 3


def test_without_functions_nothing_is_derived_and_old_generations_keep_theirs(bench: Bench) -> None:
    synced(bench, summary_v1=Counting())
    bench.write({"b.md": "b"})
    bench.sync()
    assert all(hit.derived == {} for hit in hits(bench))
    assert all(hit.derived for hit in hits(bench, as_of=1))


def test_a_model_switch_runs_nothing_again(bench: Bench) -> None:
    summary = Counting()
    synced(bench, summary_v1=summary)
    other = Recorder(96)
    with bench.open(derive={"summary@1": summary}) as index:
        index.use_model(other)
        found = index.search("one").hits
    assert len(summary.texts) == 3
    assert all(hit.derived for hit in found)


def test_a_failure_holds_the_document_and_the_rest_is_published(bench: Bench) -> None:
    picky = Counting(fails="Two")
    report = synced(bench, summary_v1=picky)
    assert [(str(one.document), one.kind) for one in report.held] == [  # type: ignore[attr-defined]
        ("docs:a.md", "derive-failed")
    ]
    assert "ValueError: not this one" in report.held[0].message  # type: ignore[attr-defined]
    assert {str(hit.document) for hit in hits(bench)} == {"docs:休假.md"}
    check_outputs(bench, "summary", picky)
    picky.fails = "\0"
    asked = len(picky.texts)
    synced(bench, summary_v1=picky)
    assert [text[:6] for text in picky.texts[asked:]] == ["## Two"]
    check_outputs(bench, "summary", picky)


def test_a_held_document_leaves_what_it_shares_to_the_others(bench: Bench) -> None:
    bench.write({"b.md": document("One", "Three"), "c.md": document("One", "Three")})
    report = synced(bench, summary_v1=Counting(fails="Two"))
    assert report.documents.held == 1  # type: ignore[attr-defined]
    assert report.inputs.embed == 3  # type: ignore[attr-defined]
    with bench.open() as index:
        assert index.verify() == []


def test_what_was_made_for_a_document_that_is_then_held_is_not_taken_from_what_is_reused(
    bench: Bench,
) -> None:
    bench.write({"a.md": document("One", "Two", "Three", "Four")})
    report = synced(bench, summary_v1=Counting(fails="Two"))
    counts = report.derived  # type: ignore[attr-defined]
    assert (counts.run, counts.reuse) == (4, 0)


def test_a_failure_of_a_new_version_leaves_the_document_as_it_is(bench: Bench) -> None:
    synced(bench, summary_v1=Counting())
    picky = Counting("b", fails="Two")
    report = synced(bench, summary_v2=picky)
    assert report.generation == 2  # type: ignore[attr-defined]
    assert [str(one.document) for one in report.held] == ["docs:a.md"]  # type: ignore[attr-defined]
    for hit in hits(bench):
        made = {} if "Two" in hit.text else {"summary": Counting("b")(hit.text.strip())}
        assert dict(hit.derived) == made
    picky.fails = "\0"
    assert synced(bench, summary_v2=picky).generation == 3  # type: ignore[attr-defined]
    check_outputs(bench, "summary", picky)


def test_what_is_no_text_holds_the_document(bench: Bench) -> None:
    report = synced(bench, summary_v1=lambda text: 5)
    assert {one.message for one in report.held} == {"summary gave int, not text"}  # type: ignore[attr-defined]
    report = synced(bench, summary_v2=lambda text: "\ud800")
    assert {one.kind for one in report.held} == {"derive-failed"}  # type: ignore[attr-defined]


def test_a_function_that_is_away_ends_the_sync_and_what_it_made_is_kept(bench: Bench) -> None:
    made: list[str] = []

    def away(text: str) -> str:
        if made:
            raise UnavailableError("away", kind="provider-away")
        made.append(text)
        return "made"

    with bench.open(derive={"summary@1": away}) as index, pytest.raises(UnavailableError):
        index.sync()
    assert bench.stored().generation == 0
    summary = Counting()
    synced(bench, summary_v1=summary)
    assert len(summary.texts) == 2
    assert made[0] not in summary.texts


def test_a_sync_that_dies_at_any_write_runs_nothing_twice(bench: Bench, tmp_path: Path) -> None:
    bench.sync()
    prepared = copy_of(bench, tmp_path / "prepared")
    summary = Counting()
    with Mortal() as mortal:
        synced(copy_of(prepared, tmp_path / "whole"), summary_v1=summary)
    for last_write in range(1, mortal.writes + 1):
        victim, summary = copy_of(prepared, tmp_path / f"dies-{last_write}"), Counting()
        with pytest.raises(Died), Mortal(last_write):
            synced(victim, summary_v1=summary)
        recorded = len(victim.sql("SELECT * FROM output"))
        assert len(summary.texts) - recorded in (0, 1)
        again = Counting()
        synced(victim, summary_v1=again)
        assert len(again.texts) == 3 - recorded
        check_outputs(victim, "summary", again)
        with victim.open() as index:
            assert index.verify() == []


def test_who_may_not_read_a_passage_gets_nothing_made_of_it(bench: Bench) -> None:
    synced(bench, summary_v1=Counting())
    kept_back = (
        '[[rules.sections]]\nheading = ["Two"]\nreaders = ["group:few"]\nmissing = "ignore"\n'
    )
    bench.apply(rule("*:a.md", "everyone") + kept_back)
    made = "".join(str(dict(hit.derived)) for hit in hits(bench, principal="user:eve"))
    assert "## One" in made
    assert "## Two" not in made
    assert "休假" not in made


def test_erasing_and_pruning_take_outputs_out(bench: Bench) -> None:
    summary = Counting("secretly")
    synced(bench, summary_v1=summary)
    bench.write({"a.md": document("One", "Three")})
    synced(bench, summary_v1=summary)
    with bench.open() as index:
        assert index.prune(keep=1).removed.outputs == 1
        assert index.verify() == []
    assert len(bench.sql("SELECT * FROM output")) == 3
    with bench.open() as index:
        erased = index.erase("docs:a.md")
        assert erased.removed.outputs == 2
        assert index.verify() == []
    left = b"".join(file.read_bytes() for file in bench.store.rglob("*") if file.is_file())
    assert words("three", 3).encode()[:12] not in left
    assert b"## Three" not in left
    assert len(bench.sql("SELECT * FROM output")) == 1


def test_a_prune_takes_out_what_a_version_made_that_no_kept_generation_has(bench: Bench) -> None:
    synced(bench, summary_v1=Counting("a"))
    synced(bench, summary_v2=Counting("b"))
    with bench.open() as index:
        assert index.prune(keep=1).removed.outputs == 3
        assert index.verify() == []
    assert all(str(text).startswith("b:") for (text,) in bench.sql("SELECT text FROM output"))


def test_garbage_is_what_no_chunk_has(bench: Bench) -> None:
    with bench.open(derive={"summary@1": Counting(fails="Two")}) as index:
        index.sync()
        assert index.gc(older_than="30d").removed.outputs == 0
        assert index.gc(older_than="0h").removed.outputs == 1


def test_an_export_takes_outputs_along(bench: Bench, tmp_path: Path) -> None:
    summary = Counting()
    synced(bench, summary_v1=summary)
    with bench.open() as index:
        index.export(tmp_path / "file")
    other = Bench(tmp_path / "other")
    with other.open() as index:
        index.import_(tmp_path / "file")
        assert index.verify() == []
    check_outputs(other, "summary", summary)


def test_an_import_knows_the_functions_of_generations_that_were_pruned(
    bench: Bench, tmp_path: Path
) -> None:
    for version in "12":
        with bench.open(derive={f"summary@{version}": Counting()}) as index:
            index.sync()
    with bench.open() as index:
        index.prune(keep=1)
        index.export(tmp_path / "out.jsonl")
    with bench.open(store=tmp_path / "other") as index:
        index.import_(tmp_path / "out.jsonl")
        assert index.verify() == []


@pytest.mark.parametrize("derive", [{"Summary": len}, {"a@1": len, "a@2": len}, {"a@1": 5}, 5])
def test_what_names_no_functions_is_refused(bench: Bench, derive: object) -> None:
    with pytest.raises(InputError):
        bench.open(derive=derive)


def test_a_configured_function_is_imported_from_beside_the_configuration(bench: Bench) -> None:
    (bench.home / "ours_of_test.py").write_text("def first(text):\n    return text.split()[0]\n")
    table = '[derive.first]\nfunction = "ours_of_test:first"\nversion = "1"\n'
    bench.configure(bench.settings, table)
    assert bench.sync()[0].derived.run == 3
    assert {hit.derived["first"] for hit in hits(bench)} == {"##", "#"}
    bench.configure(bench.settings, table.replace(":first", ":second"))
    with bench.open() as index:
        assert index.search("one").hits
        with pytest.raises(InputError, match="first@1 cannot be imported"):
            index.sync()
