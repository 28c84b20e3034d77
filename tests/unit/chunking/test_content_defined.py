"""Cuts by fingerprints: which words enter the stream, how long ones are broken, what stays."""

import random

import pytest

from unit.chunking.fakes import Atoms, Bytes, Characters, FakeSizer, previous, recipe, structure_of
from variorum.chunking import ContentDefined, TokenMap, lay_out
from variorum.chunking.units import LONG_CHARACTERS, units, words
from variorum.records.text import Structure

PLAIN = Structure((), parser="none")


def cut(text, chunker, tokenizer=None):
    spans = chunker.spans(text, PLAIN, TokenMap.of(text, tokenizer or Atoms()))
    return [text[start:end] for start, end in spans]


def pieces(text, max_tokens, *, segmented=False, tokenizer=None):
    tokens = TokenMap.of(text, tokenizer or Characters())
    return units(text, tokens, max_tokens, segmented=segmented).of(text)


def paragraphs(count, seed=3):
    """Distinct short paragraphs of about a hundred characters."""
    chosen = random.Random(seed)
    vocabulary = [f"{a}{b}" for a in ("ka", "lo", "mi", "ne", "ru", "ta") for b in range(80)]
    return [
        f"Paragraph {number}: " + " ".join(chosen.choices(vocabulary, k=18)) + "."
        for number in range(count)
    ]


def test_a_word_after_a_blank_line_is_marked():
    text = "\n\nfirst second\n\nthird\r\n \r\nfourth\nfifth\r\nsixth"
    found = words(text)
    marked = [word for word, opens in zip(found.of(text), found.opens, strict=True) if opens]
    assert marked == ["third", "fourth"]


def test_words_stay_whole_up_to_the_maximum():
    assert pieces("one 中文句子 three", 8, tokenizer=Atoms()) == ["one", "中文句子", "three"]
    assert pieces("one 中文abc句 three", 3, tokenizer=Atoms())[1:5] == ["中", "文", "abc", "句"]
    assert pieces("one 中文 three", 8, segmented=True) == ["one", "中", "文", "three"]


def test_a_long_run_is_broken_where_its_characters_say_so():
    chosen = random.Random(1)
    run = "".join(chosen.choices("abcdefghijklmnop0123456789", k=2000))
    parts = pieces(run, 500)
    assert max(map(len, parts)) <= LONG_CHARACTERS
    again = pieces("x" + run, 500)
    assert len(set(parts) - set(again)) <= 3


def test_a_unit_over_the_maximum_is_its_graphemes():
    assert pieces("é👍🏾字", 2, tokenizer=Bytes()) == ["é", "👍🏾", "字"]
    assert pieces("a" + " " * 9 + "b", 4)[0] == "a"


@pytest.mark.parametrize("words", ["whole", "segmented"])
@pytest.mark.parametrize(
    "text",
    [
        "每个字都是一个词" * 900,
        "https://example.org/" + "a1b2c3d4/" * 900,
        "A" * 5000,
        "\u0301" * 3000,
        "word " + " " * 4000 + "word",
        "👨‍👩‍👧‍👦" * 900,
    ],
)
def test_what_has_no_words_is_cut_within_the_maximum(text, words):
    chunker = ContentDefined(20, 40, primary_mask_bits=4, backup_mask_bits=2, words=words)
    parts = cut(text, chunker, Characters())
    assert "".join(parts) == text
    assert all(len(part) <= 40 for part in parts if not part.startswith("\u0301"))


def test_an_edit_in_unsegmented_chinese_stays_local():
    chosen = random.Random(5)
    text = "".join(chr(0x4E00 + chosen.randrange(3000)) for _ in range(20_000))
    chunker = ContentDefined(60, 120, 16, 6, 4)
    new = text[:5000] + "新的字" + text[5000:]
    assert len(set(cut(new, chunker)) - set(cut(text, chunker))) <= 12


@pytest.mark.parametrize(
    "chunker", [ContentDefined(24, 72, 8, 5, 3), ContentDefined(24, 72, 8, 5, 3, "segmented")]
)
def test_CDC_01_a_changed_word_embeds_at_most_three_chunks(chunker):
    old = paragraphs(1000)
    new = list(old)
    new[100] = new[100].replace("Paragraph", "Changed")
    before, after = (cut("\n\n".join(one), chunker) for one in (old, new))
    assert len("\n\n".join(old)) > 80_000
    embedded = {one.strip() for one in after} - {one.strip() for one in before}
    assert len(embedded) <= 3
    assert len(embedded) / len(after) <= 0.03


def test_CDC_02_an_insertion_at_the_top_moves_fixed_windows_and_not_these():
    old = "\n\n".join(paragraphs(1000))
    new = f"A sentence was put before all of it.\n\n{old}"
    counts = {}
    for spec in (
        "content_defined(min_tokens=24, max_tokens=72, window_words=8, primary_mask_bits=5, "
        "backup_mask_bits=3)",
        "fixed(max_tokens=48)",
    ):
        known, fresh = (lay_out(t, PLAIN, recipe(spec), FakeSizer()).inputs for t in (old, new))
        counts[spec[:5]] = len(set(fresh) - set(known)), len(fresh)
    assert counts["conte"][0] <= 3
    assert counts["fixed"][0] >= 0.9 * counts["fixed"][1]


def test_the_planner_keeps_what_a_changed_word_does_not_touch():
    old = "\n\n".join(paragraphs(200))
    new = old.replace("Paragraph 100:", "Changed words here:")
    planned = recipe("content_defined(min_tokens=60, max_tokens=120)", planner=True)
    first = lay_out(old, structure_of(old), planned, FakeSizer())
    second = lay_out(new, structure_of(new), planned, FakeSizer(), previous(old, first))
    assert len(set(second.inputs) - set(first.inputs)) <= 2
