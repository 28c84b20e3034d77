"""A repair writes what is proven to be what was written, and says of all else what can be done."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Column, Table

from damaging import SEALED, corrupt, damageable, one_row, other_value
from dying import copy_of
from variorum.records.errors import DamagedError, UnsupportedError
from variorum.records.repairs import Repaired
from variorum.store.flips import MOST_CANDIDATES
from variorum.store.schema import metadata
from variorum.store.seals import seal_of, sealed_columns
from variorum.store.term_audit import seal_of_list
from workbench import Bench, Recorder, Unreachable, document, rule, words

DERIVED = {"lexicon", "indexed", "posting"}
"""Made again from the texts as a whole, so that their rows may be others."""
LAPSING = {"lease", "removal"}

Rows = Mapping[str, set[tuple[object, ...]]]


def rows(bench: Bench) -> Rows:
    names = [table.name for table in metadata.sorted_tables]
    return {name: set(bench.sql(f'SELECT * FROM "{name}"')) for name in names}


def repaired(bench: Bench, **named: object) -> Repaired:
    bench.embedder.taken()
    with bench.open() as index:
        return index.repair(**named)  # type: ignore[arg-type]


def tables_left(report: Repaired) -> set[str]:
    return {left.subject.partition(" ")[0] for left in report.left}


def check_nothing_is_invented(before: Rows, damaged: Rows, after: Rows, report: Repaired) -> None:
    """Every row is as it was written, or as it was found and told of; or a cache that is gone."""
    is_dropped = any(one.how.startswith("dropped") for one in report.mended)
    for table in before.keys() - DERIVED - LAPSING:
        assert after[table] - before[table] <= damaged[table], table
        if before[table] - after[table] and not (is_dropped and table in ("input", "vector")):
            assert table in tables_left(report), table


def two_generations(home: Path) -> Bench:
    """A revision that its source has no more, and one of a document that stays."""
    bench = Bench(home)
    bench.write({"a.md": document("One", "Two"), "休假.md": "# 休假\n\n每年有二十五天的年假。\n"})
    bench.sync()
    bench.write({"a.md": document("One", "Three")})
    bench.sync()
    return bench


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return damageable(tmp_path_factory.mktemp("made"))


@pytest.fixture
def bench(made: Bench, tmp_path: Path) -> Bench:
    return copy_of(made, tmp_path / "copy")


@pytest.fixture
def two(tmp_path: Path) -> Bench:
    return two_generations(tmp_path / "two")


def damage_content(bench: Bench, which: str) -> None:
    """Cut the bytes of a revision of a.md: the `newest` one, or the `oldest`."""
    order = "DESC" if which == "newest" else "ASC"
    bench.sql(
        "UPDATE revision SET content = substr(content, 1, 9) WHERE id = (SELECT revision_id FROM"
        f" manifest ORDER BY document_id, from_generation {order} LIMIT 1)"
    )


def test_a_whole_store_has_nothing_to_repair(bench: Bench) -> None:
    before = rows(bench)
    with bench.open(embedder=Unreachable()) as index:
        assert index.repair() == Repaired(dry_run=False, findings=0)
    assert rows(bench) == before


def check_column(bench: Bench, column: Column[Any]) -> None:
    before = rows(bench)
    if column.primary_key:
        table = column.table
        bench.sql(
            f'UPDATE "{table.name}" SET "{column.name}" = {other_value(column)}'
            f" WHERE {one_row(table, 'DESC')}"
        )
    else:
        corrupt(bench, column, other_value(column))
    damaged = rows(bench)
    rehearsed = repaired(bench, dry_run=True)
    assert rows(bench) == damaged
    report = repaired(bench)
    assert (rehearsed.mended, rehearsed.left) == (report.mended, report.left)
    check_nothing_is_invented(before, damaged, rows(bench), report)
    assert report.mended or report.left
    with bench.open() as index:
        left = {(one.kind, one.subject, one.found) for one in report.left}
        assert {(one.kind, one.subject, one.found) for one in index.verify()} == left
    assert repaired(bench).left == report.left


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=str)
def test_another_value_of_a_column_is_mended_or_told_of(bench: Bench, table: Table) -> None:
    check_column(bench, Random(table.name).choice(list(sealed_columns(table))))


@pytest.mark.long
@pytest.mark.parametrize("column", SEALED, ids=str)
def test_another_value_of_any_column_is_mended_or_told_of(
    bench: Bench, column: Column[Any]
) -> None:
    check_column(bench, column)


def flipped(value: object, chance: Random) -> object:
    if isinstance(value, int):
        return value ^ 1 << chance.randrange(31)
    data = bytearray(value.encode() if isinstance(value, str) else value)  # type: ignore[arg-type]
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(7)
    return data.decode(errors="surrogateescape") if isinstance(value, str) else bytes(data)


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=str)
def test_a_flipped_bit_is_flipped_back_and_no_model_asked(bench: Bench, table: Table) -> None:
    before = rows(bench)
    chance = Random(table.name)
    held_names = [column.name for column in table.c]
    names = ", ".join(f'"{name}"' for name in held_names)
    found = bench.sql(f'SELECT {names} FROM "{table.name}" WHERE {one_row(table, "ASC")}')
    held = dict(zip(held_names, found[0], strict=True))
    columns = [
        one.name
        for one in (*sealed_columns(table), table.c.seal)
        if held[one.name] and not one.primary_key and not one.foreign_keys
    ]
    for name in columns:
        if isinstance(held[name], bytes) and 8 * len(held[name]) > MOST_CANDIDATES:  # type: ignore[arg-type]
            continue
        value = flipped(held[name], chance)
        condition = one_row(table, "ASC")
        with suppress(sqlite3.IntegrityError):  # The name of another row: not this one's damage.
            bench.sql(f'UPDATE "{table.name}" SET "{name}" = ? WHERE {condition}', value)
        if rows(bench) == before:
            continue
        with bench.open(embedder=Unreachable()) as index:
            assert index.repair().left == (), (name, value)
            assert index.verify() == []
        if table.name in DERIVED | LAPSING:
            return
        assert rows(bench) == before, name


def test_a_revision_comes_back_from_its_source(two: Bench) -> None:
    before = rows(two)
    damage_content(two, "newest")
    report = repaired(two)
    assert [one.how for one in report.mended] == ["source"]
    assert (report.left, rows(two)) == ((), before)
    assert two.embedder.passages == []


def test_a_revision_comes_back_from_a_file_of_another_name(two: Bench) -> None:
    before = rows(two)
    damage_content(two, "newest")
    (two.root / "a.md").rename(two.root / "moved.md")
    assert (repaired(two).left, rows(two)) == ((), before)


def test_a_revision_comes_back_from_another_tenant(tmp_path: Path) -> None:
    collections = '[collections.default]\n[collections.b]\ntenant = "b"\nsources = ["docs"]\n'
    bench = Bench(tmp_path)
    bench.configure(bench.settings, collections)
    bench.write({"a.md": document("One")})
    for name in ("default", "b"):
        with bench.open(collection=name) as index:
            index.sync()
    before = rows(bench)
    bench.sql("UPDATE revision SET content = x'00' WHERE tenant = 'b'")
    bench.remove("a.md")
    with bench.open(collection="default") as index:
        assert [one.how for one in index.repair().mended] == ["another tenant's copy"]
    assert rows(bench) == before


def test_what_no_source_has_any_more_is_left_and_what_can_be_done_works(two: Bench) -> None:
    damage_content(two, "oldest")
    report = repaired(two)
    assert report.mended == ()
    assert {one.kind for one in report.left} == {"row", "revision"}
    for one in report.left:
        assert "put docs:a.md back as it was" in one.remedy
        assert "once generation 2 is the oldest" in one.remedy
    with two.open() as index:
        index.prune(keep=1)
        assert index.verify() == []


def test_a_damaged_revision_is_replaced_by_what_the_source_has_now(two: Bench) -> None:
    damage_content(two, "newest")
    two.write({"a.md": document("One", "Four")})
    assert "or change it and sync" in repaired(two).left[0].remedy
    report, _ = two.sync()
    assert (report.generation, report.documents.changed) == (3, 1)
    with two.open() as index:
        index.prune(keep=1)
        assert index.verify() == []
        assert str(index.search(words("four", 4), 1).hits[0].document) == "docs:a.md"


def test_a_document_with_a_damaged_revision_can_be_erased(two: Bench) -> None:
    damage_content(two, "oldest")
    with two.open() as index:
        assert index.erase("docs:a.md").removed.revisions == 2
        assert index.verify() == []


def test_bytes_that_do_not_hash_to_the_revision_are_never_taken(two: Bench) -> None:
    damage_content(two, "newest")
    two.write({"a.md": document("One", "Three") + " "})
    report = repaired(two)
    assert report.mended == ()
    assert "revision" in {one.kind for one in report.left}


@pytest.mark.parametrize("damage", ["zeroblob(length(data))", "x'00'", "NULL"])
def test_vectors_are_embedded_again_and_only_those_that_are_gone(two: Bench, damage: str) -> None:
    before = rows(two)
    if damage == "NULL":
        two.sql("DELETE FROM vector WHERE input_id = 2")
    else:
        two.sql(f"UPDATE vector SET data = {damage} WHERE input_id = 2")
    rehearsed = repaired(two, dry_run=True)
    assert (rehearsed.embedded_inputs, rehearsed.left, two.embedder.passages) == (1, (), [])
    report = repaired(two)
    assert (report.embedded_inputs, report.left) == (1, ())
    assert len(two.embedder.passages) == 1
    assert report.embedded_tokens == rehearsed.embedded_tokens > 0
    assert rows(two) == before


def test_without_the_model_a_vector_is_left_and_the_rest_is_mended(two: Bench) -> None:
    two.sql("DELETE FROM vector WHERE input_id = 2")
    damage_content(two, "newest")
    with two.open(embedder=Recorder(32)) as index:
        report = index.repair()
    assert [one.how for one in report.mended] == ["source"]
    assert [(one.kind, one.subject) for one in report.left] == [("vector", "input 2")]
    assert "when the model that made it can be asked" in report.left[0].remedy
    assert repaired(two).left == ()


@pytest.mark.parametrize("which", ["chunk WHERE ordinal = 1", "input WHERE id = 2"])
def test_a_chunk_or_an_input_that_is_gone_is_made_again_from_the_text(
    two: Bench, which: str
) -> None:
    before = rows(two)
    two.sql(f"DELETE FROM {which}")
    assert repaired(two).left == ()
    assert rows(two) == before


def test_an_index_of_the_file_is_made_again(two: Bench) -> None:
    before = rows(two)
    path = two.store / "store.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        [(page,)] = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'manifest_document'"
        )
        [(size,)] = connection.execute("PRAGMA page_size")
    connection.close()
    content = bytearray(path.read_bytes())
    # The number of entries on the index's page: it holds none any more.
    content[(page - 1) * size + 3 : (page - 1) * size + 5] = b"\0\0"
    path.write_bytes(content)
    with two.open() as index:
        assert {one.kind for one in index.verify()} == {"file"}, index.verify()
    report = repaired(two)
    assert ([one.subject for one in report.mended], report.left) == (["store"], ())
    assert rows(two) == before


def test_a_head_follows_a_newest_generation_that_is_whole_alone(two: Bench) -> None:
    two.sql("UPDATE head SET generation = generation + 5000, seal = seal + 77")
    two.sql("UPDATE generation SET kind = kind || 'xyz' WHERE number = 2")
    assert {"head", "generation"} <= tables_left(repaired(two))
    assert two.sql("SELECT generation FROM head") == [(5002,)]


def test_an_old_revision_that_is_damaged_does_not_keep_the_others_from_their_terms(
    two: Bench,
) -> None:
    two.sql("DELETE FROM posting")
    two.sql("DELETE FROM indexed")
    two.sql("DELETE FROM lexicon")
    damage_content(two, "oldest")
    with two.open() as index, pytest.raises(UnsupportedError):
        index.search("three", mode="lexical")
    two.write({"b.md": "b"})
    two.sync()
    with two.open() as index:
        assert index.search("年假", mode="lexical").hits
        for query in ("年假", words("two", 4)):
            with pytest.raises(DamagedError):
                index.search(query, as_of=1, mode="lexical")
        index.prune(keep=1)
        assert index.search(words("three", 4), mode="lexical").hits
        assert index.verify() == []


def test_the_terms_of_a_revision_that_comes_back_are_made_with_it(two: Bench) -> None:
    for table in ("posting", "indexed", "lexicon"):
        two.sql(f"DELETE FROM {table}")
    damage_content(two, "oldest")
    two.sync(relayout=True)
    assert repaired(two).left != ()
    two.write({"old.md": document("One", "Two")})
    assert repaired(two).left == ()
    with two.open() as index:
        assert index.search(words("two", 4), as_of=1, mode="lexical").hits


def resealed(bench: Bench, table: str, column: str, value: object, where: str) -> None:
    """Set a column of rows together with a seal that fits."""
    described = metadata.tables[table]
    names = list(described.c.keys())
    bench.sql(f'UPDATE "{table}" SET "{column}" = ? WHERE {where}', value)

    columns = ", ".join(f'"{name}"' for name in names)
    for found in bench.sql(f'SELECT rowid, {columns} FROM "{table}" WHERE {where}'):
        row = dict(zip(names, found[1:], strict=True))
        for one in described.c:
            if str(one.type) == "JSON" and row[one.name] is not None:
                row[one.name] = json.loads(str(row[one.name]))
        seal = seal_of(described, row)
        bench.sql(f'UPDATE "{table}" SET seal = ? WHERE rowid = ?', seal, found[0])


@pytest.mark.parametrize(
    ("table", "column", "value", "kind"),
    [
        ("chunk", "heading_path", '["Other"]', "sections"),
        ("layout", "outline", "[]", "sections"),
        ("manifest", "reader_set_id", None, "policy"),
        ("manifest", "effective_until", 5, "policy"),
    ],
)
def test_what_was_worked_out_from_the_text_is_compared_with_it(
    tmp_path: Path, table: str, column: str, value: object, kind: str
) -> None:
    bench = Bench(tmp_path)
    narrowed = "---\nvariorum:\n  readers: [group:staff]\n---\n\n# Title\n\nText of it.\n"
    bench.write({"a.md": narrowed})
    bench.sync()
    resealed(bench, table, column, value, "1")
    with bench.open() as index:
        assert kind in {one.kind for one in index.verify()}


def test_a_grant_that_gives_more_than_the_policy_is_found(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": "a", "b.md": "b"})
    bench.sync()
    bench.apply(rule("*:a.md", "group:staff") + rule("*:b.md", "everyone"))
    [(wide,)] = bench.sql("SELECT reader_set_id FROM access_grant WHERE document_id = 2")
    resealed(bench, "access_grant", "reader_set_id", wide, "document_id = 1")
    with bench.open() as index:
        assert [one.found for one in index.verify()] == ["gives more than the policy in force"]


@pytest.mark.parametrize("content", ["text", 7, 0.5])
def test_a_revision_that_is_not_even_bytes_is_found_and_left(two: Bench, content: object) -> None:
    two.sql("UPDATE revision SET content = ? WHERE id = 1", content)
    with two.open() as index:
        assert "revision id=1" in {one.subject for one in index.verify()}
    assert "revision" in tables_left(repaired(two))


@pytest.mark.parametrize("data", [b"\x01", b"\x80", b"\xff\xff\x7f\x01"])
def test_a_list_of_postings_that_says_nothing_is_located_and_made_again(
    two: Bench, data: bytes
) -> None:
    [(term, segment)] = two.sql("SELECT term, segment FROM posting ORDER BY term LIMIT 1 OFFSET 3")
    assert isinstance(term, bytes)
    assert isinstance(segment, int)
    two.sql(
        "UPDATE posting SET data = ?, seal = ? WHERE term = ? AND segment = ?",
        data,
        seal_of_list(term, segment, data),
        term,
        segment,
    )
    with two.open() as index:
        [found] = index.verify()
    assert f"X'{term.hex().upper()}'" in found.subject
    assert found.found == "it is no list of indexed inputs"
    assert repaired(two).left == ()


def test_a_sample_is_embedded_again_and_compared(two: Bench) -> None:
    count = len(two.sql("SELECT * FROM vector"))
    with two.open() as index:
        assert index.verify(sample=100) == []
    assert len(two.embedder.taken()) == count
    with two.open() as index:
        assert index.verify(sample=2) == []
    assert len(two.embedder.taken()) == 2
    [(other,)] = two.sql("SELECT data FROM vector WHERE input_id = 1")
    resealed(two, "vector", "data", other, "input_id = 2")
    with two.open() as index:
        assert index.verify() == []
        found = index.verify(sample=100)
    assert [(one.kind, one.subject) for one in found] == [("vector", "input 2")]
    assert "a cosine of" in found[0].found
