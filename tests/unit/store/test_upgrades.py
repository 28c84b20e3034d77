"""A store of any older format is brought up to date with all that it holds, and opens to nobody."""

import gzip
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from variorum.records.errors import NotFoundError, UnsupportedError
from variorum.store import engine
from variorum.store.schema import metadata
from variorum.store.store import Store
from workbench import TENANT, Bench, Recorder, Unreachable, rule

STORES = Path(__file__).parents[2] / "golden/stores"
HAS_TERMS = "0007"
"""The first format whose stores are searched by terms."""
FORMATS = [file.name.removesuffix(".sqlite.gz") for file in sorted(STORES.glob("*.gz"))]

TRAVEL = """\
# Travel

## Meals

Meals abroad are paid up to fifty euro a day.

## Pay

The allowance of managers is one hundred and twenty euro a day.
"""
LAST_SYNCED = {
    "travel.md": TRAVEL,
    "休假.md": "# 休假\n\n每名员工每年有二十五天的年假。\n",
    "staff.md": "# Parking\n\nParking in the yard is for all.\n",
    "dated.md": "---\nvariorum:\n  effective_until: 2020-01-01\n---\n\n"
    "# Old tariff\n\nThe tariff of the old contract.\n",
    "broken.md": "---\nvariorum: 5\n---\n\n# Bonus\n\nThe bonus of directors.\n",
    "blank.md": "\n",
    "gone.md": "# Gone\n\nLeaves with the restore.\n",
}
EVERYONE = rule("*:**", "everyone")
MODES = ["lexical", "dense", "hybrid"]


@pytest.fixture(params=FORMATS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """In generations 1 and 3, staff.md narrows itself to `group:staff`; in all, dated.md is past
    and broken.md narrows itself to what cannot be read.
    """
    return old_store(request.param, tmp_path)


def old_store(format_: str, folder: Path) -> Bench:
    bench = Bench(folder, embedder=Recorder(16))
    bench.write(LAST_SYNCED)
    bench.store.mkdir()
    (bench.store / "store.sqlite").write_bytes(
        gzip.decompress((STORES / f"{format_}.sqlite.gz").read_bytes())
    )
    return bench


@pytest.fixture(params=[one for one in FORMATS if one < HAS_TERMS])
def half_way(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """A store whose tables were brought up to date by a process that ended before it read them."""
    bench = old_store(request.param, tmp_path)
    Store(bench.store).state(TENANT, "default")
    return bench


def found_by(bench: Bench, principal: str, query: str, as_of: int | None = None) -> set[str]:
    """Documents that a principal finds in any mode."""
    with bench.open() as index:
        mine = index.for_principal(principal)
        answers = [mine.search(query, 20, as_of=as_of, mode=mode) for mode in MODES]
    return {str(hit.document) for answer in answers for hit in answer.hits}


def shapes(store: Path) -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    """Columns and indexes of every table, in no order."""
    connection = sqlite3.connect(store / "store.sqlite")
    for table in metadata.tables:
        columns = connection.execute(
            f'SELECT name, type, "notnull", pk FROM pragma_table_info("{table}")'
        )
        yield table, sorted(columns)
        indexes = connection.execute(
            f'SELECT name, "unique", partial FROM pragma_index_list("{table}")'
        )
        for name, unique, partial in indexes.fetchall():
            parts = connection.execute(f'SELECT name FROM pragma_index_info("{name}")').fetchall()
            yield f"{table} {parts}", [(unique, partial)]
        references = connection.execute(
            f'SELECT "table", "from", "to" FROM pragma_foreign_key_list("{table}")'
        )
        yield f"{table} references", sorted(references)
    connection.close()


def test_a_store_of_every_format_but_the_newest_is_kept() -> None:
    assert list(engine.KNOWN_FORMATS[: len(FORMATS)]) == FORMATS


def test_its_tables_are_those_of_a_new_store(bench: Bench, tmp_path: Path) -> None:
    with bench.open() as index:
        index.status()
    new = Bench(tmp_path / "new")
    new.sync()
    assert dict(shapes(bench.store)) == dict(shapes(new.store))
    assert bench.sql("SELECT version_num FROM alembic_version") == [(engine.FORMAT,)]


def test_every_generation_holds_what_it_held_and_verify_finds_nothing(bench: Bench) -> None:
    def held() -> list[object]:
        stored = [bench.stored(as_of=number).documents for number in (1, 2, 3)]
        return [
            {name: (one.row, one.content, one.content_type, one.chunks) for name, one in it.items()}
            for it in stored
        ]

    before = held()
    with bench.open() as index:
        assert index.verify() == []
        assert [row.number for row in index.log()] == [1, 2, 3]
    assert held() == before


@pytest.mark.parametrize("mode", MODES)
def test_it_is_searched_at_once_in_every_mode(bench: Bench, mode: str) -> None:
    with bench.open() as index:
        for query, name in (("meals abroad", "travel.md"), ("年假", "休假.md")):
            for generation in (1, 2, 3, None):
                hits = index.search(query, as_of=generation, mode=mode).hits
                assert str(hits[0].document) == f"docs:{name}"


def test_no_model_is_asked_for_it_and_the_next_sync_goes_on(bench: Bench) -> None:
    with bench.open(embedder=Unreachable()) as index:
        assert index.search("meals abroad", mode="lexical").hits
    report, _ = bench.sync(release=True)
    assert (report.generation, report.documents.added) == (4, 1)
    with bench.open() as index:
        assert index.verify() == []


def test_without_a_policy_it_opens_to_nobody_but_the_owner(bench: Bench) -> None:
    for generation in (1, 2, 3):
        assert found_by(bench, "user:eve group:staff", "day", generation) == set()
    assert found_by(bench, "user:eve group:staff", "day") == set()


def test_its_documents_narrow_themselves_as_if_they_were_synced_now(bench: Bench) -> None:
    bench.apply(EVERYONE)
    open_to_all = {"docs:travel.md", "docs:休假.md"}
    assert found_by(bench, "user:eve", "parking day", 1) == open_to_all
    assert found_by(bench, "user:eve", "parking day", 3) == open_to_all
    assert found_by(bench, "user:eve", "parking day", 2) == open_to_all | {"docs:staff.md"}
    staff = found_by(bench, "group:staff", "parking day")
    assert staff == open_to_all | {"docs:staff.md"}


def test_its_sections_are_kept_back(bench: Bench) -> None:
    section = (
        '[[rules.sections]]\nheading = ["Travel", "Pay"]\nreaders = ["group:managers"]\n'
        'missing = "ignore"\n'
    )
    bench.apply(EVERYONE + section)
    for generation in (1, 2, 3):
        with bench.open() as index:
            eve = index.for_principal("user:eve").search("day", as_of=generation)
            boss = index.for_principal("group:managers").search("day", as_of=generation)
        assert "allowance" not in "".join(hit.text for hit in eve.hits)
        assert "allowance" in "".join(hit.text for hit in boss.hits)


def test_one_that_was_not_read_to_the_end_opens_nothing_until_a_sync_does(half_way: Bench) -> None:
    bench = half_way
    bench.apply(EVERYONE)
    with bench.open() as index:
        eve = index.for_principal("user:eve")
        assert eve.search("day", mode="dense").hits == ()
        with pytest.raises(UnsupportedError, match="no terms"):
            index.search("day", mode="lexical")
        citation = index.search("meals", 1, mode="dense").hits[0].citation
        with pytest.raises(NotFoundError):
            eve.show(citation)
        assert index.verify() == []
    bench.sync(release=True)
    bench.apply(EVERYONE)
    opened = {"docs:travel.md", "docs:休假.md", "docs:staff.md", "docs:gone.md"}
    assert found_by(bench, "user:eve", "day") == opened
    with bench.open() as index:
        assert index.verify() == []


def test_a_damaged_old_revision_does_not_keep_the_others_from_their_terms(tmp_path: Path) -> None:
    bench = old_store("0006", tmp_path)
    [(closed,)] = bench.sql(
        "SELECT revision_id FROM manifest GROUP BY revision_id"
        " HAVING max(to_generation IS NULL) = 0 LIMIT 1"
    )
    bench.sql("UPDATE revision SET content = x'00' WHERE id = ?", closed)
    with bench.open() as index:
        assert index.search("meals abroad", 1, mode="lexical").hits
        assert index.search("年假", 1, mode="lexical").hits
        assert f"revision id={closed}" in [one.subject for one in index.verify()]
        assert [one.how for one in index.repair().mended] == ["source"]
        assert index.verify() == []


@pytest.mark.parametrize("table", ["collection", "document", "layout", "manifest"])
def test_what_was_damaged_before_is_found_after(tmp_path: Path, table: str) -> None:
    bench = old_store("0004", tmp_path)
    bench.sql(f"UPDATE {table} SET seal = seal + 1 WHERE id = 1")
    with bench.open() as index:
        assert f"{table} id=1" in [finding.subject for finding in index.verify()]
