"""Two writers at the same moment: one publishes, the other plans again or says that it is busy."""

import threading
from collections import Counter
from pathlib import Path

import pytest

from dying import FORK, copy_of
from variorum.records.errors import BusyError, ConflictError, VariorumError
from variorum.sync import sharing
from workbench import Bench, Recorder, document, promise, vectors_stored, words

ROUNDS = 8
SEMANTIC = '[chunking]\nchunker = "semantic(max_tokens=80, min_tokens=10, window=2)"\n'


def edited(home: Path) -> Bench:
    """One generation, and changes that the next one publishes."""
    bench = Bench(home)
    bench.write({f"{n}.md": document(f"A{n}", f"B{n}") for n in range(6)})
    bench.sync()
    bench.write({f"{n}.md": document(f"A{n}", f"C{n}") for n in range(0, 6, 2)})
    bench.remove("1.md")
    return bench


def sync_at_once(bench: Bench, gate: object, outcomes: object) -> None:
    """Wait for the other writer, sync, and hand over what came of it."""
    gate.wait()  # type: ignore[attr-defined]
    try:
        with bench.open(embedder=Recorder()) as index:
            outcome = f"published {index.sync().generation}"
    except VariorumError as error:
        outcome = error.kind if isinstance(error, BusyError | ConflictError) else repr(error)
    outcomes.put(outcome)  # type: ignore[attr-defined]


def race_of_processes(bench: Bench, writers: int = 2) -> Counter[str]:
    gate, outcomes = FORK.Barrier(writers), FORK.Queue()
    processes = [
        FORK.Process(target=sync_at_once, args=(bench, gate, outcomes)) for _ in range(writers)
    ]
    for process in processes:
        process.start()
    found = Counter(outcomes.get(timeout=60) for _ in processes)
    for process in processes:
        process.join()
    return found


def check_outcome(bench: Bench, whole: Bench, outcomes: Counter[str]) -> None:
    number = whole.stored().generation
    assert outcomes[f"published {number}"] == 1, outcomes
    allowed = {f"published {number}", "published None", "store-busy", "generation-conflict"}
    assert set(outcomes) <= allowed
    assert bench.stored().generation == number
    assert bench.stored().plain() == whole.stored().plain()
    assert vectors_stored(bench.store) == vectors_stored(whole.store)
    with bench.open() as index:
        assert index.verify() == []


def no_waiting(_: float) -> None:
    pytest.fail("it waits for itself")


def test_two_processes_that_sync_the_same_edit_publish_it_once(tmp_path: Path) -> None:
    """ATM-05."""
    base = edited(tmp_path / "base")
    whole = copy_of(base, tmp_path / "whole")
    whole.sync()
    for turn in range(ROUNDS):
        bench = copy_of(base, tmp_path / f"race-{turn}")
        check_outcome(bench, whole, race_of_processes(bench))


def test_two_processes_that_make_the_same_store_publish_it_once(tmp_path: Path) -> None:
    base = Bench(tmp_path / "base")
    base.write({"a.md": document("One", "Two"), "b.md": document("Three")})
    whole = copy_of(base, tmp_path / "whole")
    whole.sync()
    for turn in range(ROUNDS // 2):
        bench = copy_of(base, tmp_path / f"race-{turn}")
        check_outcome(bench, whole, race_of_processes(bench))


def test_a_writer_that_loses_plans_again_and_publishes_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another sync publishes in the middle of a call of this one's, whom it must not wait for."""
    monkeypatch.setattr(sharing, "sleep", no_waiting)
    bench = edited(tmp_path / "base")
    other = Bench(bench.home)

    class Overtaken(Recorder):
        def embed(self, inputs, role="passage"):  # type: ignore[no-untyped-def]
            if role == "passage" and not self.calls:
                other.sync()
                bench.write({"late.md": document("Late")})
            return super().embed(inputs, role)

    bench.embedder = Overtaken()
    report, asked = bench.sync()
    assert report.generation == 3
    assert report.documents.added == 1
    assert len(asked) == len(set(asked)) == 4
    assert report.inputs.embed == len(asked)
    assert report.embedder_calls == bench.embedder.calls
    assert report.tokens.total == report.tokens.embed + report.tokens.reuse
    assert "docs:late.md" in bench.stored().documents


def test_a_writer_that_always_loses_says_so_and_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "sleep", no_waiting)
    bench = edited(tmp_path / "base")
    other = Bench(bench.home)

    class AlwaysOvertaken(Recorder):
        def embed(self, inputs, role="passage"):  # type: ignore[no-untyped-def]
            if role == "passage":
                other.write({"z.md": document(f"Z{other.stored().generation}")})
                other.sync()
                bench.write({"y.md": document(f"Y{other.stored().generation}")})
            return super().embed(inputs, role)

    bench.embedder = AlwaysOvertaken()
    with bench.open() as index, pytest.raises(ConflictError) as lost:
        index.sync()
    assert lost.value.kind == "generation-conflict"
    bench.embedder = Recorder()
    report, asked = bench.sync()
    assert report.documents.changed == 1
    assert len(asked) in (0, 1)
    with bench.open() as index:
        assert index.verify() == []


def test_a_writer_that_loses_reports_the_windows_that_it_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "sleep", no_waiting)
    bench = Bench(tmp_path, SEMANTIC)
    bench.write({"a.txt": " ".join(words(f"t{n}").capitalize() for n in range(20))})
    other = Bench(bench.home, SEMANTIC)
    plan = bench.plan()

    class Overtaken(Recorder):
        def embed(self, inputs, role="passage"):  # type: ignore[no-untyped-def]
            vectors = super().embed(inputs, role)
            if role == "passage" and len(self.passages) > plan.windows.embed:
                other.sync()
            return vectors

    bench.embedder = Overtaken()
    report, _ = bench.sync()
    assert report.generation is None
    assert report.windows.embed == plan.windows.embed
    assert report.windows.tokens == plan.windows.tokens


@pytest.mark.parametrize("settings", [SEMANTIC, None])
def test_a_sync_within_a_call_of_another_does_not_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str | None
) -> None:
    monkeypatch.setattr(sharing, "sleep", no_waiting)
    bench = Bench(tmp_path, settings) if settings else Bench(tmp_path)
    bench.write({f"{n}.txt": words(f"t{n}").capitalize() * 3 for n in range(5)})
    other = Bench(bench.home, bench.settings)

    class Nesting(Recorder):
        def embed(self, inputs, role="passage"):  # type: ignore[no-untyped-def]
            if role == "passage" and not self.calls:
                other.sync()
            return super().embed(inputs, role)

    bench.embedder = Nesting()
    bench.sync()
    assert bench.stored().generation == 1
    assert len(bench.stored().documents) == 5


def test_two_collections_are_written_side_by_side(tmp_path: Path) -> None:
    tables = "".join(f'[collections.{name}]\nsources = ["docs"]\n' for name in ("p", "q"))
    bench = Bench(tmp_path, collections=tables)
    bench.write({f"{n}.md": document(f"A{n}", f"B{n}") for n in range(6)})
    reports: dict[str, object] = {}

    def run(name: str) -> None:
        with bench.open(collection=name, embedder=Recorder()) as index:
            reports[name] = promise(index.sync())["documents"]

    threads = [threading.Thread(target=run, args=(name,)) for name in ("p", "q")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert reports["p"] == reports["q"]
    assert bench.stored("p").plain() == bench.stored("q").plain()
    assert len(vectors_stored(bench.store)) == 12
