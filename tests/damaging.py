"""A store that holds a row of every table, and ways to make a value of it another one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, LargeBinary, Table
from sqlalchemy.types import JSON, Boolean, Integer

from variorum.records.errors import UnavailableError
from variorum.records.protocols import Role, Vectors
from variorum.store.schema import metadata
from variorum.store.seals import seal_of, sealed_columns
from workbench import Bench, Recorder, document, rule

COLUMNS = [column for table in metadata.sorted_tables for column in table.c]
SEALED = [column for table in metadata.sorted_tables for column in sealed_columns(table)]
LEASE = metadata.tables["lease"]


class OneBatch(Recorder):
    """Away after its first answer."""

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if self.calls:
            raise UnavailableError("away", kind="provider-away")
        return super().embed(inputs, role)


def damageable(home: Path) -> Bench:
    """Two generations and a restore, in English and Chinese, with a run that broke off, a policy,
    a reading, and a function over the chunks of the first.
    """
    bench = Bench(home)
    bench.configure(bench.settings, '[collections.default]\naudit = "queries"\n')
    bench.write({"d.md": document(*(f"D{number}" for number in range(20)))})
    with bench.open(embedder=OneBatch()) as index, pytest.raises(UnavailableError):
        index.sync()
    bench.remove("d.md")
    bench.write({"a.md": document("One", "Two"), "休假.md": "# 休假\n\n每年有二十五天的年假。\n"})
    with bench.open(derive={"begin@1": lambda text: text[:9]}) as index:
        index.sync()
    bench.write({"a.md": document("One", "Three"), "c.md": "c", "old.md": b"caf\xe9\n"})
    bench.sync()
    with bench.open() as index:
        index.restore(1)
        index.search("one", 1)
    dates = {"effective_from": "2020-01-01", "effective_until": "2999-01-01"}
    status = {"status": '"current"', "status_by": '"Legal"', "status_at": "2020-01-01"}
    bench.apply(rule("*:**", "everyone", "group:staff", **dates, **status))
    lease = {"key": b"k" * 32, "holder": "ended"}
    bench.sql("INSERT INTO lease VALUES (?, ?, ?)", *lease.values(), seal_of(LEASE, lease))
    pruned: dict[str, object] = {"collection_id": 1, "kind": "prune", "removed_at": "now"}
    pruned |= {"oldest": 1, "documents": 2}
    seal = seal_of(metadata.tables["removal"], pruned)
    bench.sql("INSERT INTO removal VALUES (1, ?, ?, ?, ?, ?, ?)", *pruned.values(), seal)
    denied = {"collection_id": 1, "digest": b"d" * 32, "salt": b"s" * 16}
    seal = seal_of(metadata.tables["denied"], denied)
    bench.sql("INSERT INTO denied VALUES (?, ?, ?, ?)", *denied.values(), seal)
    return bench


def subjects(bench: Bench) -> list[str]:
    with bench.open() as index:
        return [finding.subject for finding in index.verify()]


def corrupt(bench: Bench, column: Column[Any], value: str) -> str:
    """Set a column of a table's first row to an SQL value; the row's name."""
    table = column.table
    keys = [key.name for key in table.primary_key.columns]
    quoted = ", ".join(f"quote({key})" for key in keys)
    [row] = bench.sql(f'SELECT {quoted} FROM "{table.name}" WHERE {one_row(table, "ASC")}')
    bench.sql(f'UPDATE "{table.name}" SET "{column.name}" = {value} WHERE {one_row(table, "ASC")}')
    return " ".join([table.name, *(f"{k}={v}" for k, v in zip(keys, row, strict=True))])


def one_row(table: Table, order: str) -> str:
    """The condition that the first row (`ASC`) or the last (`DESC`) of a table meets alone."""
    keys = [key.name for key in table.primary_key.columns]
    by = ", ".join(f"{key} {order}" for key in keys)
    names = ", ".join(keys)
    return f'({names}) = (SELECT {names} FROM "{table.name}" ORDER BY {by} LIMIT 1)'


def other_value(column: Column[Any]) -> str:
    name = f'"{column.name}"'
    if isinstance(column.type, JSON):
        return "'{\"other\": 1}'"
    if isinstance(column.type, LargeBinary):
        return f"CAST({name} || x'00' AS BLOB)"
    if isinstance(column.type, Boolean):
        return f"1 - {name}"
    if isinstance(column.type, Integer):
        return f"coalesce({name}, 0) + 99"
    return f"{name} || 'x'"
