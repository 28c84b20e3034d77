"""Hits and citations: exact characters of exact revisions, and when they last changed."""

from datetime import datetime
from pathlib import Path

import pytest

import variorum
from variorum.records.errors import InputError, NotFoundError
from variorum.records.hits import Hit
from workbench import Bench, document, section, words


def hit_of(index: variorum.Index, query: str) -> Hit:
    return index.search(query, 1).hits[0]


def history(bench: Bench, *contents: str, name: str = "a.md") -> list[str]:
    """Publish one content after the other; when each generation was published."""
    for content in contents:
        bench.write({name: content})
        bench.sync()
    with bench.open() as index:
        return [row.created_at for row in index.log()]


def test_a_citation_opens_to_the_hit_s_exact_text(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    text = "Préambule 😀\r\n\r\n" + document("One", "Two").replace("\n", "\r\n")
    bench.write({"a.md": b"\xef\xbb\xbf" + text.encode()})
    bench.sync()
    raw = (bench.root / "a.md").read_bytes()
    with bench.open() as index:
        for hit in index.search("one two", 10).hits:
            shown = index.show(hit.citation)
            assert shown.text == hit.text == text[hit.start : hit.end]
            assert raw[shown.byte_start : shown.byte_end].decode() == hit.text
            assert index.show(str(hit.citation)).text == hit.text
            assert (shown.start_line, shown.end_line) == (hit.start_line, hit.end_line)
            assert text.splitlines(keepends=True)[hit.start_line - 1] in hit.text
            assert shown.section[hit.start - shown.section_start :].startswith(hit.text)
            assert shown.is_current


def test_an_old_citation_still_opens_and_says_that_it_is_old(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    history(bench, document("One"))
    with bench.open() as index:
        old = hit_of(index, "one")
    history(bench, section("New", 40) + document("One"))
    with bench.open() as index:
        shown = index.show(str(old.citation))
    assert (shown.text, shown.is_current) == (old.text, False)
    assert shown.revision == old.revision


def test_a_citation_of_a_deleted_document_still_opens(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One"), "b.md": document("Two")})
    bench.sync()
    with bench.open() as index:
        old = hit_of(index, words("one"))
    bench.remove("a.md")
    bench.sync()
    with bench.open() as index:
        assert index.show(old.citation).text == old.text
        assert not index.show(old.citation).is_current


def test_a_citation_that_leads_nowhere_is_not_found(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    history(bench, document("One"))
    with bench.open() as index:
        citation = str(hit_of(index, "one").citation)
        head, _, _ = citation.partition("[")
        for wrong in (
            f"{head}[0:99999]",
            citation.replace("a.md", "b.md"),
            "docs:a.md@00000000[0:1]",
        ):
            with pytest.raises(NotFoundError) as fault:
                index.show(wrong)
            assert fault.value.kind == "no-such-citation"
        with pytest.raises(InputError):
            index.show("nonsense")


def test_a_cited_range_that_no_chunk_has_is_opened_all_the_same(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    text = document("One", "Two")
    history(bench, text)
    with bench.open() as index:
        head, _, _ = str(hit_of(index, "one").citation).partition("[")
        for start, end in ((0, 0), (3, 10), (0, len(text)), (len(text), len(text))):
            assert index.show(f"{head}[{start}:{end}]").text == text[start:end]


def test_equal_revisions_of_two_documents_are_cited_apart(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One"), "b.md": document("One")})
    bench.sync()
    with bench.open() as index:
        hits = index.search("one", 2).hits
    assert [str(hit.citation.document) for hit in hits] == ["docs:a.md", "docs:b.md"]
    assert hits[0].revision == hits[1].revision


def changed_at(bench: Bench, query: str) -> str:
    with bench.open() as index:
        return hit_of(index, query).changed_at


def test_a_passage_that_was_edited_changed_with_that_publish(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first, second = document("One", "Two"), document("One", "Three")
    _, published = history(bench, first, second)
    assert changed_at(bench, words("three")) == published
    assert datetime.fromisoformat(published).utcoffset() is not None


@pytest.mark.parametrize(
    "edited",
    [
        document("One", "Two", "Three", "Four"),
        document("Zero", "One", "Two", "Three"),
        document("One", "Three"),
        document("Three", "One"),
        document("One") + "\n" + document("Other", "Three"),
    ],
    ids=["append", "prepend", "delete another", "reorder", "edit another"],
)
def test_an_edit_elsewhere_leaves_a_passage_s_time_alone(tmp_path: Path, edited: str) -> None:
    bench = Bench(tmp_path)
    published = history(bench, document("One", "Two", "Three"), edited)
    assert published[0] != published[1]
    for query in ("one", "three"):
        assert changed_at(bench, section(query.title())) == published[0]


def test_a_passage_whose_boundaries_move_did_not_change(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    history(bench, document("One", "Two", "Three", count=10))
    bench.configure('[chunking]\nchunker = "anchored(max_tokens=120, min_tokens=10)"\n')
    bench.sync()
    with bench.open() as index:
        assert [row.number for row in index.log()] == [1, 2]
        assert index.diff(1, 2).documents[0].action == "layout"
        assert hit_of(index, "one").changed_at == index.log()[0].created_at


def test_a_rename_does_not_change_a_passage(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first, _ = history(bench, document("One"), document("One", "Two"))
    (bench.root / "a.md").rename(bench.root / "b.md")
    bench.sync()
    assert bench.found(words("one"), k=1) == ["docs:b.md"]
    assert changed_at(bench, words("one")) == first


def test_what_is_renamed_and_edited_at_once_begins_anew(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    history(bench, document("One"))
    bench.remove("a.md")
    bench.write({"b.md": document("One", "Two")})
    bench.sync()
    with bench.open() as index:
        assert hit_of(index, "one").changed_at == index.log()[-1].created_at


def test_a_passage_that_was_away_changed_when_it_came_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    one, other = document("One"), document("Other")
    *_, last = history(bench, one, other, one)
    assert changed_at(bench, "one") == last
    with bench.open() as index:
        assert index.search("one", as_of=1).hits[0].changed_at == index.log()[0].created_at


def test_a_document_that_was_away_changed_when_it_came_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"b.md": "other words"})
    history(bench, document("One"))
    bench.remove("a.md")
    bench.sync()
    *_, last = history(bench, document("One"))
    assert changed_at(bench, words("one")) == last


def test_a_held_document_keeps_its_time(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (first,) = history(bench, document("One"))
    bench.write({"a.md": b"caf\xe9", "b.md": "new"})
    assert [one.kind for one in bench.sync()[0].held] == ["undecodable"]
    assert changed_at(bench, words("one")) == first


def test_line_ends_are_no_change_of_a_passage(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first, _ = history(bench, document("One"), document("One").replace("\n", "\r\n"))
    assert changed_at(bench, words("one")) == first
