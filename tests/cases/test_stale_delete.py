"""Cases of the area stale-delete, by id. Search is dense: what is gone has no chunk to be found."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from variorum.records.errors import ConflictError, NotFoundError, UnavailableError
from variorum.records.protocols import Listed, Skipped
from variorum.sources import FolderSource
from workbench import Bench, document, section, vectors_stored

OFF = '[chunking]\nchunker = "anchored(max_tokens=40, min_tokens=10)"\nplanner = false\n'


def texts(bench: Bench, query: str) -> list[str]:
    with bench.open() as index:
        return [hit.text for hit in index.search(query, 1000).hits]


def test_DEL_01_a_document_that_shrinks_keeps_no_tail(tmp_path: Path) -> None:
    long = document(*[f"T{n}" for n in range(9)]) + "\n" + section("Zebrafin")
    short = document("T0", "T1", "T2")
    bench, fresh = Bench(tmp_path / "a", OFF), Bench(tmp_path / "b", OFF)
    bench.write({"a.md": long})
    bench.sync()
    bench.write({"a.md": short})
    fresh.write({"a.md": short})
    bench.sync()
    fresh.sync()
    assert bench.stored().plain() == fresh.stored().plain()
    assert not any("zebrafin" in text.lower() for text in texts(bench, "zebrafin"))


def test_DEL_01_with_the_planner_the_hits_and_the_coverage_are_the_same(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document(*[f"T{n}" for n in range(9)]) + "\n" + section("Zebrafin")})
    bench.sync()
    bench.write({"a.md": document("T0", "T1", "T2")})
    bench.sync()
    assert "".join(bench.stored().slices["docs:a.md"]) == document("T0", "T1", "T2")
    assert not any("zebrafin" in text.lower() for text in texts(bench, "zebrafin"))


def test_DEL_02_a_deleted_document_answers_nothing_at_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": section("Quokka"), "b.md": section("Other")})
    bench.sync()
    bench.remove("a.md")
    bench.sync()
    with bench.open() as index:
        hits = index.search("quokka", 1000).hits
        assert {str(hit.document) for hit in hits} == {"docs:b.md"}
        assert index.search("quokka", path="a.md").hits == ()
        assert index.status().documents == 1
    assert set(bench.stored().documents) == {"docs:b.md"}


def test_DEL_03_a_shared_paragraph_outlives_its_first_owner(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    licence = section("Licence")
    bench.write({"a.md": licence + "\n" + section("A"), "b.md": section("B") + "\n" + licence})
    bench.sync()
    bench.remove("a.md")
    report, asked = bench.sync()
    assert (asked, report.inputs.retire) == ([], 1)
    with bench.open() as index:
        hit = index.search(licence, 1).hits[0]
    text = (bench.root / "b.md").read_text()
    assert str(hit.document) == "docs:b.md"
    assert text[hit.start : hit.end].strip() == licence.strip()


def test_DEL_05_fifty_turns_of_delete_and_add_leave_nothing_stale(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.open() as index:
        for turn in range(50):
            bench.write({"a.md": f"quillfin lamp {turn}"})
            index.sync()
            bench.remove("a.md")
            bench.write({"b.md": f"plain bucket {turn}"})
            index.sync(allow_empty=True)
            hits = index.search("quillfin", 100).hits
            assert {str(hit.document) for hit in hits} == {"docs:b.md"}
            assert "quillfin" not in hits[0].text
            bench.remove("b.md")
        assert index.verify() == []


def test_DEL_06_files_of_one_name_in_two_folders_are_two_documents(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a/q1.md": document("A", "Shared"), "b/q1.md": document("B", "Shared")})
    bench.sync()
    other = bench.stored().documents["docs:b/q1.md"]
    bench.write({"a/q1.md": document("Changed", "Shared")})
    assert bench.sync()[1] == [section("Changed").strip()]
    assert bench.stored().documents["docs:b/q1.md"] == other
    bench.remove("a/q1.md")
    assert bench.sync()[1] == []
    assert bench.stored().documents == {"docs:b/q1.md": other}


def test_DEL_08_a_listing_that_breaks_off_deletes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{n:03}.md": f"document {n}" for n in range(100)})
    bench.sync()
    before = bench.stored()
    whole = FolderSource.list

    def broken(source: FolderSource) -> Iterator[Listed | Skipped]:
        for place, entry in enumerate(whole(source)):
            if place == 5:
                raise UnavailableError("the listing broke off", kind="listing-failed")
            yield entry

    with monkeypatch.context() as patch:
        patch.setattr(FolderSource, "list", broken)
        with bench.open() as index, pytest.raises(UnavailableError):
            index.sync(allow_empty=True, allow_shrink=True)
    assert bench.stored() == before
    assert len(texts(bench, "document")) == 100


def test_DEL_09_unreachable_is_an_error_and_empty_needs_a_yes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{n}.md": f"document {n}" for n in range(4)})
    bench.sync()
    before = bench.stored()
    bench.root.rename(tmp_path / "away")
    with bench.open() as index:
        with pytest.raises(NotFoundError):
            index.sync()
        bench.root.mkdir()
        with pytest.raises(ConflictError) as refused:
            index.sync()
        assert "allow-empty" in refused.value.remedy
        assert bench.stored() == before
        assert index.sync(allow_empty=True).documents.removed == 4
        assert index.search("document").hits == ()


def test_DEL_10_what_is_deleted_stays_in_the_past_and_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": "the secret is xq-secret-41", "b.md": "nothing here"})
    bench.sync()
    bench.remove("a.md")
    bench.sync()
    with bench.open() as index:
        assert not any("xq-secret-41" in text for text in texts(bench, "secret"))
        assert [row.number for row in index.log()] == [1, 2]
        assert "xq-secret-41" in index.search("secret", 1, as_of=1).hits[0].text
        assert index.diff(1, 2).documents[0].action == "removed"


def test_DEL_11_superseded_revisions_add_only_what_is_new_in_them(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    titles = [f"T{n}" for n in range(60)]
    for turn in range(20):
        for place in range(turn % 20, 60, 20):
            titles[place] = f"R{turn}P{place}"
        bench.write({"a.md": document(*titles)})
        bench.sync()
    assert len(vectors_stored(bench.store)) == 60 + 19 * 3
