"""Die at the n-th write of a prune, an erasure or a collection of garbage, for every n."""

from collections.abc import Callable
from pathlib import Path

import pytest

import variorum
from dying import Died, Mortal, copy_of
from workbench import Bench, document, words

QUERY = words("two", 4)
SECRET = words("secret", 20).encode()

Run = Callable[[variorum.Index], object]


def pruning(index: variorum.Index) -> object:
    return index.prune(keep=1)


def erasing(index: variorum.Index) -> object:
    return index.erase("docs:private.md")


def collecting(index: variorum.Index) -> object:
    return index.gc(older_than="0h")


def prepared(home: Path) -> Bench:
    """Three generations, and vectors of a run that broke off."""
    bench = Bench(home)
    bench.write({"a.md": document("One", "Two"), "private.md": document("Secret", "Two")})
    bench.sync()
    bench.write({"a.md": document("One", "Two", "Three"), "private.md": document("Secret", "Six")})
    bench.sync()
    bench.write({"a.md": document("Two", "Four"), "b.md": document("Five")})
    bench.sync()
    bench.write({"c.md": document("Seven", "Eight")})
    with pytest.raises(KeyboardInterrupt):
        bench.sync(progress=_stop)
    bench.remove("c.md")
    return bench


def _stop(stage: str, done: int, total: int | None) -> None:
    if stage == "embed" and done and done == total:
        raise KeyboardInterrupt


def readout(bench: Bench) -> object:
    with bench.open() as index:
        answer = index.search(QUERY).as_fields()
        oldest = min(row.number for row in index.log() if not row.is_pruned)
    return (
        oldest,
        bench.stored().plain(),
        [(hit["text"], hit["document"]) for hit in answer["hits"]],
    )  # type: ignore[attr-defined]


@pytest.mark.parametrize("run", [pruning, erasing, collecting])
def test_a_removal_that_dies_at_any_write_did_all_or_nothing_and_can_be_run_again(
    tmp_path: Path, run: Run
) -> None:
    bench = prepared(tmp_path / "prepared")
    before = readout(bench)
    whole = copy_of(bench, tmp_path / "whole")
    with Mortal() as mortal, whole.open() as index:
        run(index)
    after = readout(whole)
    assert mortal.writes > 8
    states = set()
    for last_write in range(1, mortal.writes + 1):
        victim = copy_of(bench, tmp_path / f"dies-{last_write}")
        with pytest.raises(Died), Mortal(last_write), victim.open() as index:
            run(index)
        found = readout(victim)
        assert found in (before, after)
        states.add(found == after)
        with victim.open() as index:
            assert index.verify() == []
            run(index)
            assert index.verify() == []
            assert index.sync().inputs.embed == 0
        assert readout(victim) == after
    if run is not collecting:
        assert states == {False, True}
    if run is erasing:
        files = [file for file in victim.store.rglob("*") if file.is_file()]
        assert all(b"private.md" not in file.read_bytes() for file in files)
