"""Sources that are configured no more: their documents stay, are named, and go on request."""

from pathlib import Path

import pytest

import variorum
from variorum.door.status import Status
from variorum.records.errors import ConflictError, NotFoundError
from variorum.records.reports import SharedRoot, SourceNote
from workbench import Bench, document, promise

OLD = '\n[sources.old]\nroot = "old"\n'


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two documents of `docs` and twelve of `old`, which is configured no more."""
    bench = Bench(tmp_path, collections=OLD)
    bench.write({"a.md": document("A"), "b.md": document("B")})
    (tmp_path / "old").mkdir()
    for number in range(12):
        (tmp_path / f"old/{number}.md").write_text(document(f"Old{number}"))
    bench.sync()
    bench.configure(bench.settings, collections="\n")
    return bench


def status(bench: Bench) -> Status:
    with bench.open() as index:
        return index.status()


def sources(bench: Bench) -> dict[str, int]:
    names = [name.split(":")[0] for name in bench.stored().documents]
    return {name: names.count(name) for name in sorted(set(names))}


def test_documents_of_a_source_that_is_configured_no_more_stay_and_are_named(bench: Bench) -> None:
    note = SourceNote("old", "old", 12)
    assert bench.plan().orphaned == (note,)
    report, _ = bench.sync()
    assert (report.generation, report.orphaned, report.dropped) == (None, (note,), ())
    assert {one.name: one.orphaned for one in status(bench).sources} == {"docs": False, "old": True}
    assert sources(bench) == {"docs": 2, "old": 12}


def test_dropping_removes_exactly_them_as_the_plan_says_and_history_keeps_them(
    bench: Bench,
) -> None:
    before = bench.stored()
    bench.write({"c.md": document("C")})
    plan = bench.plan(drop_sources=["old"])
    assert plan.dropped == (SourceNote("old", "old", 12),)
    assert (plan.documents.removed, plan.documents.added, plan.orphaned) == (12, 1, ())
    assert bench.stored() == before
    report, _ = bench.sync(drop_sources=["old"])
    assert promise(report) == promise(plan)
    assert sources(bench) == {"docs": 3}
    assert bench.stored(as_of=1).plain() == before.plain()
    assert [one.name for one in status(bench).sources] == ["docs"]
    assert bench.sync()[0].generation is None


def test_a_source_that_speaks_is_not_dropped(bench: Bench) -> None:
    for names in (["docs"], ["old", "docs"]):
        with bench.open() as index, pytest.raises(ConflictError) as refused:
            index.sync(drop_sources=names)
        assert refused.value.kind == "source-configured"
    assert sources(bench) == {"docs": 2, "old": 12}


def test_a_source_that_nobody_knows_is_not_dropped(bench: Bench) -> None:
    with bench.open() as index, pytest.raises(NotFoundError) as refused:
        index.plan(drop_sources=["odl"])
    assert refused.value.kind == "no-such-source"


def test_a_drop_is_no_yes_to_the_shrink_of_another_source(bench: Bench) -> None:
    bench.remove("a.md", "b.md")
    with bench.open() as index, pytest.raises(ConflictError) as refused:
        index.sync(drop_sources=["old"])
    assert refused.value.kind == "source-empty"
    assert sources(bench) == {"docs": 2, "old": 12}


def test_a_restore_holds_a_source_against_its_drop_too(bench: Bench) -> None:
    with bench.open() as index:
        index.restore(1)
        with pytest.raises(ConflictError) as refused:
            index.sync(drop_sources=["old"])
        assert refused.value.kind == "source-held"
        index.sync(drop_sources=["old"], release=True)
    assert sources(bench) == {"docs": 2}


def test_a_dropped_source_that_a_restore_brings_back_can_be_dropped_again(bench: Bench) -> None:
    bench.sync(drop_sources=["old"])
    with bench.open() as index:
        index.restore(1)
    note = SourceNote("old", "old", 12)
    report, _ = bench.sync(release=True)
    assert (report.orphaned, sources(bench)) == ((note,), {"docs": 2, "old": 12})
    bench.sync(drop_sources=["old"], release=True)
    assert sources(bench) == {"docs": 2}


def test_a_store_is_sound_after_a_drop_and_after_a_restore_of_what_was_dropped(
    bench: Bench,
) -> None:
    bench.sync(drop_sources=["old"])
    with bench.open() as index:
        assert index.verify() == []
        index.restore(1)
        assert index.verify() == []
        roots = {one.name: one.root for one in index.status().sources}
        assert roots == {"docs": "docs", "old": "old"}


def test_without_a_configuration_every_source_belongs_until_it_is_dropped(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(document(name))
    embedder = Bench(tmp_path / "bench").embedder
    with variorum.open(tmp_path, embedder=embedder) as index:
        index.sync(tmp_path / "one")
        assert index.sync(tmp_path / "two").orphaned == ()
        assert index.sync(drop_sources=["one"]).documents.removed == 1
        assert index.sync().generation is None
        assert [one.name for one in index.status().sources] == ["two"]
        index.restore(2)
        assert {one.name: one.root for one in index.status().sources} == {
            "one": "one",
            "two": "two",
        }
        index.sync(drop_sources=["one"], release=True)
        assert index.sync(drop_sources=["two"]).documents.removed == 1


def test_a_root_that_is_indexed_under_two_names_is_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, collections='\n[sources.again]\nroot = "./docs"\n')
    bench.write({"a.md": document("A")})
    shared = SharedRoot("docs", ("again", "docs"))
    assert bench.plan().shared_roots == (shared,)
    assert bench.sync()[0].shared_roots == (shared,)
    assert status(bench).shared_roots == (shared,)
    bench.configure(bench.settings, collections="\n")
    assert bench.sync(drop_sources=["again"])[0].shared_roots == ()
    assert status(bench).shared_roots == ()
