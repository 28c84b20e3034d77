"""A restore publishes an old state, and holds its sources until they are released."""

from pathlib import Path

import pytest

from variorum.records.errors import ConflictError, NotFoundError
from workbench import Bench, document, json_lines


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two generations: `a.md` at its first and at its second content."""
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two"), "b.md": document("Other")})
    bench.sync()
    bench.write({"a.md": document("One", "Three")})
    bench.sync()
    return bench


def test_a_restore_is_a_new_generation_that_reads_as_the_old_one(bench: Bench) -> None:
    with bench.open() as index:
        assert index.restore(1) == 3
        assert [row.kind for row in index.log()] == ["sync", "sync", "restore of 1"]
        assert index.diff(1, 3).documents == ()
    assert bench.stored().plain() == bench.stored(as_of=1).plain()


def test_a_restored_source_is_not_synced_until_it_is_released(bench: Bench) -> None:
    with bench.open() as index:
        index.restore(1)
        for run in (index.sync, index.plan):
            with pytest.raises(ConflictError) as refused:
                run()
            assert refused.value.kind == "source-held"
            assert "release" in refused.value.remedy
        report = index.sync(release=True)
    assert (report.generation, report.documents.changed, report.inputs.embed) == (4, 1, 0)
    assert bench.stored().plain() == bench.stored(as_of=2).plain()
    assert bench.sync()[0].generation is None


def test_a_release_counts_also_where_nothing_changed(bench: Bench) -> None:
    with bench.open() as index:
        index.restore(2)
        assert index.sync(release=True).generation is None
        assert index.sync().generation is None


def test_a_plan_with_release_releases_nothing(bench: Bench) -> None:
    with bench.open() as index:
        index.restore(2)
        index.plan(release=True)
        with pytest.raises(ConflictError):
            index.sync()


def test_releasing_one_source_leaves_the_others_held(tmp_path: Path) -> None:
    notes = '[sources.notes]\nkind = "jsonl"\nroot = "notes.jsonl"\n'
    bench = Bench(tmp_path, collections=notes)
    bench.write({"a.md": document("One")})
    (tmp_path / "notes.jsonl").write_text(json_lines([{"id": "n", "text": "a note"}]))
    bench.sync()
    with bench.open() as index:
        index.restore(1)
        index.sync("docs", release=True)
        assert index.sync("docs").generation is None
        with pytest.raises(ConflictError) as refused:
            index.sync()
    assert refused.value.subject == "notes"


def test_a_restore_brings_back_a_deleted_document_and_its_metadata(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    bench = Bench(tmp_path, collections='[sources.notes]\nkind = "jsonl"\nroot = "notes.jsonl"\n')
    lines = [{"id": n, "text": f"note {n}", "metadata": {"n": n}} for n in ("x", "y")]
    file.write_text(json_lines(lines))
    bench.write({"a.md": "stays"})
    bench.sync()
    file.write_text(json_lines([{**lines[0], "metadata": {"n": "z"}}]))
    bench.sync()
    with bench.open() as index:
        index.restore(1)
        hits = index.search("note", where={"n": "y"}).hits
        assert [str(hit.document) for hit in hits] == ["notes:y"]
        assert len(index.search("note", where={"n": "x"}).hits) == 1
        assert index.verify() == []


def test_a_generation_that_was_never_published_cannot_be_restored(bench: Bench) -> None:
    with bench.open() as index:
        for number in (0, 3, -1):
            with pytest.raises(NotFoundError):
                index.restore(number)
        assert len(index.log()) == 2
