"""Die at the n-th write, for every n: what was published stays, what was paid for is kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

import variorum
from dying import Died, Mortal, copy_of, moments
from workbench import Bench, Recorder, document, key_of, vectors_stored, words

QUERY = words("two", 4)

Run = Callable[[variorum.Index], object]


def syncing(index: variorum.Index) -> object:
    return index.sync()


def restoring(index: variorum.Index) -> object:
    return index.restore(1)


def switching(index: variorum.Index) -> object:
    return index.use_model(Recorder(96))


def prepared(home: Path) -> Bench:
    """Two generations, and changes on the disk that a third would publish."""
    bench = Bench(home)
    bench.write({"a.md": document("One", "Two", "Three"), "b.md": document("Four"), "c.md": "c"})
    bench.sync()
    bench.write({"a.md": document("One", "Two"), "d.md": document("Five")})
    bench.sync()
    bench.write({"a.md": document("Two", "Six", "Seven"), "e.md": document("Eight")})
    bench.remove("b.md")
    return bench


def writes_of(bench: Bench, run: Run) -> int:
    with Mortal() as mortal, bench.open() as index:
        run(index)
    return mortal.writes


def die(bench: Bench, run: Run, last_write: int) -> None:
    with pytest.raises(Died), Mortal(last_write), bench.open() as index:
        run(index)


def readout(bench: Bench, as_of: int) -> object:
    with bench.open() as index:
        answers = index.search(QUERY, as_of=as_of).as_fields()
    return bench.stored(as_of=as_of).plain(), answers


def check_nothing_was_lost(bench: Bench, before: object, wanted: Bench) -> None:
    """The old generation answers, the next sync completes, and pays for no vector twice."""
    assert bench.stored().generation == 2
    assert readout(bench, 2) == before
    recorded = vectors_stored(bench.store)
    report, asked = bench.sync(release=True)
    assert report.generation == 3
    assert not {key_of(bench.embedder, text) for text in asked} & set(recorded)
    assert bench.stored().plain() == wanted.stored().plain()
    assert readout(bench, 2) == before
    with bench.open() as index:
        assert index.verify() == []


@pytest.mark.parametrize("run", [syncing, restoring])
def test_a_run_that_dies_at_any_write_leaves_the_last_generation_whole(
    tmp_path: Path, run: Run, request: pytest.FixtureRequest
) -> None:
    bench = prepared(tmp_path / "prepared")
    before = readout(bench, 2)
    whole = copy_of(bench, tmp_path / "whole")
    writes = writes_of(copy_of(bench, tmp_path / "counted"), run)
    assert writes > 5
    whole.sync()
    for last_write in moments(writes, every=request.config.getoption("--long")):
        victim = copy_of(bench, tmp_path / f"dies-{last_write}")
        die(victim, run, last_write)
        check_nothing_was_lost(victim, before, whole)


def test_a_first_sync_that_dies_at_any_write_can_be_run_again(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    bench = Bench(tmp_path / "prepared")
    bench.write({"a.md": document("One", "Two"), "b.md": document("Two", "Three")})
    writes = writes_of(copy_of(bench, tmp_path / "counted"), syncing)
    assert writes > 15
    for last_write in moments(writes, every=request.config.getoption("--long")):
        victim = copy_of(bench, tmp_path / f"dies-{last_write}")
        die(victim, syncing, last_write)
        recorded = _recorded(victim)
        report, asked = victim.sync()
        assert report.generation == 1
        assert not {key_of(victim.embedder, text) for text in asked} & recorded
        assert len(asked) + len(recorded) == 3
        with victim.open() as index:
            assert len(index.search(QUERY).hits) == 4
            assert index.verify() == []


def _recorded(bench: Bench) -> set[bytes]:
    """A store that was not made whole does not bear its name, and leaves nothing behind."""
    if not (bench.store / "store.sqlite").exists():
        assert not bench.store.exists() or list(bench.store.iterdir()) == []
        return set()
    return set(vectors_stored(bench.store))


def test_a_switch_of_models_that_dies_at_any_write_goes_on_where_it_stopped(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    bench = prepared(tmp_path / "prepared")
    before = readout(bench, 2)
    whole = copy_of(bench, tmp_path / "whole")
    with Mortal() as mortal, whole.open() as index:
        switching(index)
    assert mortal.writes > 8
    for last_write in moments(mortal.writes, every=request.config.getoption("--long")):
        victim = copy_of(bench, tmp_path / f"dies-{last_write}")
        die(victim, switching, last_write)
        assert victim.stored().generation == 2
        assert readout(victim, 2) == before
        recorded, new = set(vectors_stored(victim.store)), Recorder(96)
        with victim.open() as index:
            assert index.use_model(new).generation == 3
            assert index.verify() == []
            assert index.search(QUERY).generation == 3
        assert not {key_of(new, text) for text in new.taken()} & recorded
        assert victim.stored().plain() == whole.stored().plain()
        assert vectors_stored(victim.store) == vectors_stored(whole.store)
