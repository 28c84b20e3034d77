"""Exactly what is embedded and written after an edit."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import event

from variorum.analysis import terms
from variorum.store.store import counted_statements
from variorum.sync import laying
from workbench import Bench, Recorder, document, section, vectors_stored, words

TITLES = [f"T{n}" for n in range(8)]


def inputs(*titles: str) -> list[str]:
    return [section(title).strip() for title in titles]


@pytest.fixture(params=[True, False], ids=["planner on", "planner off"])
def bench(tmp_path: Path, request: pytest.FixtureRequest) -> Bench:
    """A document whose every section is one chunk, and another beside it."""
    planner = str(request.param).lower()
    chunker = '"anchored(max_tokens=40, min_tokens=10)"'
    bench = Bench(tmp_path, f"[chunking]\nchunker = {chunker}\nplanner = {planner}\n")
    bench.write({"a.md": document(*TITLES), "b.md": document("Beside")})
    _, asked = bench.sync()
    assert sorted(asked) == sorted(inputs(*TITLES, "Beside"))
    return bench


def embedded_after(bench: Bench, *titles: str) -> list[str]:
    bench.write({"a.md": document(*titles)})
    return bench.sync()[1]


def test_a_section_inserted_at_the_start_is_all_that_is_embedded(bench: Bench) -> None:
    assert embedded_after(bench, "New", *TITLES) == inputs("New")


def test_a_section_inserted_in_the_middle_or_at_the_end_is_all_that_is_embedded(
    bench: Bench,
) -> None:
    assert embedded_after(bench, *TITLES[:4], "New", *TITLES[4:]) == inputs("New")
    assert embedded_after(bench, *TITLES[:4], "New", *TITLES[4:], "Last") == inputs("Last")


def test_a_deleted_section_embeds_nothing(bench: Bench) -> None:
    bench.write({"a.md": document(*TITLES[:3], *TITLES[4:])})
    report, asked = bench.sync()
    assert asked == []
    assert (report.inputs.reuse, report.inputs.retire, report.recompute_fraction) == (7, 1, 0.0)


def test_a_paragraph_deleted_from_a_section_embeds_what_is_left_of_it(bench: Bench) -> None:
    short = "## T3\n\nOnly these eleven words are left of what stood here before.\n"
    bench.write({"a.md": document(*TITLES).replace(section("T3"), short)})
    (asked,) = bench.sync()[1]
    assert asked.startswith(short.strip())


def test_a_moved_section_embeds_nothing(bench: Bench) -> None:
    assert embedded_after(bench, *TITLES[1:], TITLES[0]) == []
    assert embedded_after(bench, *reversed(TITLES)) == []


def test_a_renamed_heading_embeds_the_chunk_that_holds_it(bench: Bench) -> None:
    text = document(*TITLES).replace("## T5\n", "## Renamed\n")
    bench.write({"a.md": text})
    assert bench.sync()[1] == [section("T5").replace("## T5", "## Renamed").strip()]


def test_a_changed_word_embeds_one_input(bench: Bench) -> None:
    word = words("t2").split()[3]
    bench.write({"a.md": document(*TITLES).replace(word, "changed")})
    (asked,) = bench.sync()[1]
    assert "changed" in asked


def test_a_renamed_file_embeds_nothing_and_cuts_nothing_anew(bench: Bench) -> None:
    layouts = bench.sql("SELECT count(*) FROM layout")
    before = bench.stored().documents["docs:a.md"]
    (bench.root / "a.md").rename(bench.root / "z.md")
    report, asked = bench.sync()
    assert asked == []
    assert (report.documents.added, report.documents.removed) == (1, 1)
    assert (report.inputs.retire, report.embedded_fraction) == (0, 0.0)
    assert bench.stored().documents["docs:z.md"].chunks == before.chunks
    assert bench.sql("SELECT count(*) FROM layout") == layouts


def test_a_copied_file_embeds_nothing(bench: Bench) -> None:
    bench.write({"copy.md": document(*TITLES)})
    assert bench.sync()[1] == []


def test_a_revert_embeds_nothing_and_brings_the_old_layout_back(bench: Bench) -> None:
    before = bench.stored().plain()
    for edit in (["New", *TITLES], TITLES[:2], ["Other"]):
        embedded_after(bench, *edit)
    assert embedded_after(bench, *TITLES) == []
    assert bench.stored().plain() == before


def test_a_revision_that_history_knows_is_not_cut_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded_after(bench, "New")

    def cut(*_: object) -> object:
        raise AssertionError("a known revision was cut")

    monkeypatch.setattr(laying, "lay_out", cut)
    assert embedded_after(bench, *TITLES) == []
    (bench.root / "a.md").rename(bench.root / "z.md")
    bench.write({"copy.md": document(*TITLES)})
    report, asked = bench.sync()
    assert (report.documents.added, asked) == (2, [])


def test_a_section_moved_to_another_document_embeds_nothing(bench: Bench) -> None:
    bench.write({"a.md": document(*TITLES[:3], *TITLES[4:]), "b.md": document("Beside", "T3")})
    report, asked = bench.sync()
    assert asked == []
    assert report.inputs.retire == 0


def test_text_that_came_back_after_its_document_was_deleted_embeds_nothing(bench: Bench) -> None:
    bench.remove("a.md")
    bench.sync()
    bench.write({"c.md": document(*TITLES[2:5])})
    assert bench.sync()[1] == []


def test_touched_and_rewritten_files_embed_and_publish_nothing(bench: Bench) -> None:
    for path in bench.root.iterdir():
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    report, asked = bench.sync()
    assert (report.generation, report.documents.unchanged, asked) == (None, 2, [])


def test_line_ends_are_folded_before_anything_is_embedded(bench: Bench) -> None:
    bench.write({"a.md": document(*TITLES).replace("\n", "\r\n")})
    report, asked = bench.sync()
    assert (report.documents.changed, asked) == (1, [])


def test_a_heading_prefix_is_part_of_the_input(tmp_path: Path) -> None:
    settings = '[chunking]\nchunker = "anchored(max_tokens=40, min_tokens=10)"\nheading_depth = 2\n'
    bench = Bench(tmp_path, settings)
    text = "# Top\n\n" + "\n".join(section(title) for title in TITLES)
    bench.write({"a.md": text})
    _, first = bench.sync()
    assert all("Top" in passage.splitlines()[0] for passage in first)
    bench.write({"a.md": text.replace("# Top", "# Summit")})
    report, asked = bench.sync()
    assert len(asked) == len(first)
    assert report.recompute_fraction == 1.0


def test_no_vector_is_ever_written_again(bench: Bench) -> None:
    seen = vectors_stored(bench.store)
    rows = dict(bench.sql("SELECT input_id, data FROM vector"))  # type: ignore[arg-type]
    for edit in (["New", *TITLES], TITLES[::-1], TITLES[:2], TITLES):
        embedded_after(bench, *edit)
        now = vectors_stored(bench.store)
        assert {key: now[key] for key in seen} == seen
        seen = now
    after = dict(bench.sql("SELECT input_id, data FROM vector"))  # type: ignore[arg-type]
    assert {identifier: after[identifier] for identifier in rows} == rows


# What an edit of one document costs, whatever stands beside it


class Counting:
    """Rows that every connection of the process wrote to a store, by `total_changes`."""

    def __init__(self) -> None:
        self.connections: list[sqlite3.Connection] = []

    def note(self, connection: sqlite3.Connection, _record: object) -> None:
        self.connections.append(connection)

    @property
    def rows(self) -> int:
        return sum(connection.total_changes for connection in self.connections)


def cost_of_one_edit(home: Path, documents: int) -> tuple[list[str], int, dict[str, int]]:
    """Statements, rows written by any connection, and new rows of each table, of one edit."""
    bench = Bench(home)
    bench.write({f"{n:04}.md": document(f"D{n}", f"E{n}") for n in range(documents)})
    bench.sync()
    bench.write({"0001.md": document("D1", "Edited")})
    before = sizes(bench)
    counting = Counting()
    with bench.open(embedder=Recorder()) as index:
        engine = index.store.engine()
        engine.dispose()
        event.listen(engine, "connect", counting.note)
        with counted_statements(engine) as statements:
            assert index.sync().inputs.embed == 1
        rows = counting.rows
    after = sizes(bench)
    return statements, rows, {name: after[name] - before[name] for name in after}


def sizes(bench: Bench) -> dict[str, int]:
    tables = bench.sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {
        str(name): int(str(bench.sql(f"SELECT count(*) FROM {name}")[0][0])) for (name,) in tables
    }


def test_an_edit_of_one_document_costs_the_same_beside_few_and_many(tmp_path: Path) -> None:
    few = cost_of_one_edit(tmp_path / "few", 50)
    many = cost_of_one_edit(tmp_path / "many", 500)
    assert len(few[0]) == len(many[0])
    assert few[0] == many[0]
    new_terms = len(terms(section("Edited").strip()))
    # The rows of terms are staged, and then copied.
    assert few[1] == many[1] < 60 + 2 * (new_terms + 1)
    assert few[2] == many[2]
    grown = {name: count for name, count in few[2].items() if count}
    assert grown == {
        "generation": 1,
        "revision": 1,
        "layout": 1,
        "chunk": 2,
        "input": 1,
        "vector": 1,
        "indexed": 1,
        "posting": new_terms,
        "manifest": 1,
        "cost": 1,
    }


def test_a_sync_without_a_change_writes_nothing_and_asks_the_same(tmp_path: Path) -> None:
    asked = []
    for documents in (5, 80):
        bench = Bench(tmp_path / str(documents))
        bench.write({f"{n}.md": document(f"D{n}") for n in range(documents)})
        bench.sync()
        with bench.open() as index, counted_statements(index.store.engine()) as statements:
            index.sync()
        asked.append(statements)
        writes = [s for s in statements if s.startswith(("INSERT", "UPDATE", "DELETE"))]
        assert all("staged_" in statement for statement in writes)
    assert asked[0] == asked[1]
