"""Die at the n-th write of an import, for every n: the collection is not there, or whole."""

from pathlib import Path

import pytest

from dying import Died, Mortal, moments
from workbench import Bench, document, words


def test_an_import_that_dies_at_any_write_did_all_or_nothing_and_can_be_run_again(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    bench = Bench(tmp_path / "here")
    for edit in ("Two", "Three"):
        bench.write({"a.md": document("One", edit), "b.md": document("One", "Four")})
        bench.sync()
    file = tmp_path / "out.jsonl"
    with bench.open() as index:
        index.export(file)
        wanted = index.search(words("three", 4)).as_fields()

    def imported(home: Path, last_write: int = 0) -> int:
        victim = Bench(home)
        with Mortal(last_write) as mortal, victim.open() as index:
            index.import_(file)
        return mortal.writes

    writes = imported(tmp_path / "counted")
    assert writes > 15
    for last_write in moments(writes, every=request.config.getoption("--long")):
        victim = Bench(tmp_path / f"dies-{last_write}")
        with pytest.raises(Died):
            imported(victim.home, last_write)
        generation = victim.stored().generation if _has_tables(victim) else 0
        assert generation in (0, 2)
        with victim.open() as index:
            if not generation:
                index.import_(file)
            assert index.verify() == []
            assert index.search(words("three", 4)).as_fields() == wanted
        assert victim.stored().plain() == bench.stored().plain()


def _has_tables(bench: Bench) -> bool:
    return (bench.store / "store.sqlite").exists()
