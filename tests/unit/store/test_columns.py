"""No column without a way to verify it, and none that a reader takes on trust."""

import sqlite3
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, LargeBinary, Table, bindparam, create_engine, event, select
from sqlalchemy.types import JSON

import variorum
from damaging import COLUMNS, SEALED, corrupt, damageable, one_row, other_value, subjects
from dying import copy_of
from variorum.records.errors import DamagedError
from variorum.store.schema import metadata
from variorum.store.seals import crc32, seal_of, sealed, sealed_columns, write_json
from workbench import Bench

UNCOUNTED = {"held", "lease", "unpublished", "removal", "denied", "derived"}
"""What no other row tells of: what the last listings held, what writers are at, which outputs a
chunk has.
"""
IDS = {f"{table}.id" for table in metadata.tables if "id" in metadata.tables[table].c}


def every_third(columns: Sequence[Column[Any]]) -> list[Any]:
    """All of them, two thirds in the long profile alone."""
    return [
        column if place % 3 == 0 else pytest.param(column, marks=pytest.mark.long)
        for place, column in enumerate(columns)
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return damageable(tmp_path_factory.mktemp("made"))


@pytest.fixture
def bench(made: Bench, tmp_path: Path) -> Bench:
    return copy_of(made, tmp_path / "copy")


def test_every_column_but_the_ids_that_the_engine_chooses_is_sealed() -> None:
    left = {str(column) for column in COLUMNS} - {str(column) for column in SEALED}
    assert left == IDS | {f"{table}.seal" for table in metadata.tables}


def test_a_sound_store_has_no_finding(bench: Bench) -> None:
    assert subjects(bench) == []


@pytest.mark.parametrize("column", SEALED, ids=str)
def test_another_value_is_found_in_its_row(bench: Bench, column: Column[Any]) -> None:
    if column.primary_key:
        table = column.table
        bench.sql(
            f'UPDATE "{table.name}" SET "{column.name}" = {other_value(column)}'
            f" WHERE {one_row(table, 'DESC')}"
        )
        assert any(subject.startswith(table.name) for subject in subjects(bench))
    else:
        assert corrupt(bench, column, other_value(column)) in subjects(bench)


@pytest.mark.parametrize("column", every_third(SEALED), ids=str)
def test_a_value_of_another_type_is_found_in_its_column(bench: Bench, column: Column[Any]) -> None:
    if column.primary_key and column.table.name != "source":
        return  # The engine itself refuses it, or its foreign key does.
    wrong = "x'41'" if not isinstance(column.type, LargeBinary) else "'A'"
    row = corrupt(bench, column, wrong)
    found = subjects(bench)
    assert any(subject.startswith(column.table.name) for subject in found), found
    if not column.primary_key:
        assert f"{row} {column.name}" in found


@pytest.mark.parametrize("column", [c for c in SEALED if isinstance(c.type, JSON)], ids=str)
@pytest.mark.parametrize("value", ["'x'", "'{'", "''", "'null'", "'5'", "'\"x\"'"])
def test_json_that_is_none_or_of_another_shape_is_found_in_its_column(
    bench: Bench, column: Column[Any], value: str
) -> None:
    row = corrupt(bench, column, value)
    assert f"{row} {column.name}" in subjects(bench)


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=str)
def test_a_row_that_is_gone_or_was_never_written_is_found(bench: Bench, table: Table) -> None:
    name = f'"{table.name}"'
    names = ", ".join(f'"{c.name}"' for c in table.c if c.name not in ("seal", "id"))
    if table.name not in ("head", "vector", "indexed", "lexicon"):  # Every possible row is there.
        fresh = names
        for key, value in (
            ("number", "99"),
            ("version", "99"),
            ("digest", "'new'"),
            ("ordinal", "99"),
            ("name", "'new'"),
            ("path", "x'41'"),
            ("generation", "99"),
            ("fingerprint", "'new'"),
            ("sha256", "'new'"),
            ("digest", "x'41'"),
            ("key", "x'41'"),
            ("segment", "99"),
        ):
            fresh = fresh.replace(f'"{key}"', value)
        bench.sql(f"INSERT INTO {name} ({names}) SELECT {fresh} FROM {name} LIMIT 1")
        assert any(subject.startswith(table.name) for subject in subjects(bench))
        bench.sql(f"DELETE FROM {name} WHERE seal = 0")
    assert subjects(bench) == []
    if table.name in UNCOUNTED:
        return
    bench.sql(f"DELETE FROM {name} WHERE {one_row(table, 'DESC')}")
    assert subjects(bench) != []


CALLS: dict[str, Callable[[variorum.Index], object]] = {
    "search": lambda index: index.search("one"),
    "log": lambda index: index.log(),
    "status": lambda index: index.status(),
    "diff": lambda index: index.diff(1, 2),
    "plan": lambda index: index.plan(release=True),
    "sync": lambda index: index.sync(release=True),
}
READ = [
    ("chunk", "heading_path", "'{}'", ("search",)),
    ("chunk", "heading_path", "'x'", ("search",)),
    ("chunk", "start", "start + 1", ("search",)),
    ("input", "model_id", "99", ("search",)),
    ("manifest", "metadata", "'x'", ("search", "diff", "status", "plan", "sync")),
    ("manifest", "metadata", "'\"x\"'", ("search", "diff", "status", "plan", "sync")),
    ("document", "path", "path || x'41'", ("search", "diff", "status", "plan", "sync")),
    ("recipe", "settings", "'x'", ("search", "log", "status", "diff", "plan")),
    ("generation", "report", "'x'", ("search", "log", "status", "diff", "plan")),
    ("generation", "report", "'{}'", ("search", "log", "status", "diff", "plan")),
    ("model", "dimensions", "3", ("search", "log", "status", "diff", "plan")),
    ("vector", "data", "zeroblob(length(data))", ("search",)),
    ("vector", "data", "x'0000c07f' || substr(data, 5)", ("search",)),
    ("vector", "data", "x'00'", ("search",)),
    ("head", "generation", "99", tuple(CALLS)),
    ("source", "root", "root || 'x'", ("status", "plan", "sync")),
]


@pytest.mark.parametrize(("table", "column", "value", "calls"), READ)
def test_what_a_command_reads_is_what_was_written_or_it_says_that_it_is_not(
    bench: Bench, table: str, column: str, value: str, calls: tuple[str, ...]
) -> None:
    cast = f"CAST({value} AS BLOB)" if column in ("data", "path") else value
    bench.sql(f'UPDATE "{table}" SET "{column}" = {cast}')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in calls:
            with bench.open() as index, pytest.raises(DamagedError) as fault:
                CALLS[name](index)
            assert fault.value.subject.startswith(f"{table} ")
            assert "variorum verify" in fault.value.remedy


VALUES = {
    "INTEGER": st.integers(-(2**63), 2**63 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "VARCHAR": st.text(st.characters(codec="utf-8")),
    "BLOB": st.binary(),
    "BOOLEAN": st.booleans(),
    "JSON": st.dictionaries(st.text(st.characters(codec="utf-8")), st.integers()),
}


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=str)
@given(data=st.data())
def test_the_engine_and_the_program_work_out_the_same_seal(table: Table, data: Any) -> None:
    row = {
        column.name: data.draw(
            VALUES[str(column.type)] | (st.none() if column.nullable else st.nothing())
        )
        for column in sealed_columns(table)
    }
    bound = {name: bindparam(name, value, type_=table.c[name].type) for name, value in row.items()}
    memory = create_engine("sqlite://", json_serializer=write_json)

    @event.listens_for(memory, "connect")
    def _(connection: sqlite3.Connection, _record: object) -> None:
        connection.create_function("crc32", 1, crc32)

    with memory.connect() as connection:
        assert connection.execute(select(sealed(table, bound))).scalar_one() == seal_of(table, row)
