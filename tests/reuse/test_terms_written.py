"""Exactly which rows of terms an edit writes: those of its new inputs, whatever the store holds."""

from pathlib import Path

import pytest

from variorum.analysis import terms
from variorum.store.schema import indexed
from variorum.store.seals import seal_of
from workbench import Bench, document, section


def rows(bench: Bench) -> tuple[set[object], set[tuple[object, ...]]]:
    """The indexed inputs, and the (term, segment) of every list."""
    found = {row[0] for row in bench.sql("SELECT input_id FROM indexed")}
    return found, set(bench.sql("SELECT term, segment FROM posting"))


@pytest.mark.parametrize("others", [0, 40])
def test_an_edit_writes_a_row_for_each_new_input_and_each_of_their_terms(
    tmp_path: Path, others: int
) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{n}.md": document(f"O{n}", f"P{n}") for n in range(others)})
    bench.write({"a.md": document("T1", "T2", "T3")})
    bench.sync()
    before, lists = rows(bench)
    bench.write({"a.md": document("T1", "New", "T3")})
    _, embedded = bench.sync()
    assert embedded == [section("New").strip()]
    indexed_now, lists_now = rows(bench)
    assert (before <= indexed_now, lists <= lists_now) == (True, True)
    assert len(indexed_now - before) == 1
    assert {term for term, _ in lists_now - lists} == {
        term.encode() for term in terms(section("New").strip())
    }


def test_nothing_is_written_for_what_was_published_before(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("T1", "T2")})
    bench.sync()
    before = rows(bench)
    bench.write({"a.md": document("T2")})
    bench.sync()
    bench.write({"b.md": document("T1", "T2"), "a.md": document("T1", "T2")})
    bench.sync()
    with bench.open() as index:
        index.restore(1)
    assert rows(bench) == before


def test_inputs_embedded_by_a_run_that_published_nothing_have_no_terms_until_one_does(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("T1")})
    bench.sync()
    bench.sql("INSERT INTO input (key, model_id, tokens) VALUES (x'00', 1, 3)")
    before = rows(bench)
    bench.write({"a.md": document("T1", "T2")})
    bench.sync()
    assert len(rows(bench)[0]) == len(before[0]) + 1


def test_verify_names_an_input_whose_terms_are_not_those_of_its_text(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("T1", "T2"), "b.md": "# 水位\n\n监测站\n"})
    bench.sync()
    (found,) = bench.sql("SELECT input_id, segment, length FROM indexed LIMIT 1")
    row = {"input_id": found[0], "segment": found[1], "length": int(str(found[2])) + 1}
    seal = seal_of(indexed, row)
    bench.sql("UPDATE indexed SET length = length + 1, seal = ? WHERE input_id = ?", seal, found[0])
    with bench.open() as index:
        assert [(one.kind, one.subject) for one in index.verify()] == [
            ("terms", f"input {found[0]}")
        ]
