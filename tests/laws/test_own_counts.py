"""What a range counts on its own, and where that is known without tokenizing it again."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.chunking_texts import texts
from unit.chunking.fakes import recipe, structure_of
from variorum.chunking import TokenMap, chunker_from_spec, lay_out
from variorum.embedding import HashingEmbedder, embedder_from_spec
from variorum.records.protocols import SplitsAtBlanks
from variorum.records.text import Span

MODELS = ["hashing", pytest.param("e5-small", marks=pytest.mark.model)]
BLANKS = " \t\n"
PAGES = Path(__file__).parent.parent / "golden" / "chunking"
SPECS = [
    "anchored(max_tokens=24, min_tokens=8)",
    "fixed(max_tokens=12)",
    "recursive(max_tokens=16)",
    "structural(max_tokens=24, min_tokens=6)",
    "content_defined(backup_mask_bits=1, max_tokens=24, min_tokens=6, primary_mask_bits=3)",
]
laws = settings(max_examples=150, deadline=None)
runs = st.lists(
    st.sampled_from(
        [
            *(" ", "\n", "\t", "\u3000", "\u0301\u0308", "\u0308\u0301", "e\u0301", "\u00a8"),
            *("internationalization", "的文本", "。", "表示法", "１２", "\ufb01", "\ufdfa"),
            *("한국어", "\u1112\u1161", "</s>"),
        ]
    ),
    max_size=12,
).map("".join)
any_text = st.one_of(texts, runs, st.tuples(runs, texts, runs).map("".join))


class Recording:
    """Another tokenizer, and how many characters it was given to count."""

    splits_at_blanks = True

    def __init__(self, inner) -> None:
        self.inner, self.characters = inner, 0

    @property
    def fingerprint(self) -> str:
        return self.inner.fingerprint

    def starts(self, text: str) -> list[int]:
        return self.inner.starts(text)

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    def count_many(self, texts) -> list[int]:
        self.characters += sum(map(len, texts))
        return self.inner.count_many(texts)


@cache
def model_of(name):
    return HashingEmbedder() if name == "hashing" else embedder_from_spec(name)


@pytest.mark.parametrize("name", MODELS)
@laws
@given(data=st.data())
def test_a_range_counts_on_its_own_what_its_characters_do(name, data):
    text = data.draw(any_text)
    places = st.integers(0, len(text))
    tokenizer = model_of(name).tokenizer
    spans = [Span(*sorted(data.draw(st.tuples(places, places)))) for _ in range(4)]
    own = TokenMap.of(text, tokenizer).own(spans)
    assert own == [tokenizer.count(text[start:end].strip()) for start, end in spans]


@pytest.mark.model
@pytest.mark.parametrize("page", ["sample.en.md", "sample.zh.md"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_range_of_a_page_counts_on_its_own_what_its_characters_do(page, data):
    text = (PAGES / page).read_text(encoding="utf-8")
    tokenizer = model_of("e5-small").tokenizer
    spans = data.draw(st.lists(st.tuples(*[st.integers(0, len(text))] * 2), min_size=50))
    own = TokenMap.of(text, tokenizer).own([Span(*sorted(span)) for span in spans])
    assert own == tokenizer.count_many([text[min(one) : max(one)].strip() for one in spans])


@pytest.mark.model
@laws
@given(data=st.data())
def test_a_text_has_the_tokens_of_both_sides_of_a_seam(data):
    page = (PAGES / "sample.zh.md").read_text(encoding="utf-8")
    tokenizer = model_of("e5-small").tokenizer
    start = data.draw(st.integers(0, len(page) - 60))
    text = page[start : start + data.draw(st.integers(2, 60))]
    for place in range(1, len(text)):
        if tokenizer.is_seam(text, place):
            known = tokenizer.count(text[place - 1])
            rest = tokenizer.count(text[place - 1 :]) - known
            assert tokenizer.count(text) == tokenizer.count(text[:place]) + rest
            assert place in tokenizer.starts(text)
    for place in tokenizer.starts(text):
        if tokenizer.stands_alone(text, place):
            assert tokenizer.starts(text[:place]) == [
                one for one in tokenizer.starts(text) if one < place
            ]


@pytest.mark.parametrize("name", MODELS)
@laws
@given(first=any_text, second=any_text, blank=st.sampled_from(BLANKS))
def test_counts_add_up_over_blanks(name, first, second, blank):
    model = model_of(name)
    assert isinstance(model, SplitsAtBlanks)
    assert isinstance(model.tokenizer, SplitsAtBlanks)
    count, rest = model.tokenizer.count, blank + second
    assert count(first + rest) == count(first) + count(rest)
    if not second[:1] or not "\u0300" <= second[0] < "\u0370":
        assert count(first + rest) == count(first + blank) + count(second)
        assert model.count([second]) == [model.count([""])[0] + count(second)]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=60, deadline=None)
@given(text=any_text)
def test_the_count_of_each_input_is_the_one_that_the_model_gives(name, spec, text):
    model = model_of(name)
    layout = lay_out(text * 3, structure_of(text * 3), recipe(spec, heading_depth=1), model)
    assert [chunk.tokens for chunk in layout.chunks] == model.count(layout.inputs)


def test_only_the_ends_of_a_range_that_stand_in_a_word_are_tokenized_again():
    tokenizer = Recording(HashingEmbedder().tokenizer)
    text = "one two three four five six"
    tokens = TokenMap.of(text, tokenizer)
    assert tokens.own([Span(0, 13), Span(14, 27)]) == [3, 3]
    assert tokenizer.characters == 0
    assert tokens.own([Span(5, 21), Span(5, 21)]) == [4, 4]
    assert tokenizer.characters == len("wo") + len("fi")


SIZED = [
    "anchored(max_tokens={}, min_tokens=20)",
    "fixed(max_tokens={})",
    "fixed(max_tokens={}, overlap_tokens=16)",
    "recursive(max_tokens={})",
    "recursive(max_tokens={}, rules=guide)",
    "structural(max_tokens={}, min_tokens=20)",
    "content_defined(max_tokens={}, min_tokens=40)",
    "content_defined(max_tokens={}, min_tokens=40, words=segmented)",
]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("page", ["sample.en.md", "sample.zh.md"])
@pytest.mark.parametrize("limit", [97, 201, 501])
def test_LIM_02_no_chunk_is_over_the_maximum_as_its_own_text_is_tokenized(name, page, limit):
    text = (PAGES / page).read_text(encoding="utf-8") * 4
    tokenizer = model_of(name).tokenizer
    for spec in SIZED:
        chunker = chunker_from_spec(spec.format(limit))
        spans = chunker.spans(text, structure_of(text), TokenMap.of(text, tokenizer))
        own = tokenizer.count_many([text[start:end].strip() for start, end in spans])
        assert max(own) <= limit, spec
