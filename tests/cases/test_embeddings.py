"""Cases of the area embeddings, by id. Those that need a provider: a file of their own."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from variorum.embedding import HashingEmbedder
from variorum.records.errors import UnsupportedError
from variorum.records.protocols import ModelIdentity, Role, Vectors
from workbench import Bench, Recorder, document, vectors_stored


class NoBlanks(Recorder):
    """Raises where it is given a blank input."""

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        assert all(text.strip("\ufeff \n\t") for text in inputs)
        return super().embed(inputs, role)


def test_EMB_01_no_blank_input_is_ever_sent(tmp_path: Path) -> None:
    bench = Bench(tmp_path, embedder=NoBlanks())
    bench.write({f"{n}.md": document(*[f"D{n}T{m}" for m in range(8)]) for n in range(4)})
    bench.write({"blank.md": " \n\t\n", "bom.md": b"\xef\xbb\xbf", "empty-section.md": "\n\n \n"})
    report, asked = bench.sync()
    assert len(asked) == 32
    assert report.documents.added == 7
    blank = [one for one in bench.stored().documents.values() if not one.chunks]
    assert len(blank) == 3


class Renamed(Recorder):
    """The same vectors under another identity of the same dimensions."""

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity("other", "f" * 64, 64, is_proven=True)


def test_EMB_06_another_model_of_the_same_size_embeds_everything_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two")})
    bench.sync()
    bench.embedder = Renamed()
    with bench.open() as index, pytest.raises(UnsupportedError):
        index.search("one", mode="dense")
    bench.write({"b.md": document("Three")})
    _, asked = bench.sync()
    assert len(asked) == 3
    models = bench.sql(
        "SELECT DISTINCT i.model_id FROM manifest m JOIN chunk c ON c.layout_id = m.layout_id"
        " JOIN input i ON i.id = c.input_id WHERE m.to_generation IS NULL"
    )
    assert len(models) == 1
    assert bench.sql("SELECT fingerprint, dimensions FROM model WHERE id = ?", models[0][0]) == [
        ("f" * 64, 64)
    ]


def test_EMB_07_another_dimension_embeds_everything_again_and_the_past_answers(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two"), "b.md": document("Three")})
    bench.sync()
    bench.embedder = Recorder(32)
    report, asked = bench.sync()
    assert (report.generation, len(asked), report.inputs.retire) == (2, 3, 3)
    assert len(bench.found("one")) == 3
    with bench.open(embedder=HashingEmbedder(64)) as index:
        assert len(index.search("one", as_of=1).hits) == 3


class FirstIsSlow(Recorder):
    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if role == "passage" and not self.calls:
            self.calls += 1
            time.sleep(1)
        return super().embed(inputs, role)


def test_EMB_09_a_slow_first_batch_shuffles_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, embedder=FirstIsSlow())
    bench.write({f"{n}.md": document(*[f"D{n}T{m}" for m in range(6)]) for n in range(10)})
    _, asked = bench.sync()
    assert len(asked) == 60
    stored = vectors_stored(bench.store)
    for name, one in bench.stored().documents.items():
        number = name.removeprefix("docs:").removesuffix(".md")
        for place, (chunk, text) in enumerate(zip(one.chunks, one.slices, strict=True)):
            assert text.startswith(f"## D{number}T{place}")
            expected = bench.embedder.inner.embed([text.strip()])[0]
            assert stored[chunk.key] == expected.tobytes()


class SpoilsOnce(Recorder):
    """Answers the first call with one component that is not a number."""

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        first = not self.calls
        vectors = super().embed(inputs, role)
        if first:
            vectors[0, 0] = np.nan
        return vectors


def test_EMB_11_a_vector_that_is_no_number_is_never_stored(tmp_path: Path) -> None:
    bench = Bench(tmp_path, embedder=SpoilsOnce())
    bench.write({"a.md": document("One")})
    report, asked = bench.sync()
    assert (report.generation, len(asked)) == (1, 2), "asked for once more"
    with bench.open() as index:
        assert index.verify() == []
