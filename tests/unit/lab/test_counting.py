"""Counts as a model sends them: once a text, under a cap, checked against the frozen tokenizer."""

from collections.abc import Sequence

import pytest

from unit.lab.words import SPECIALS, Words, WordSizer
from variorum.embedding import embedder_from_spec
from variorum.lab.counting import OnceTokenizer, StudySizer
from variorum.records.protocols import Role


class Asked(WordSizer):
    """A sizer that remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        self.asked += inputs
        return super().count(inputs, role)


def test_every_input_is_counted_once() -> None:
    inner = Asked()
    sizer = StudySizer(inner)
    inner.asked.clear()
    assert sizer.count(["a b", "c", "a b"]) == [4, 3, 4]
    assert sizer.count(["c", "d"]) == [3, 3]
    assert inner.asked == ["a b", "c", "d"]


def test_what_is_forgotten_is_counted_again() -> None:
    inner = Asked()
    sizer = StudySizer(inner)
    sizer.count(["a"])
    sizer.forget()
    inner.asked.clear()
    sizer.count(["a"])
    assert inner.asked == ["a"]


def test_a_cap_counts_content_alone() -> None:
    assert StudySizer(WordSizer(512)).max_tokens == 512
    assert StudySizer(WordSizer(512), cap_tokens=100).max_tokens == 100 + SPECIALS


def test_time_is_counted_inside_the_tokenizer_only() -> None:
    ticks = iter(range(100))
    tokenizer = OnceTokenizer(Words(), clock=lambda: float(next(ticks)))
    tokenizer.starts("a b")
    tokenizer.starts("a b")
    tokenizer.count("a b")
    assert (tokenizer.spent_s, tokenizer.characters) == (2.0, 6)


@pytest.fixture(scope="module")
def model() -> StudySizer:
    return StudySizer(embedder_from_spec("e5-small"))


CHECKS = [
    # text, its content tokens
    ("", 0),
    ("a", 1),
    ("a  b", 2),
    ("hello world", 3),
    ("Hello, world!", 4),
    ("3.14", 2),
    ("123", 1),
    ("１２３", 1),
    ("知识库", 3),
    ("知识库更新", 4),
    ("价格是5元。", 6),
    ("</s>", 4),
    ("<unk>", 3),
    ("word word word ", 3),
]


@pytest.mark.model
@pytest.mark.parametrize(("text", "tokens"), CHECKS)
def test_content_tokens_of_the_frozen_model(model: StudySizer, text: str, tokens: int) -> None:
    assert model.tokenizer.count(text) == tokens
    assert len(model.tokenizer.starts(text)) == tokens
    assert model.count([text]) == [tokens + model.overhead]


@pytest.mark.model
def test_an_empty_input_is_the_prefix_and_the_special_tokens(model: StudySizer) -> None:
    assert model.count([""]) == [model.overhead]
    assert model.overhead == 4 == model.tokenizer.count("passage: ") + 2


@pytest.mark.model
@pytest.mark.parametrize("marker", ["</s>", "<s>", "<unk>", "<mask>", "<pad>"])
def test_a_marker_in_a_document_is_ordinary_text(model: StudySizer, marker: str) -> None:
    assert model.tokenizer.count(f"a {marker} b") > 3


@pytest.mark.model
def test_white_space_at_the_ends_takes_no_token(model: StudySizer) -> None:
    assert model.count([" a b \n"]) == model.count(["a b"])


@pytest.mark.model
def test_words_apart_count_as_the_sum_of_their_parts(model: StudySizer) -> None:
    parts = ["One sentence here.", "另一个句子。", "1234 and 5678"]
    joined = model.tokenizer.count(" ".join(parts))
    assert joined == sum(model.tokenizer.count_many(parts))


@pytest.mark.model
def test_nothing_is_truncated(model: StudySizer) -> None:
    assert model.tokenizer.count("word " * 3_000) == 3_000
