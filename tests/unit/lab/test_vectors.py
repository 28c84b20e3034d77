"""No input is embedded twice: not in one call, not in the next process, not after a kill."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from variorum.embedding import HashingEmbedder
from variorum.lab.recall.vectors import VectorCache
from variorum.records.errors import UnavailableError
from variorum.records.protocols import Role, Vectors


class Counting(HashingEmbedder):
    """Remembers what it was asked; fails behind `limit` inputs."""

    def __init__(self, limit: int = 10**9) -> None:
        super().__init__(dimensions=16)
        self.asked: list[tuple[str, str]] = []
        self.limit = limit

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if len(self.asked) + len(inputs) > self.limit:
            raise UnavailableError("gone", kind="gone")
        self.asked += [(role, text) for text in inputs]
        return super().embed(inputs, role)


def test_an_input_is_embedded_once_for_each_role(tmp_path: Path) -> None:
    embedder = Counting()
    cache = VectorCache(tmp_path, embedder)
    cache.vectors(["a", "b", "a"])
    cache.vectors(["b", "c"])
    cache.vectors(["a"], "query")
    assert sorted(embedder.asked) == [
        ("passage", "a"),
        ("passage", "b"),
        ("passage", "c"),
        ("query", "a"),
    ]
    assert (cache.embedded, cache.found) == (4, 1)


def test_vectors_are_those_of_the_model_in_the_order_asked(tmp_path: Path) -> None:
    inputs = ["one two", "three", "one two", "四"]
    cache = VectorCache(tmp_path, Counting())
    assert np.array_equal(cache.vectors(inputs), HashingEmbedder(dimensions=16).embed(inputs))


def test_another_process_finds_them(tmp_path: Path) -> None:
    with_first = VectorCache(tmp_path, Counting())
    kept = with_first.vectors(["a", "b"])
    again = Counting()
    assert np.array_equal(VectorCache(tmp_path, again).vectors(["a", "b"]), kept)
    assert again.asked == []


def test_two_at_once_write_to_segments_of_their_own_and_see_each_other(tmp_path: Path) -> None:
    one, other = VectorCache(tmp_path, Counting()), VectorCache(tmp_path, Counting())
    one.vectors(["a"])
    other.vectors(["b"])
    one.vectors(["a", "b"])
    assert (one.embedded, one.found) == (1, 2)


def test_what_was_answered_before_a_failure_is_kept(tmp_path: Path) -> None:
    inputs = [f"word{number:03d}" for number in range(200)]
    failing = VectorCache(tmp_path, Counting(limit=128))
    with pytest.raises(UnavailableError):
        failing.vectors(inputs)
    failing.close()
    again = Counting()
    VectorCache(tmp_path, again).vectors(inputs)
    assert len(again.asked) == 200 - 128


def test_a_record_that_a_kill_cut_short_is_passed_over(tmp_path: Path) -> None:
    first = VectorCache(tmp_path, Counting())
    first.vectors(["a", "b"])
    first.close()
    [segment] = tmp_path.rglob("*.vectors")
    content = segment.read_bytes()
    segment.write_bytes(content[:-5])
    again = Counting()
    found = VectorCache(tmp_path, again).vectors(["a", "b"])
    assert len(again.asked) == 1
    assert np.array_equal(found, HashingEmbedder(dimensions=16).embed(["a", "b"]))


def test_another_model_has_a_folder_of_its_own(tmp_path: Path) -> None:
    VectorCache(tmp_path, HashingEmbedder(dimensions=8)).vectors(["a"])
    VectorCache(tmp_path, HashingEmbedder(dimensions=16)).vectors(["a"])
    assert len(list(tmp_path.iterdir())) == 2


def test_an_input_that_the_model_refuses_is_an_error_with_its_reason(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, HashingEmbedder(dimensions=8, max_tokens=8))
    with pytest.raises(UnavailableError) as caught:
        cache.vectors(["a b c d e f g h i"])
    assert caught.value.kind == "input-rejected"
