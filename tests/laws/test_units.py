"""The units of content-defined chunking, found by arrays, are those of a plain reading."""

import re
from itertools import pairwise

import numpy as np
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.chunking_texts import texts
from unit.chunking.fakes import Atoms, Characters
from variorum.chunking import TokenMap
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.units import LONG_CHARACTERS, units

UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\U00020000-\U0003ffff"
)
PART = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)+|.", re.DOTALL)
BLANK_LINE = re.compile(r"(?:\r\n|\r(?!\n)|\n)[\t\f\v ]*(?:\r\n|\r(?!\n)|\n)")
laws = settings(max_examples=300, deadline=None)
pieces = st.lists(
    st.sampled_from(
        [
            *(" ", "\n", "\r\n", "\r", "\t", "\x0b", "\x1c", "\u3000", "a", "b1", "_", "-"),
            *(
                "中",
                "文",
                "ひ",
                "กำ",
                "\u0e31",
                "\u0301",
                "\u200d",
                "👨‍👩‍👧",
                "🇫🇷",
                "\U00020000",
                "한",
            ),
        ]
    ),
    max_size=80,
).map("".join)
any_text = st.one_of(texts, pieces)


def floor(text, position):
    starts = [match.start() for match in regex.finditer(r"\X", text)]
    return max([start for start in starts if start <= position], default=0)


def parts(text, start, end):
    """A word in single characters of some scripts, runs of letters and digits, and the rest."""
    found = {floor(text, match.start()) for match in PART.finditer(text, start, end)}
    starts = sorted({start} | {one for one in found if one >= start})
    return list(pairwise([*starts, end]))


def plain_reading(text, tokens, most, segmented):
    found = []
    last_end = None
    for match in re.finditer(r"\S+", text):
        start, end = match.span()
        opens = last_end is not None and bool(BLANK_LINE.search(text[last_end:start]))
        last_end = end
        spoken = segmented and re.search(f"[{UNSPACED}]", match[0])
        broken = tokens.count(start, end) > most or spoken
        inside = parts(text, start, end) if broken else [(start, end)]
        found += [(*one, opens and one[0] == start) for one in inside]
    placed = [(floor(text, start), end, opens) for start, end, opens in found]
    return [(0, *placed[0][1:]), *placed[1:]] if placed else [(0, len(text), False)]


@laws
@given(any_text, st.sampled_from([Atoms, Characters]), st.booleans())
def test_units_are_those_of_a_plain_reading(text, tokenizer, segmented):
    segmented = segmented and not re.search(rf"\S{{{LONG_CHARACTERS + 1}}}", text)
    tokens = TokenMap.of(text, tokenizer())
    most = tokens.total + 1
    found = units(text, tokens, most, segmented=segmented)
    columns = (found.starts, found.ends, found.opens)
    expected = plain_reading(text, tokens, most, segmented)
    assert list(zip(*(one.tolist() for one in columns), strict=True)) == expected


@laws
@given(any_text, st.data())
def test_many_grapheme_boundaries_are_found_as_each_one_is(text, data):
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=30))
    found = Graphemes(text).floor_each(np.array(places, dtype=np.int64))
    assert found.tolist() == [Graphemes(text).floor(place) for place in places]
