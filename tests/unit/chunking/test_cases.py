"""Faults that other tools had, by the case's id."""

import itertools
import time
import unicodedata

import pytest
import regex

from unit.chunking.fakes import (
    Bytes,
    Characters,
    ContextAtoms,
    FakeSizer,
    chunker_of,
    fake_embed,
    recipe,
    structure_of,
)
from variorum.chunking import TokenMap, chunker_from_spec, lay_out, plain_structure
from variorum.records.errors import InputError
from variorum.records.text import Block, BlockKind, Span, Structure

PLAIN = Structure((), parser="none")
EVERY = [
    "anchored(max_tokens=8, min_tokens=4)",
    "fixed(max_tokens=4)",
    "recursive(max_tokens=4)",
    "recursive(max_tokens=4, rules=guide)",
    "recursive(max_tokens=4, rules=default)",
    "fixed_characters(max_characters=22)",
    "structural(max_tokens=8, min_tokens=4)",
    "content_defined(min_tokens=4, max_tokens=8)",
    "semantic(min_tokens=4, max_tokens=8)",
]
NAMES = ["fixed", "fixed_characters", "recursive", "recursive(rules=guide)", "anchored"]
NAMES += ["content_defined", "content_defined(words=segmented)", "structural", "semantic"]
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


def slices(text, layout):
    return [text[chunk.start : chunk.end] for chunk in layout.chunks]


def cut(text, spec, sizer=None, structure=PLAIN):
    return lay_out(text, structure, recipe(spec), sizer or FakeSizer(), embed=fake_embed)


@pytest.mark.parametrize("spec", EVERY)
def test_OFF_01_repeated_text_gets_rising_starts_that_tile_it(spec):
    text = "alpha beta\n" * 6
    layout = cut(text, spec)
    starts = [chunk.start for chunk in layout.chunks]
    assert starts == sorted(set(starts))
    assert "".join(slices(text, layout)) == text


def test_OFF_02_overlap_is_counted_in_tokens_and_starts_are_never_negative():
    text = " ".join(f"word{number}" for number in range(60))
    layout = cut(text, "fixed(max_tokens=10, overlap_tokens=5)")
    tokens = FakeSizer().tokenizer
    for before, after in zip(layout.chunks, layout.chunks[1:], strict=False):
        assert 0 <= after.start < before.end
        assert tokens.count(text[after.start : before.end]) == 5
    assert layout.chunks[-1].end == len(text)


def test_OFF_03_separators_stay_inside_chunks_as_they_are():
    text = "Red kites turn.  Rain came at noon.\tThe mill stood.\n\n\nNobody spoke."
    parts = slices(text, cut(text, "recursive(max_tokens=6)"))
    assert "".join(parts) == text
    for separator in ("  ", "\t", "\n\n\n"):
        assert any(separator in part for part in parts)


@pytest.mark.parametrize("spec", EVERY)
@pytest.mark.parametrize("length", [0, 3000])
def test_OFF_07_the_slices_join_to_the_text_byte_for_byte(spec, length):
    text = "  \n\nA. B. C.   \n\n\n" + " \n" * (length // 2)
    assert "".join(slices(text, cut(text, spec))) == text


def test_OFF_10_a_second_cut_keeps_positions_in_the_document():
    text = "".join(f"File: /x/{number}\nSize: 230\n\n" for number in range(180))
    sizer = FakeSizer(20, Characters())
    layout = cut(text, "recursive(max_tokens=400)", sizer)
    assert "".join(slices(text, layout)) == text
    assert max(sizer.count(layout.inputs)) <= 20


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("fixed(max_tokens=64, overlap_tokens=64)", "overlap_tokens=64"),
        ("fixed(max_tokens=64, overlap_tokens=90)", "overlap_tokens=90"),
        ("fixed(max_tokens=64, overlap_tokens=-1)", "overlap_tokens=-1"),
        ("fixed(max_tokens=0)", "max_tokens=0"),
    ],
)
def test_LIM_01_windows_that_stand_still_are_refused_naming_both_settings(spec, value):
    with pytest.raises(InputError) as caught:
        cut("k" * 4000, spec)
    assert caught.value.kind == "bad-parameter"
    assert value in caught.value.message
    assert {"max_tokens", "overlap_tokens"} <= set(regex.findall(r"\w+", caught.value.message))


@pytest.mark.parametrize("limit", [96, 200, 500])
@pytest.mark.parametrize("spec", ["fixed(max_tokens=600, overlap_tokens=16)", "recursive"])
def test_LIM_02_inputs_counted_as_sent_never_exceed_the_limit(limit, spec):
    text = " ".join(["plain", "words", "of", "prose"] * 750)
    sizer = FakeSizer(limit, ContextAtoms())
    assert max(sizer.count(cut(text, spec, sizer).inputs)) <= limit


@pytest.mark.parametrize(
    "spec", ["anchored(max_tokens=100, min_tokens=30)", "recursive(max_tokens=100)"]
)
def test_LIM_04_a_run_without_separators_is_cut_at_the_size(spec):
    text = "x" * 3000
    started = time.process_time()
    layout = cut(text, spec, FakeSizer(512, Characters()))
    assert time.process_time() - started < 1
    assert all(len(part) <= 100 for part in slices(text, layout))
    assert "".join(slices(text, layout)) == text


def test_LIM_06_metadata_changes_no_range():
    text = "word " * 200
    bare = Structure((Block(0, len(text), BlockKind.PARAGRAPH),), parser="fake")
    laden = Structure(bare.blocks, "fake", metadata={"summary": "m" * 3000})
    sizer = FakeSizer(128)
    assert cut(text, "recursive", sizer, bare) == cut(text, "recursive", sizer, laden)


def test_LIM_06_an_embedded_prefix_takes_a_quarter_at_most_and_gives_way_first():
    title = " ".join(["title"] * 30)
    text = "".join(f"# {title} {number}\n\n" + "word " * 60 + "\n\n" for number in range(3))
    sizer = FakeSizer(64)
    layout = lay_out(text, structure_of(text), recipe("recursive", heading_depth=2), sizer)
    assert max(sizer.count(layout.inputs)) <= 64
    assert not any(one.startswith("title") for one in layout.inputs)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["z" * 240_000, "=" * 300_000, "QUJD" * 50_000])
def test_LIM_07_long_runs_of_one_kind_end_and_are_covered(name, text):
    started = time.process_time()
    layout = cut(text, name, FakeSizer(512, Characters()))
    assert time.process_time() - started < 10
    assert "".join(slices(text, layout)) == text


@pytest.mark.parametrize("name", NAMES)
def test_LIM_08_a_huge_fence_or_literal_is_cut_to_fit(name):
    fenced = "```python\n" + "".join(f"    'key{n}': {n},\n" for n in range(1200)) + "```\n"
    literal = "TABLE = {" + ", ".join(f"'key{n}': {n}" for n in range(1200)) + "}"
    for text in (fenced, literal):
        sizer = FakeSizer(512)
        layout = cut(text, name, sizer, structure_of(text))
        assert max(sizer.count(layout.inputs)) <= 512
        assert "".join(slices(text, layout)) == text


@pytest.mark.parametrize("name", NAMES)
def test_LIM_09_a_megabyte_on_one_line_takes_time_in_proportion(name):
    line = "function a(b){return b?c(d[0]):e};var f=1;" * 12_000
    lengths = [len(line), 2 * len(line)]
    times = []
    for text in (line, line * 2):
        tokens = TokenMap(range(0, len(text), 3))
        taken = []
        for _ in range(3):  # The least of three: a collection of all garbage may fall into one.
            started = time.process_time()
            spans = chunker_of(name).spans(text, plain_structure(text), tokens)
            taken.append(time.process_time() - started)
        times.append(min(taken))
        assert spans[-1].end == len(text)
    assert lengths[0] > 500_000
    assert times[0] < 10
    assert times[1] < 3 * times[0] + 0.5


@pytest.mark.parametrize(("words", "chunks"), [(30, 1), (40, 1), (41, 2)])
def test_LIM_10_a_text_that_fits_is_one_chunk_and_no_chunk_lies_in_the_one_before(words, chunks):
    layout = cut(" ".join(["word"] * words), "fixed(max_tokens=40, overlap_tokens=10)")
    assert len(layout.chunks) == chunks
    ends = [chunk.end for chunk in layout.chunks]
    assert ends == sorted(set(ends))


@pytest.mark.parametrize(
    "spec",
    [
        "fixed(max_tokens={})",
        "recursive(max_tokens={})",
        "recursive(max_tokens={}, rules=default)",
        "anchored(max_tokens={}, min_tokens=1)",
        "fixed_characters(max_characters={})",
        "structural(max_tokens={}, min_tokens=1)",
        "content_defined(max_tokens={}, min_tokens=1)",
        "content_defined(max_tokens={}, min_tokens=1, words=segmented)",
        "semantic(max_tokens={}, min_tokens=1)",
    ],
)
@pytest.mark.parametrize("size", [2, 10, 25])
def test_UNI_01_no_cut_inside_families_and_flags(spec, size):
    text = FAMILY * 30 + "🇫🇷" * 50
    layout = cut(text, spec.format(size), FakeSizer(512, Characters()))
    boundaries = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
    assert all({chunk.start, chunk.end} <= boundaries for chunk in layout.chunks)
    assert "".join(slices(text, layout)) == text


@pytest.mark.parametrize(
    "spec", ["anchored(max_tokens=40, min_tokens=15)", "recursive(max_tokens=40)"]
)
def test_UNI_03_chinese_and_japanese_are_cut_right_after_the_full_stop(spec):
    text = "雨が降った。道が光る。誰もいない！" * 40
    parts = slices(text, cut(text, spec))
    assert len(parts) > 10
    assert all(part[-1] in "。！" for part in parts)


def test_UNI_03_the_exact_rule_of_the_paper_cuts_only_before_white_space():
    text = "雨が降った。道が光る。 誰もいない！ " * 3
    parts = slices(text, cut(text, "recursive(max_tokens=14, terminators=spaced)"))
    assert all(part.endswith(("。 ", "！ ")) for part in parts)


@pytest.mark.parametrize(
    "spec",
    [
        "fixed(max_tokens=120)",
        "fixed_characters(max_characters=120)",
        "recursive(max_tokens=120)",
        "anchored(max_tokens=120, min_tokens=40)",
        "structural(max_tokens=120, min_tokens=40)",
        "content_defined(max_tokens=120, min_tokens=60)",
        "semantic(max_tokens=120, min_tokens=40)",
    ],
)
def test_UNI_04_thai_chunks_never_begin_with_a_mark(spec):
    text = "กำลังน้ำที่นี่ผู้ใหญ่เก็บผลไม้ใต้ต้นไม้" * 75
    layout = cut(text, spec, FakeSizer(512, Characters()))
    for part in slices(text, layout):
        assert unicodedata.category(part[0]) not in ("Mn", "Mc")
        assert len(part) <= 200


def test_UNI_07_byte_tokens_never_cut_a_character():
    text = "tea 👍🏾 and 龍𠀋 naïve"
    sizer = FakeSizer(64, Bytes())
    spans = chunker_from_spec("fixed(max_tokens=2, overlap_tokens=1)").spans(
        text, PLAIN, TokenMap.of(text, sizer.tokenizer)
    )
    assert spans[0].start == 0
    assert spans[-1].end == len(text)
    assert all(after.start <= before.end for before, after in itertools.pairwise(spans))
    assert any(text[start:end] == "👍🏾" for start, end in spans)
    assert isinstance(spans[0], Span)
