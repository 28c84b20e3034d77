"""Die at the n-th write of a repair: what it did is kept, and run again it does the rest."""

from pathlib import Path

import pytest

import variorum
from dying import Died, Mortal, copy_of
from workbench import Bench, document, vectors_stored

EVERY = 6
"""Of the writes, which are died at by default."""


def damaged(home: Path) -> Bench:
    """Damage to rows, to a revision that its source has, to chunks, inputs, vectors and terms."""
    bench = Bench(home)
    bench.write({"a.md": document("One", "Two"), "休假.md": "# 休假\n\n每年有二十五天的年假。\n"})
    bench.sync()
    for damage in (
        "UPDATE revision SET content = x'00' WHERE id = 1",
        "UPDATE revision SET size_bytes = size_bytes + 1 WHERE id = 2",
        "UPDATE chunk SET prefix = 'other', start = start + 5000 WHERE ordinal = 1",
        "UPDATE input SET key = x'00' WHERE id = 1",
        "DELETE FROM vector WHERE input_id > 1",
        "UPDATE posting SET data = x'00'",
        "UPDATE head SET generation = 9, seal = seal + 77",
    ):
        bench.sql(damage)
    return bench


def repair(index: variorum.Index) -> None:
    assert index.repair().left == ()


def check_deaths(home: Path, every: int) -> None:
    bench = damaged(home / "damaged")
    whole = copy_of(bench, home / "whole")
    with Mortal() as mortal, whole.open() as index:
        repair(index)
        assert index.verify() == []
    assert mortal.writes > 20
    wanted, vectors = whole.stored().plain(), vectors_stored(whole.store)
    for last_write in range(1, mortal.writes + 1, every):
        victim = copy_of(bench, home / f"dies-{last_write}")
        with pytest.raises(Died), Mortal(last_write), victim.open() as index:
            index.repair()
        paid = len(victim.sql("SELECT * FROM vector"))
        victim.embedder.taken()
        with victim.open() as index:
            repair(index)
            assert index.verify() == []
            assert index.sync().inputs.embed == 0
        assert len(victim.embedder.taken()) == len(vectors) - paid
        assert (victim.stored().plain(), vectors_stored(victim.store)) == (wanted, vectors)


def test_a_repair_that_dies_at_a_write_is_run_again(tmp_path: Path) -> None:
    check_deaths(tmp_path, EVERY)


@pytest.mark.long
def test_a_repair_that_dies_at_any_write_is_run_again(tmp_path: Path) -> None:
    check_deaths(tmp_path, 1)
