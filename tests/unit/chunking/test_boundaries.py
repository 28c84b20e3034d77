"""Where a text may be cut, and how the candidates rank."""

import pytest

from unit.chunking.fakes import Atoms, FakeSizer, recipe, structure_of
from variorum.chunking import Anchored, TokenMap, chunker_from_spec, lay_out, plain_structure
from variorum.chunking import boundaries as levels
from variorum.chunking.boundaries import boundaries
from variorum.chunking.graphemes import Graphemes
from variorum.records.text import Block, BlockKind, Structure

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


def placed(text, *parts):
    """The levels of a text whose blocks are the given parts, each (characters, kind, depth)."""
    blocks, place = [], 0
    for characters, kind, depth in parts:
        start = text.index(characters, place)
        place = start + len(characters)
        blocks.append(Block(start, place, kind, (), depth))
    found = boundaries(text, Structure(tuple(blocks), parser="fake"))
    pairs = zip(found.positions.tolist(), found.levels.tolist(), strict=True)
    return {text[position:][:6]: level for position, level in pairs}


def test_blocks_inside_a_line_start_at_their_own_place():
    text = "<p>one</p><h2>Two. B</h2><p>three. Four</p><li>five</li><li>six</li>"
    kind = BlockKind
    assert placed(
        text,
        ("<p>one</p>", kind.PARAGRAPH, 0),
        ("<h2>Two. B</h2>", kind.HEADING, 2),
        ("<p>three. Four</p>", kind.PARAGRAPH, 0),
        ("<li>five</li>", kind.LIST_ITEM, 0),
        ("<li>six</li>", kind.LIST_ITEM, 0),
    ) == {
        "<h2>Tw": levels.HEADING_1 - 1,
        "<p>thr": levels.AFTER_HEADING,
        "Four</": levels.SENTENCE,
        "<li>fi": levels.LINE,
        "<li>si": levels.LINE,
    }


def test_a_row_starts_like_a_line_and_a_head_keeps_its_first_row():
    text = 'a,b\nc,d\n1,"x. Y\n\nz"\n\n3,4\n'
    kind = BlockKind
    assert placed(
        text,
        ("a,b\nc,d\n", kind.TABLE, 0),
        ('1,"x. Y\n\nz"\n', kind.ROW, 0),
        ("3,4\n", kind.ROW, 0),
    ) == {
        "c,d\n1,": levels.CODE_LINE,
        '1,"x. ': levels.AFTER_HEADING,
        'z"\n\n3,': levels.CODE_BLANK_LINE,
        "3,4\n": levels.LINE,
    }


@pytest.mark.parametrize("kind", [BlockKind.DEFINITION, BlockKind.TURN])
def test_a_definition_and_a_turn_start_like_a_block_after_a_blank_line(kind):
    text = "first line\nsecond line\n  third line\n"
    found = placed(
        text, ("first line\n", kind, 0), ("second line\n", kind, 0), ("  third", kind, 0)
    )
    assert found == {"second": levels.BLANK_LINE, "  thir": levels.BLANK_LINE}


def test_inside_a_definition_a_blank_line_is_a_line_and_a_line_a_sentence():
    text = "def f():\n    a = 1\n\n    return a\n"
    found = placed(text, (text, BlockKind.DEFINITION, 0))
    assert list(found.values()) == [levels.SENTENCE, levels.LINE]


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
