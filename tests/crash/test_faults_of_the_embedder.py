"""An embedder that fails: nothing is published, and what it finished is kept."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from variorum.records.errors import InputRejectedError, UnavailableError, VariorumError
from variorum.records.protocols import Role, Vectors
from workbench import Bench, Recorder, document, key_of, vectors_stored, words

BATCH = 16


class Failing(Recorder):
    """Raises at passage call number `last_call`, once."""

    def __init__(self, last_call: int) -> None:
        super().__init__()
        self.last_call = last_call

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if role == "passage" and self.calls + 1 == self.last_call:
            self.calls += 1
            raise UnavailableError("the provider is away", kind="provider-away")
        return super().embed(inputs, role)


class Refusing(Recorder):
    """Refuses every input that holds `word`."""

    def __init__(self, word: str, dimensions: int = 64) -> None:
        super().__init__(dimensions)
        self.word = word

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        for place, text in enumerate(inputs):
            if self.word in text:
                raise InputRejectedError("refused", index=place)
        return super().embed(inputs, role)


class Answering(Recorder):
    """Spoils the vector of each passage that holds `word`."""

    def __init__(self, word: str, spoil: Callable[[Vectors, int], Vectors]) -> None:
        super().__init__()
        self.word, self.spoil = word, spoil

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        vectors = super().embed(inputs, role)
        for place, text in enumerate(inputs):
            if self.word in text:
                return self.spoil(vectors, place)
        return vectors


def prepared(home: Path) -> Bench:
    bench = Bench(home)
    bench.write({"old.md": document("Old")})
    bench.sync()
    titles = [f"T{n}" for n in range(6 * BATCH)]
    bench.write({f"{n}.md": document(*titles[n : n + 8]) for n in range(0, len(titles), 8)})
    return bench


@pytest.mark.parametrize("last_call", range(1, 7))
def test_a_failing_call_publishes_nothing_and_keeps_finished_vectors(
    tmp_path: Path, last_call: int
) -> None:
    bench = prepared(tmp_path)
    before = bench.stored().plain()
    working, bench.embedder = bench.embedder, Failing(last_call)
    with bench.open() as index, pytest.raises(UnavailableError) as fault:
        index.sync()
    assert fault.value.kind == "provider-away"
    assert bench.stored().plain() == before
    finished = len(vectors_stored(bench.store)) - 1
    assert finished >= (last_call - 1) * BATCH, "a batch before the fault is lost"
    bench.embedder = working
    report, asked = bench.sync()
    assert report.generation == 2
    assert len(asked) == 6 * BATCH - finished


def test_a_refused_input_holds_its_document_and_publishes_the_rest(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two"), "b.md": document("Three")})
    bench.sync()
    first = bench.stored().documents["docs:a.md"]
    bench.embedder = Refusing("poison")
    bench.write({"a.md": document("One", "Two", "Poison"), "b.md": document("Four")})
    report, _ = bench.sync()
    assert [(str(one.document), one.kind) for one in report.held] == [
        ("docs:a.md", "input-rejected")
    ]
    assert (report.documents.changed, report.documents.held) == (1, 1)
    assert bench.stored().documents["docs:a.md"] == first
    bench.embedder = Recorder()
    report, asked = bench.sync()
    assert (report.documents.changed, len(asked)) == (1, 1)


def test_copies_of_a_refused_document_are_held_one_by_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path, embedder=Refusing("poison"))
    bench.write({"a.md": document("Poison"), "b.md": document("Poison"), "c.md": document("Fine")})
    report, _ = bench.sync()
    assert sorted(str(one.document) for one in report.held) == ["docs:a.md", "docs:b.md"]
    assert set(bench.stored().documents) == {"docs:c.md"}


def test_a_refused_input_of_a_source_that_was_not_listed_holds_its_document(
    tmp_path: Path,
) -> None:
    notes = '[sources.notes]\nkind = "jsonl"\nroot = "notes.jsonl"\n'
    bench = Bench(tmp_path, collections=notes)
    bench.write({"a.md": document("One")})
    (tmp_path / "notes.jsonl").write_text('{"id": "n", "text": "a poison note"}\n')
    bench.sync()
    bench.embedder = Refusing("poison", dimensions=32)
    report, _ = bench.sync(source="docs")
    assert [str(one.document) for one in report.held] == ["notes:n"]
    assert report.generation == 2
    assert bench.found("one note") == ["docs:a.md"]
    assert "notes:n" in bench.stored().documents


def nan(vectors: Vectors, place: int) -> Vectors:
    vectors[place, 0] = np.nan
    return vectors


def infinite(vectors: Vectors, place: int) -> Vectors:
    vectors[place, 0] = np.inf
    return vectors


def short(vectors: Vectors, place: int) -> Vectors:
    return np.ascontiguousarray(vectors[:, :-1])


def zero(vectors: Vectors, place: int) -> Vectors:
    vectors[place] = 0
    return vectors


def one_less(vectors: Vectors, place: int) -> Vectors:
    return vectors[:-1]


def prepared_to_spoil(home: Path, spoil: Callable[[Vectors, int], Vectors]) -> tuple[Bench, bytes]:
    bench = prepared(home)
    bench.embedder = Answering("t50", spoil)
    return bench, key_of(bench.embedder, f"## T50\n\n{words('t50')}")


@pytest.mark.parametrize("spoil", [short, one_less])
def test_an_answer_of_the_wrong_size_publishes_nothing(
    tmp_path: Path, spoil: Callable[[Vectors, int], Vectors]
) -> None:
    bench, key = prepared_to_spoil(tmp_path, spoil)
    with bench.open() as index, pytest.raises(VariorumError) as fault:
        index.sync()
    assert fault.value.kind == "bad-embedding-answer"
    assert key not in vectors_stored(bench.store)
    with bench.open() as index:
        assert index.verify() == []
    bench.embedder = Recorder()
    assert bench.sync()[0].generation == 2
    assert key in vectors_stored(bench.store)


@pytest.mark.parametrize("spoil", [nan, infinite, zero])
def test_an_unusable_vector_is_never_stored_and_holds_its_document(
    tmp_path: Path, spoil: Callable[[Vectors, int], Vectors]
) -> None:
    bench, key = prepared_to_spoil(tmp_path, spoil)
    report, _ = bench.sync()
    assert [str(one.document) for one in report.held] == ["docs:48.md"]
    assert "no usable vector" in report.held[0].message
    assert key not in vectors_stored(bench.store)
    bench.embedder = Recorder()
    report, asked = bench.sync()
    assert (report.documents.added, len(asked)) == (1, 1)
    assert key in vectors_stored(bench.store)
