"""Cuts by meaning: windows, thresholds, bounds, and what is asked of the model."""

import numpy as np
import pytest

from unit.chunking.fakes import (
    Characters,
    CountingEmbed,
    FakeSizer,
    fake_embed,
    recipe,
    structure_of,
)
from variorum.chunking import Semantic, TokenMap, lay_out
from variorum.records.errors import InputError

TOPICS = ["Cats purr softly at night. ", "Stars burn hydrogen in space. ", "Tea needs hot water. "]
TOPICAL = "".join(topic * 12 for topic in TOPICS)


def cut(text, spec="semantic", embed=fake_embed, sizer=None):
    layout = lay_out(text, structure_of(text), recipe(spec), sizer or FakeSizer(), embed=embed)
    assert "".join(text[c.start : c.end] for c in layout.chunks) == (text if text.strip() else "")
    return [text[c.start : c.end] for c in layout.chunks]


@pytest.mark.parametrize("threshold", ["percentile=90", "k=1", "k=1.5"])
def test_it_cuts_where_the_subject_changes(threshold):
    parts = cut(TOPICAL, f"semantic({threshold}, min_tokens=20)")
    assert parts == [topic * 12 for topic in TOPICS]


def test_each_window_is_asked_for_once_in_one_call():
    embed = CountingEmbed()
    cut(TOPICAL, embed=embed)
    (asked,) = embed.calls
    assert len(asked) == len(set(asked))
    assert (
        asked[1]
        == "Cats purr softly at night. Cats purr softly at night. Cats purr softly at night."
    )


def test_a_window_of_one_is_the_sentence():
    embed = CountingEmbed()
    cut(TOPICAL, "semantic(window=1)", embed)
    assert embed.calls == [[topic.strip() for topic in TOPICS]]


@pytest.mark.parametrize(
    ("text", "chunks"), [("Tea is hot.", 1), ("-- --", 1), ("", 0), ("   \n", 0)]
)
def test_SEM_01_one_sentence_and_none(text, chunks):
    embed = CountingEmbed()
    assert len(cut(text, embed=embed)) == chunks
    assert embed.calls == []


def test_SEM_02_the_last_sentence_is_kept():
    text = "The kettle sang. A moth landed. Rain stopped. Nobody noticed it."
    parts = cut(text, "semantic(max_tokens=5, min_tokens=2)")
    assert len(parts) > 2
    assert "noticed" in parts[-1]


@pytest.mark.parametrize("text", ["Same line.\n" * 40, "One. Two.", "Same. Same."])
@pytest.mark.parametrize("value", [0.0, 1.0, float("nan")])
@pytest.mark.parametrize("threshold", ["percentile=90", "k=0.8"])
def test_SEM_03_equal_vectors_give_no_error_and_the_same_cuts_twice(text, value, threshold):
    spec = f"semantic({threshold}, max_tokens=20, min_tokens=5)"
    parts, again = (
        cut(text, spec, lambda inputs: np.full((len(inputs), 4), value, dtype=np.float32))
        for _ in range(2)
    )
    assert parts == again
    assert all(len(FakeSizer().tokenizer.starts(part)) <= 20 for part in parts)


def test_SEM_04_neither_windows_nor_chunks_pass_the_maximum():
    text = "".join(
        f"This very similar sentence {'has so many words ' * 15}number {n}. " for n in range(200)
    )
    sizer = FakeSizer(256)

    def strict(inputs):
        assert max(sizer.count(inputs)) <= 256
        return fake_embed(inputs)

    parts = cut(text, "semantic(max_tokens=512)", strict, sizer)
    assert max(sizer.count(parts)) <= 256


def test_OFF_10_the_cap_keeps_positions_in_the_document():
    text = "".join(f"File: /x/{number}\nSize: 230\n\n" for number in range(215))
    parts = cut(text, "semantic(max_tokens=20, min_tokens=5)", sizer=FakeSizer(40, Characters()))
    assert len(text) > 4500
    assert all(len(part.strip()) <= 38 for part in parts)


def test_a_heading_is_not_parted_from_what_follows_it():
    text = "".join(f"## Odd title {n}\n\n{topic * 6}\n\n" for n, topic in enumerate(TOPICS))
    parts = cut(text, "semantic(percentile=50, min_tokens=2)")
    assert len(parts) >= 3
    assert not any(part.rstrip().endswith(tuple("012")) for part in parts)


def test_without_a_model_it_is_refused():
    for call in (
        lambda: lay_out("A b. C d.", structure_of(""), recipe("semantic"), FakeSizer()),
        lambda: Semantic().spans("A b.", structure_of(""), TokenMap([0])),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.kind == "needs-a-model"


def test_other_chunkers_never_ask_the_model():
    embed = CountingEmbed()
    cut(TOPICAL, "anchored", embed)
    assert embed.calls == []
