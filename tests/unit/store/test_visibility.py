"""What deciding costs, and that forbidden and absent take the same steps."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import variorum
from variorum.records.errors import DamagedError, VariorumError
from variorum.retrieval.legs import MODES
from variorum.store.seals import crc32
from variorum.store.store import counted_statements
from workbench import Bench, document, rule

BOB = "user:bob"


@contextmanager
def traced(index: variorum.Index) -> Iterator[list[tuple[str, str, int]]]:
    """Every statement of an index with its values and the rows that it gave."""
    found: list[tuple[str, str, int]] = []
    engine = index._store.engine()

    def note(_c: object, cursor: Any, statement: str, values: object, *_: object) -> None:
        # The rows are counted by running the statement once more, on a connection of its own.
        other = sqlite3.connect(index._store.path)
        other.create_function("crc32", 1, crc32)
        rows = other.execute(statement, values).fetchall()  # type: ignore[arg-type]
        other.close()
        found.append((statement, repr(values), len(rows)))

    event.listen(engine, "after_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "after_cursor_execute", note)


def refused(index: variorum.Index, citation: str) -> dict[str, object]:
    with pytest.raises(VariorumError) as fault:
        index.show(citation)
    fields = fault.value.as_fields()
    return {key: str(value).replace(citation, "CITATION") for key, value in fields.items()}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    files = {f"{n:03}.md": document(f"Title{n}", f"Other{n}") for n in range(40)}
    bench.write({**files, "hr/secret.md": document("Secret")})
    bench.sync()
    bench.apply(rule("docs:0*.md", BOB) + rule("docs:hr/**", "group:hr"))
    return bench


@pytest.mark.parametrize("warm", [False, True])
def test_forbidden_and_absent_run_the_same_statements_over_the_same_rows(
    bench: Bench, warm: bool
) -> None:
    traces, errors = [], []
    with bench.open() as index:
        real = index.search("secret", 1, path="hr/**").hits[0].citation
    absent = str(real).replace("secret", "nobody")
    for citation in (str(real), absent):
        with bench.open(principal=BOB) as index:
            if warm:
                index.search("anything")
            with traced(index) as trace:
                errors.append(refused(index, citation))
        traces.append(trace)
    assert traces[0] == traces[1]
    assert len(traces[0]) >= 1
    assert errors[0] == errors[1]
    assert errors[0]["kind"] == "no-such-citation"


@pytest.mark.parametrize("mode", MODES)
def test_asking_for_the_forbidden_and_for_the_absent_is_the_same_work(
    tmp_path: Path, mode: str
) -> None:
    bench = Bench(tmp_path)
    bench.write({"mine.md": document("Mine"), "hr/secret.md": "---\nsalary: 1\n---\n\nsecretly\n"})
    bench.sync()
    bench.apply(rule("docs:mine.md", BOB))
    for forbidden, absent in (
        ({"query": "secretly"}, {"query": "unwritten"}),
        ({"query": "x", "path": "hr/secret.md"}, {"query": "x", "path": "hr/nobody.md"}),
        ({"query": "x", "where": {"salary": 1}}, {"query": "x", "where": {"sulary": 1}}),
    ):
        traces, told = [], []
        for asked in (forbidden, absent):
            with bench.open(principal=BOB) as index, traced(index) as trace:
                told.append(answered(index, {**asked, "mode": mode}))
            traces.append([(said, _told_rows(said, rows)) for said, _, rows in trace])
        assert traces[0] == traces[1]
        assert told[0] == told[1]


def _told_rows(statement: str, rows: int) -> int | None:
    """A list of a word is read whole before it is masked: its length is not made equal."""
    return None if "FROM posting" in statement else rows


def answered(index: variorum.Index, asked: Mapping[str, Any]) -> list[object]:
    """What a search finds, or says instead, but for the words of the question."""
    try:
        return [str(hit.citation) for hit in index.search(**asked).hits]
    except VariorumError as error:
        return [error.kind, error.expected, error.remedy]


@pytest.mark.parametrize("mode", MODES)
def test_a_search_is_the_same_work_whatever_it_may_not_see(tmp_path: Path, mode: str) -> None:
    """Statements and their rows with forbidden documents that match, and with others instead."""
    traces = []
    for name, title in (("near", "Wanted"), ("far", "Unrelated")):
        bench = Bench(tmp_path / name)
        bench.write({"mine.md": document("Mine"), "theirs.md": document(title)})
        bench.sync()
        bench.apply(rule("docs:mine.md", BOB))
        with bench.open(principal=BOB) as index, traced(index) as trace:
            index.search("wanted", 10, mode=mode, explain=True)
        traces.append([(said, _told_rows(said, rows)) for said, _, rows in trace])
    assert traces[0] == traces[1]


def test_a_repeated_search_decides_nothing_anew(bench: Bench) -> None:
    with bench.open(principal=BOB) as index:
        index.search("anything", 1)
        with counted_statements(index._store.engine()) as statements:
            index.search("anything", 1)
    assert not any("access_grant.reader_set_id" in one for one in statements)
    assert not any("FROM reader" in one for one in statements)


def test_deciding_reads_rows_in_proportion_to_what_passes(tmp_path: Path) -> None:
    counts = []
    for others in (20, 200):
        bench = Bench(tmp_path / str(others))
        bench.write({f"mine{n}.md": document(f"Mine{n}") for n in range(5)})
        bench.write({f"theirs{n}.md": document(f"Theirs{n}") for n in range(others)})
        bench.sync()
        bench.apply(rule("docs:mine*.md", BOB) + rule("docs:theirs*.md", "group:x", "user:y"))
        with bench.open(principal=BOB) as index, traced(index) as trace:
            index.search("anything", 3)
        counts.append([rows for statement, _, rows in trace if "access_grant" in statement])
    assert counts[0] == counts[1]
    assert sum(counts[0]) <= 20
    assert bench.sql("SELECT count(*) FROM reader_set") == [(2,)]


def test_principals_with_equal_rights_at_one_time_share_a_view(bench: Bench) -> None:
    with bench.open(principal=BOB) as index:
        first = index._view(index._asked(None))
        assert index._view(index._asked(None)) is first
        assert index._view(index._asked("2020-01-01")) is first
        bench.apply(rule("docs:**", BOB, effective_from="2021-01-01"))
        assert index._view(index._asked(None)) is not first
        assert index._view(index._asked("2020-01-01")) is not index._view(index._asked(None))


def test_the_policy_costs_the_owner_one_row_a_search(bench: Bench) -> None:
    with bench.open() as index:
        index.search("anything", 1)
        with counted_statements(index._store.engine()) as statements:
            index.search("anything", 1)
    grants = [one for one in statements if "access_grant" in one]
    assert len(grants) == 1, "the standing of the one hit"


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE access_grant SET reader_set_id = "
        "(SELECT set_id FROM reader WHERE name = 'user:bob')",
        "UPDATE access_grant SET effective_until = NULL, to_version = NULL, from_version = 7",
        "UPDATE reader SET name = 'user:bob'",
        "UPDATE document SET reader_set_id = NULL, grants = 9",
    ],
)
def test_damage_lets_nobody_in(bench: Bench, damage: str) -> None:
    bench.sql(damage)
    with bench.open(principal=BOB) as index, pytest.raises(DamagedError):
        index.search("anything")
