"""Content-defined cuts against Steadlith 1.0.1: the same parameters give the same cuts."""

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unit.chunking.fakes import Atoms, structure_of
from variorum.chunking import ContentDefined, TokenMap

chunk = pytest.importorskip(
    "steadlith.chunk", reason="steadlith is not installed: pip install steadlith==1.0.1"
)

REVISIONS = Path(__file__).parents[2].parent / "shared" / "revisions" / "pairs.jsonl.gz"
COUNTER = Atoms()
PARAMETERS = [
    ContentDefined(),
    ContentDefined(60, 120, primary_mask_bits=6, backup_mask_bits=4),
    ContentDefined(180, 640),
    ContentDefined(3, 12, window_words=2, primary_mask_bits=3, backup_mask_bits=1),
]


def theirs(text: str, ours: ContentDefined) -> list[str] | None:
    """The content of its chunks as slices of the text; None where it refuses the text."""
    params = chunk.CDCParams(
        window_words=ours.window_words,
        min_tokens=ours.min_tokens,
        max_tokens=ours.max_tokens,
        primary_mask_bits=ours.primary_mask_bits,
        backup_mask_bits=ours.backup_mask_bits,
        tokenizer_id="atoms-1",
    )
    try:
        found = chunk.chunk_text(text, params, token_counter=COUNTER.count)
    except ValueError:
        return None
    return [text[one.start_offset : one.end_offset] for one in found.chunks]


def cut(text: str, ours: ContentDefined) -> list[str]:
    spans = ours.spans(text, structure_of(text), TokenMap.of(text, COUNTER))
    assert [start for start, _ in spans[1:]] == [end for _, end in spans[:-1]]
    return [text[start:end].strip() for start, end in spans]


words = st.text(st.sampled_from("abcdeé中,.-'"), min_size=1, max_size=9).filter(COUNTER.count)
spaces = st.sampled_from(
    [" ", " ", " ", "\n", "\n\n", "\r\n\r\n", "\n \t\n", "\r\r", "  ", "\u3000"]
)
word_texts = st.lists(st.tuples(words, spaces), max_size=80).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)


@settings(max_examples=300, deadline=None)
@given(word_texts, st.sampled_from(PARAMETERS))
def test_texts_of_words_are_cut_alike(text, ours):
    expected = theirs(text, ours)
    if expected:
        assert cut(text, ours) == expected


@pytest.mark.skipif(not REVISIONS.exists(), reason="the revision pairs are not beside the project")
@pytest.mark.parametrize("ours", PARAMETERS, ids=lambda one: one.spec)
def test_revisions_of_real_pages_are_cut_alike(ours):
    compared = refused = 0
    with gzip.open(REVISIONS, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["new_text"]
            expected = theirs(text, ours)
            if expected is None:
                refused += 1
            else:
                compared += 1
                assert cut(text, ours) == expected
    print(f"{ours.spec}: {compared} alike, {refused} refused by Steadlith")
    assert compared


def test_a_text_that_steadlith_refuses_is_cut_within_the_maximum():
    text = "每个字都是一个词而且没有空格，" * 200
    ours = ContentDefined()
    assert theirs(text, ours) is None
    spans = ours.spans(text, structure_of(text), TokenMap.of(text, COUNTER))
    assert all(COUNTER.count(text[start:end]) <= ours.max_tokens for start, end in spans)
    assert all(before.end == after.start for before, after in pairwise(spans))
