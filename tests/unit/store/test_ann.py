"""An approximate index beside the store: whom it shows what, when it is used, and how it goes."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import variorum
from variorum.store import ann, ann_building
from variorum.store.ann_file import ann_path, name_ann, open_ann, read_header, written_ann
from variorum.store.store import counted_statements
from workbench import Bench, Recorder, document, rule

faiss = pytest.importorskip("faiss")

BOB = "user:bob"
FILES = 60
LEAST = 50


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann, "LEAST_ROWS", LEAST)
    monkeypatch.setattr(ann, "DEEPEST", 1.0)


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bench = Bench(tmp_path_factory.mktemp("synced"))
    bench.write({f"{n:03}.md": document(f"Title{n}", f"Other{n}") for n in range(FILES)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ann, "LEAST_ROWS", LEAST)
        bench.sync()
    assert path_of(bench).exists()
    return bench.home


@pytest.fixture
def bench(tmp_path: Path, synced: Path) -> Bench:
    shutil.copytree(synced, tmp_path, dirs_exist_ok=True)
    return Bench(tmp_path)


def path_of(bench: Bench) -> Path:
    return ann_path(bench.store, 1)


def dense(index: variorum.Index, query: str, k: int = 10, **named: object) -> list[str]:
    answer = index.search(query, k, mode="dense", **named)  # type: ignore[arg-type]
    return [f"{hit.citation} {hit.score}" for hit in answer.hits]


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many candidates each search of an index gave; -1 where it was exact after all."""
    sizes: list[int] = []
    near = ann.Ann.near

    def noted(self: ann.Ann, *given: object) -> object:
        found = near(self, *given)  # type: ignore[arg-type]
        sizes.append(-1 if found is None else found.size)
        return found

    monkeypatch.setattr(ann.Ann, "near", noted)
    return sizes


@pytest.fixture
def every_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann, "PROBED", (1, 1))


# What it answers


def test_its_scores_are_those_of_an_exact_search(bench: Bench, used: list[int]) -> None:
    queries = [f"title{n}" for n in range(20)]
    with bench.open() as index:
        found = [dense(index, query) for query in queries]
        chunks = index.status().chunks
    assert 10 <= max(used) < chunks
    path_of(bench).unlink()
    for ones, query in zip(found, queries, strict=True):
        everything = exact_of(bench, query)
        assert sorted(ones, key=everything.index) == ones


def exact_of(bench: Bench, query: str) -> list[str]:
    with bench.open() as index:
        return dense(index, query, 1000)


def test_with_every_list_looked_at_it_answers_as_an_exact_search(
    bench: Bench, used: list[int], every_list: None
) -> None:
    queries = [f"title{n} other{n}" for n in range(20)]
    with bench.open() as index:
        found = [dense(index, query) for query in queries]
    assert len(used) == len(queries)
    path_of(bench).unlink()
    with bench.open() as index:
        assert found == [dense(index, query) for query in queries]


@pytest.mark.parametrize("k", [1, 10, 50])
def test_an_answer_is_never_short(
    bench: Bench, used: list[int], monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    monkeypatch.setattr(ann, "PROBED", (10_000, 10_000))
    with bench.open() as index:
        assert all(len(dense(index, f"title{n}", k)) == k for n in range(10))
    assert used


def test_too_few_candidates_are_an_exact_search(
    bench: Bench, used: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ann, "PROBED", (10_000, 10_000))
    with bench.open() as index:
        found = dense(index, "title7", 50)
    assert used == [-1]
    path_of(bench).unlink()
    with bench.open() as index:
        assert found == dense(index, "title7", 50)


# Whom it shows what


def test_from_whom_something_is_kept_back_it_is_kept_too(bench: Bench, used: list[int]) -> None:
    bench.apply(rule("docs:*.md", BOB) + rule("docs:007.md", "group:other"))
    with bench.open(principal=BOB) as index:
        found = [dense(index, f"title{n}") for n in range(10)]
    assert not used
    path_of(bench).unlink()
    with bench.open(principal=BOB) as index:
        assert found == [dense(index, f"title{n}") for n in range(10)]


def test_who_may_read_everything_is_answered_by_it(bench: Bench, used: list[int]) -> None:
    bench.apply(rule("docs:*.md", BOB))
    with bench.open(principal=BOB) as index:
        assert len(dense(index, "title7")) == 10
    assert used


def test_what_may_not_be_seen_changes_nothing(tmp_path: Path) -> None:
    """The same statements, and the same answer, whatever else is in the index."""
    traces, told = [], []
    for name, title in (("near", "Wanted"), ("far", "Unrelated")):
        bench = Bench(tmp_path / name)
        bench.write({f"{n:03}.md": document(f"Title{n}", f"Other{n}") for n in range(40)})
        bench.write({"theirs.md": document(title)})
        bench.sync()
        assert path_of(bench).exists()
        bench.apply(rule("docs:0*.md", BOB))
        with (
            bench.open(principal=BOB) as index,
            counted_statements(index._store.engine()) as statements,
        ):
            told.append(dense(index, "wanted"))
        traces.append(statements)
    assert traces[0] == traces[1]
    assert told[0] == told[1]


def test_filters_pass_what_they_pass(bench: Bench, used: list[int], every_list: None) -> None:
    with bench.open() as index:
        for n in range(30):
            hits = index.search(f"title{n}", 20, mode="dense", path="0[0-4]*.md").hits
            assert len(hits) == 20
            assert all(b"00" <= hit.document.path[:2] <= b"04" for hit in hits)
    assert min(used) >= 20


def test_where_little_passes_it_is_not_asked(bench: Bench, used: list[int]) -> None:
    with bench.open() as index:
        assert len(dense(index, "title3", path="00*.md")) == 10
        assert len(dense(index, "title3", path="0[0-1]*.md")) == 10
    assert {*used} <= {-1}


def test_documents_of_the_same_text_are_found_together(bench: Bench, every_list: None) -> None:
    bench.write({"copy.md": document("Title7", "Other7")})
    bench.sync()
    with bench.open() as index:
        hits = index.search("title7 other7", 20, mode="dense").hits
    texts = {hit.text for hit in hits if hit.document.path == b"007.md"}
    assert texts
    assert texts == {hit.text for hit in hits if hit.document.path == b"copy.md"}


# When it lacks something


def test_what_is_new_is_found_at_once(bench: Bench, used: list[int]) -> None:
    before = read_header(path_of(bench))
    bench.write({"new.md": document("Brandnew")})
    bench.sync()
    assert read_header(path_of(bench)) == before
    with bench.open() as index:
        assert "docs:new.md" in dense(index, "brandnew", 3)[0]
    assert used


def test_it_is_made_anew_when_it_lacks_much(bench: Bench) -> None:
    before = read_header(path_of(bench))
    bench.write({f"new{n}.md": document(f"New{n}", f"More{n}") for n in range(FILES // 4)})
    bench.sync()
    after = read_header(path_of(bench))
    assert before is not None
    assert after is not None
    assert after.generation == before.generation + 1
    assert after.rows > before.rows


def test_every_generation_is_searched_with_it(
    bench: Bench, used: list[int], every_list: None
) -> None:
    bench.write({"005.md": document("Rewritten")})
    bench.sync()
    rewritten = document("Rewritten")[:250]
    asked = [(query, number) for query in ("title5", rewritten) for number in (1, 2)]
    with bench.open() as index:
        found = [dense(index, query, as_of=number) for query, number in asked]
    assert len(used) == 4
    path_of(bench).unlink()
    with bench.open() as index:
        assert found == [dense(index, query, as_of=number) for query, number in asked]
    assert ["005.md" in ones[0] for ones in found[2:]] == [False, True]


def test_a_sync_with_nothing_to_do_leaves_it(bench: Bench) -> None:
    before = path_of(bench).stat()
    bench.sync()
    after = path_of(bench).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_deleted_it_is_made_by_the_next_sync(bench: Bench) -> None:
    path_of(bench).unlink()
    bench.sync()
    assert path_of(bench).exists()


# When it does not fit


@pytest.mark.parametrize("place", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_damaged_file_is_passed_over(bench: Bench, used: list[int], place: float) -> None:
    data = bytearray(path_of(bench).read_bytes())
    data[int(place * len(data))] ^= 1
    path_of(bench).write_bytes(data)
    with bench.open() as index:
        assert len(dense(index, "title7")) == 10
        assert index.status().ann_inputs is None
        assert [one.kind for one in index.verify()] == ["ann"]
    assert not used


@pytest.mark.parametrize("length", [0, 10, 5_000])
def test_a_file_that_was_cut_off_is_passed_over(bench: Bench, used: list[int], length: int) -> None:
    path_of(bench).write_bytes(path_of(bench).read_bytes()[:length])
    with bench.open() as index:
        assert len(dense(index, "title7")) == 10
    assert not used
    bench.sync()
    with bench.open() as index:
        assert dense(index, "title7")
    assert used


def test_the_file_of_another_store_is_passed_over(
    bench: Bench, tmp_path: Path, used: list[int]
) -> None:
    other = Bench(tmp_path / "other")
    other.write({f"{n:03}.md": document(f"Elsewhere{n}") for n in range(FILES)})
    other.sync()
    shutil.copy(path_of(other), path_of(bench))
    with bench.open() as index:
        assert index.status().ann_inputs is None
        assert dense(index, "title7")
    assert not used


def test_another_model_does_not_use_it(bench: Bench, used: list[int]) -> None:
    other = Recorder(32)
    with bench.open(embedder=other) as index:
        index.use_model("hashing(dimensions=32)")
        assert dense(index, "title7")


def test_verify_finds_nothing_wrong(bench: Bench) -> None:
    with bench.open() as index:
        assert index.verify() == []


def test_verify_finds_vectors_that_are_others(bench: Bench) -> None:
    content = open_ann(path_of(bench))
    assert content is not None
    moved = np.roll(content.input_ids, 1)
    index = faiss.read_index(str(path_of(bench)))
    with written_ann(path_of(bench), index, moved, content.header) as beside:
        name_ann(beside, path_of(bench))
    with bench.open() as index:
        assert [one.kind for one in index.verify()] == ["ann"]


def test_a_repair_drops_a_damaged_file_and_a_sync_makes_it_again(bench: Bench) -> None:
    path = path_of(bench)
    path.write_bytes(path.read_bytes()[:-1])
    with bench.open() as index:
        planned = index.repair(dry_run=True)
        assert path.exists()
        assert [one.subject for one in planned.mended] == [path.name]
        done = index.repair()
        assert (done.mended, done.left) == (planned.mended, ())
        assert not path.exists()
        index.sync()
        assert path.exists()
        assert index.verify() == []


# How it goes


def test_erasing_takes_it_away(bench: Bench) -> None:
    with bench.open() as index:
        dense(index, "title7")
        index.erase("docs:007.md")
        assert not list(bench.store.glob("*.ann*"))
        assert not any("007.md" in one for one in dense(index, "title7"))
    bench.sync()
    content = open_ann(path_of(bench))
    assert content is not None
    kept = {row[0] for row in bench.sql("SELECT id FROM input")}
    assert {*content.input_ids.tolist()} <= kept


def test_pruning_and_collecting_take_it_away(bench: Bench) -> None:
    bench.write({"007.md": document("Rewritten")})
    bench.sync()
    with bench.open() as index:
        assert index.prune(keep=1).removed.inputs
        assert not path_of(bench).exists()
        index.sync()
        assert path_of(bench).exists()


def test_one_that_is_being_made_does_not_bring_back_what_is_erased(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path_of(bench).unlink()
    made = ann_building.ann_of

    def erased_meanwhile(*given: object) -> object:
        index = made(*given)  # type: ignore[arg-type]
        with bench.open() as other:
            other.erase("docs:007.md")
        return index

    monkeypatch.setattr(ann_building, "ann_of", erased_meanwhile)
    bench.sync()
    assert not list(bench.store.glob("*.ann*"))


def test_what_a_killed_run_left_is_taken_away(bench: Bench) -> None:
    left = path_of(bench).with_name(f".{path_of(bench).name}.0badcafe")
    left.write_bytes(b"half of an index")
    with bench.open() as index:
        index.erase("docs:007.md")
    assert not left.exists()
    left.write_bytes(b"half of an index")
    bench.sync()
    assert not left.exists()
    assert path_of(bench).exists()


def test_a_backup_leaves_it_out(bench: Bench, tmp_path: Path) -> None:
    with bench.open() as index:
        index.backup(tmp_path / "copy.sqlite")
    assert [one.name for one in tmp_path.glob("copy*")] == ["copy.sqlite"]


def test_a_store_that_may_only_be_read_is_searched_with_and_without_it(
    bench: Bench, used: list[int]
) -> None:
    bench.store.chmod(0o500)
    path_of(bench).chmod(0o400)
    try:
        with bench.open() as index:
            assert dense(index, "title7")
        assert used
    finally:
        bench.store.chmod(0o700)
    path_of(bench).unlink()
    bench.store.chmod(0o500)
    try:
        with bench.open() as index:
            assert dense(index, "title7")
    finally:
        bench.store.chmod(0o700)


def test_turned_off_it_is_neither_made_nor_used(bench: Bench, used: list[int]) -> None:
    bench.configure(f"{bench.settings}\n[store]\nann = false\n")
    with bench.open() as index:
        assert dense(index, "title7")
        assert index.status().ann_inputs is None
    path_of(bench).unlink()
    bench.sync()
    assert not path_of(bench).exists()
    assert not used


def test_without_the_library_everything_is_looked_at(
    bench: Bench, used: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("ann_opening", "ann_audit", "ann_building"):
        monkeypatch.setattr(f"variorum.store.{module}.is_installed", lambda: False)
    with bench.open() as index:
        assert dense(index, "title7")
        assert index.verify() == []
    assert not used


def test_a_disk_that_fails_keeps_nothing_else_from_being_published(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError("no space left on device")

    path_of(bench).unlink()
    monkeypatch.setattr(os, "fsync", full)
    bench.write({"new.md": document("Brandnew")})
    report, _ = bench.sync()
    assert report.generation == 2
    assert not list(bench.store.glob("*.ann*"))


def test_status_says_how_much_it_holds_to_the_owner_alone(bench: Bench) -> None:
    bench.apply(rule("docs:0*.md", BOB))
    with bench.open() as index:
        assert index.status().ann_inputs == index.status().inputs
        assert index.for_principal(BOB).status().ann_inputs is None
