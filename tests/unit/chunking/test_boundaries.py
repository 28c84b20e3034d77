"""Where a text may be cut, and how the candidates rank."""

import pytest

from unit.chunking.fakes import Atoms, FakeSizer, recipe, structure_of
from variorum.chunking import Anchored, TokenMap, chunker_from_spec, lay_out, plain_structure
from variorum.chunking import boundaries as levels
from variorum.chunking.boundaries import boundaries
from variorum.chunking.graphemes import Graphemes
from variorum.records.text import Structure

MARKDOWN = """# One

First line. Second sentence
wraps here.
New line.

```
code

more
```

| a | b |
|---|---|
| 1 | 2 |

## Two
Last.
"""


def ranked(text, structure=None):
    found = boundaries(text, structure or structure_of(text))
    return {
        text[position:].split("\n")[0]: level
        for position, level in zip(found.positions.tolist(), found.levels.tolist(), strict=True)
    }


def test_each_kind_of_place_has_its_level():
    assert ranked(MARKDOWN) == {
        "First line. Second sentence": levels.AFTER_HEADING,
        "Second sentence": levels.SENTENCE,
        "wraps here.": levels.WRAPPED_LINE,
        "New line.": levels.LINE,
        "```": levels.CODE_LINE,
        "code": levels.CODE_LINE,
        "more": levels.CODE_BLANK_LINE,
        "| a | b |": levels.BLANK_LINE,
        "|---|---|": levels.LINE,
        "| 1 | 2 |": levels.LINE,
        "## Two": levels.HEADING_1 - 1,
        "Last.": levels.AFTER_HEADING,
    }


def test_a_list_number_ends_no_sentence():
    assert "first thing" not in ranked("Steps:\n1. first thing\n12. second thing\n")


def test_without_blocks_lines_blank_lines_and_sentences_still_rank():
    text = "One. Two\nwraps.\nThree.\n\nFour"
    assert ranked(text, Structure((), parser="none")) == {
        "Two": levels.SENTENCE,
        "wraps.": levels.WRAPPED_LINE,
        "Three.": levels.LINE,
        "Four": levels.BLANK_LINE,
    }


def test_no_candidate_lies_inside_a_grapheme():
    assert ranked("句子。\u0301再来。 \u0301x", Structure((), parser="none")) == {}


def test_the_plain_structure_is_the_paragraphs_between_blank_lines():
    text = "\n\nOne\nline\r\n\r\nTwo\n \t\n"
    assert [text[block.start : block.end] for block in plain_structure(text).blocks] == [
        "One\nline\r\n",
        "Two\n",
    ]
    assert plain_structure(" \n ").blocks == ()


def test_a_fence_stays_whole_while_anything_else_can_be_cut():
    prose = "Some words of a sentence here. " * 4
    code = "```\n" + "call(x)\n" * 6 + "```\n"
    text = f"{prose}\n\n{code}\n{prose}"
    layout = lay_out(
        text, structure_of(text), recipe("anchored(max_tokens=60, min_tokens=10)"), FakeSizer()
    )
    assert any(code.strip() in one for one in layout.inputs)


def test_a_table_is_cut_only_between_rows():
    text = "| a | b |\n|---|---|\n" + "| some words. Here | more words |\n" * 40
    chunker = chunker_from_spec("anchored(max_tokens=60, min_tokens=10)")
    spans = chunker.spans(text, structure_of(text), TokenMap.of(text, Atoms()))
    assert len(spans) > 5
    assert all(text[start] == "|" and text[end - 1] == "\n" for start, end in spans)


@pytest.mark.parametrize("words", [30, 45, 60, 90])
def test_a_heading_stays_with_what_follows_it(words):
    section = "## Title here\n\n" + "word " * words + "\n\n"
    text = section * 6
    chunker = Anchored(100, 20)
    spans = chunker.spans(text, structure_of(text), TokenMap.of(text, Atoms()))
    assert not any(text[start:end].rstrip().endswith("Title here") for start, end in spans)


def test_grapheme_boundaries_are_found_on_both_sides_of_a_place():
    text = "ab\r\ne\u0301x👍🏾"
    graphemes = Graphemes(text)
    assert [graphemes.floor(place) for place in range(len(text) + 1)] == [
        0,
        1,
        2,
        2,
        4,
        4,
        6,
        7,
        7,
        9,
    ]
    assert [graphemes.ceiling(place) for place in range(len(text) + 1)] == [
        0,
        1,
        2,
        4,
        4,
        6,
        6,
        7,
        9,
        9,
    ]
