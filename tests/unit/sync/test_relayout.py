"""A re-layout cuts every listed document as a fresh index would, and rewrites nothing old."""

from pathlib import Path

import pytest

from variorum.embedding import HashingEmbedder
from workbench import SMALL, Bench, document, promise, words

FRESH = f'[chunking]\nchunker = "{SMALL}"\nplanner = false\n'


def drifted(bench: Bench) -> str:
    """A text whose layout, after many small edits, is not the one a fresh index gives."""
    lines = [words(f"s{n}", 7) for n in range(40)]
    for step in range(12):
        lines.insert(3 * step, words(f"new{step}", 5))
        bench.write({"a.md": "\n\n".join(lines) + "\n"})
        bench.sync()
    return "\n\n".join(lines) + "\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path / "planned")
    bench.write({"b.md": document("Beside")})
    drifted(bench)
    return bench


@pytest.fixture
def fresh(bench: Bench, tmp_path: Path) -> Bench:
    """The same documents in a new index with the planner off."""
    fresh = Bench(tmp_path / "fresh", FRESH)
    fresh.write({path.name: path.read_bytes() for path in bench.root.iterdir()})
    fresh.sync()
    return fresh


def ranges(bench: Bench, as_of: int | None = None) -> dict[str, list[tuple[int, int]]]:
    stored = bench.stored(as_of=as_of).documents
    return {name: [(c.start, c.end) for c in one.chunks] for name, one in stored.items()}


def test_a_relayout_gives_the_layout_of_a_fresh_index(bench: Bench, fresh: Bench) -> None:
    assert ranges(bench) != ranges(fresh)
    report, _ = bench.sync(relayout=True)
    assert (report.documents.changed, report.documents.unchanged) == (1, 1)
    assert ranges(bench) == ranges(fresh)


def test_it_embeds_only_what_the_fresh_layout_has_and_history_has_not(
    bench: Bench, fresh: Bench
) -> None:
    known = {key for (key,) in bench.sql("SELECT key FROM input")}
    planned = bench.plan(relayout=True)
    report, asked = bench.sync(relayout=True)
    assert promise(planned) == promise(report)
    needed = set(fresh.stored().tokens) - known  # type: ignore[arg-type]
    assert len(asked) == report.inputs.embed == len(needed) > 0


def test_a_second_relayout_publishes_nothing(bench: Bench) -> None:
    generation = bench.sync(relayout=True)[0].generation
    again, asked = bench.sync(relayout=True)
    assert (again.generation, again.documents.unchanged, asked) == (None, 2, [])
    assert bench.sync()[0].generation is None
    assert bench.stored().generation == generation


def test_old_generations_keep_their_layouts_and_the_store_stays_sound(bench: Bench) -> None:
    before = [bench.stored(as_of=number).plain() for number in range(1, 13)]
    bench.sync(relayout=True)
    assert [bench.stored(as_of=number).plain() for number in range(1, 13)] == before
    with bench.open() as index:
        assert index.verify() == []
        (change,) = index.diff(12, 13).documents
    assert change.action == "layout"


def test_a_revert_after_a_relayout_takes_the_newest_layout(bench: Bench) -> None:
    bench.sync(relayout=True)
    text = (bench.root / "a.md").read_text()
    relaid = bench.stored().plain()
    bench.write({"a.md": "Something else.\n"})
    bench.sync()
    bench.write({"a.md": text})
    report, asked = bench.sync()
    assert (report.documents.changed, asked) == (1, [])
    assert bench.stored().plain() == relaid


def test_a_restored_layout_is_relaid_by_the_stored_one(bench: Bench) -> None:
    bench.sync(relayout=True)
    relaid = bench.stored().plain()
    with bench.open() as index:
        index.restore(12)
        layouts = bench.sql("SELECT count(*) FROM layout")
        report = index.sync(release=True, relayout=True)
    assert (report.documents.changed, report.inputs.embed) == (1, 0)
    assert bench.sql("SELECT count(*) FROM layout") == layouts
    assert bench.stored().plain() == relaid


def test_copies_of_a_document_share_the_new_layout(bench: Bench) -> None:
    bench.write({"copy.md": (bench.root / "a.md").read_bytes()})
    bench.sync()
    report, _ = bench.sync(relayout=True)
    assert report.documents.changed == 2
    layouts = bench.sql(
        "SELECT count(DISTINCT layout_id) FROM manifest WHERE to_generation IS NULL"
    )
    assert layouts == [(2,)]
    assert ranges(bench)["docs:copy.md"] == ranges(bench)["docs:a.md"]


def test_a_relayout_with_the_planner_off_changes_nothing(fresh: Bench) -> None:
    assert fresh.sync(relayout=True)[0].generation is None


def test_a_first_relayout_is_a_first_sync(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One"), "b.md": document("One"), "c.md": document("Two")})
    with bench.open(embedder=HashingEmbedder()) as index:
        assert index.sync(relayout=True).documents.added == 3
        assert index.verify() == []
