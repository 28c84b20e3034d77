"""Cases of the area atomic-crash, by id. ATM-03 and ATM-05 at length: tests/crash."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from dying import Slow, kill_when
from variorum.records.errors import InputRejectedError, NotFoundError, UnavailableError
from variorum.records.protocols import Role, Vectors
from variorum.store.staging import Staging
from variorum.sync import execution
from workbench import Bench, Recorder, document, rule, vectors_stored


class Broken(Recorder):
    """Fails once it has answered `passages_left` passages, or refuses what holds `word`."""

    def __init__(self, passages_left: int = 10**9, word: str = "\0") -> None:
        super().__init__()
        self.passages_left, self.word = passages_left, word

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if role == "passage":
            self.passages_left -= len(inputs)
            if self.passages_left < 0:
                raise UnavailableError("the provider is away", kind="provider-away")
            for place, text in enumerate(inputs):
                if self.word in text:
                    raise InputRejectedError("refused", index=place)
        return super().embed(inputs, role)


def test_ATM_01_a_document_that_failed_is_indexed_by_the_next_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, embedder=Broken(word="d3"))
    bench.write({f"{n}.md": document(f"D{n}") for n in range(1, 6)})
    report, _ = bench.sync()
    assert [str(one.document) for one in report.held] == ["docs:3.md"]
    assert len(bench.stored().documents) == 4
    bench.embedder = Recorder()
    report, asked = bench.sync()
    assert (report.documents.added, len(asked)) == (1, 1)
    assert len(bench.stored().documents) == 5


def test_ATM_02_an_update_that_fails_leaves_all_of_the_old_version(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document(*[f"T{n}" for n in range(80)])})
    bench.sync()
    before = bench.stored()
    with bench.open() as index:
        answer = index.search("t5", 1000)
    bench.embedder = Broken(passages_left=50)
    bench.write({"a.md": document(*[f"U{n}" for n in range(80)])})
    with bench.open() as index:
        with pytest.raises(UnavailableError):
            index.sync()
        assert index.search("t5", 1000) == answer
        assert len(answer.hits) == 80
        assert [row.number for row in index.log()] == [1]
    assert bench.stored() == before


def test_ATM_06_no_query_sees_half_of_a_rebuild(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{n}.md": document(*[f"D{n}T{m}" for m in range(20)]) for n in range(25)})
    bench.sync()
    bench.configure('[chunking]\nchunker = "anchored(max_tokens=24, min_tokens=6)"\n')
    bench.embedder = Slow(0.003)
    seen, stop = [], threading.Event()
    with bench.open(embedder=Recorder()) as reader:

        def read() -> None:
            while not stop.is_set():
                seen.append(reader.search("d3t4", 5).as_fields())
                time.sleep(0.01)

        thread = threading.Thread(target=read)
        thread.start()
        try:
            bench.sync()
            time.sleep(0.1)
        finally:
            stop.set()
            thread.join()
        whole = [reader.search("d3t4", 5, as_of=number).as_fields() for number in (1, 2)]
    assert len(seen) > 4
    assert all(answer in whole for answer in seen)
    assert seen[0] == whole[0]
    assert seen[-1] == whole[1]


def test_ATM_07_a_read_of_several_steps_stays_with_one_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search, then context, then citation, over a publish that moves and deletes the hit."""
    bench = Bench(tmp_path)
    old = {name: document(f"{name}Before", f"{name}Hit", f"{name}After") for name in ("P", "Q")}
    bench.write({f"{name}.md": text for name, text in old.items()})
    bench.sync()
    bench.apply(rule("docs:**", "user:ann"))
    staged = execution.stage_new_terms

    def revoked_meanwhile(staging: Staging) -> None:
        staged(staging)
        bench.apply(rule("docs:P.md", "user:ann"))

    monkeypatch.setattr(execution, "stage_new_terms", revoked_meanwhile)
    with bench.open(principal="user:ann") as reader:
        hits = [reader.search(f"{word}Hit", 1, mode="lexical").hits[0] for word in ("p", "q")]
        bench.write({"P.md": document("POther") + old["P"], "Q.md": document("QOther")})
        bench.sync()
        assert reader.show(hits[0].citation).text == hits[0].text
        around = reader.context("pHit", 2000, as_of=1, mode="lexical").passages
        assert all(old["P"][one.start : one.end] == one.text for one in around)
        assert len(around[0].text) > len(hits[0].text)
        assert around[0].revision == hits[0].revision
        with pytest.raises(NotFoundError):
            reader.show(hits[1].citation)
        assert {str(hit.document) for hit in reader.search("qother phit", 50).hits} == {"docs:P.md"}


def test_ATM_09_a_run_killed_late_pays_for_little_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, embedder=Slow(0.003))
    bench.write({f"{n}.md": document(*[f"D{n}T{m}" for m in range(20)]) for n in range(50)})
    kill_when(bench.sync, lambda: _vectors(bench) >= 800)
    kept = _vectors(bench)
    bench.embedder = Recorder()
    report, asked = bench.sync()
    assert report.generation == 1
    assert len(asked) == 1000 - kept <= 200


def _vectors(bench: Bench) -> int:
    if not (bench.store / "store.sqlite").exists():  # Looking at no file would make one.
        return 0
    return len(vectors_stored(bench.store))
