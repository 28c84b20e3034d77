"""Where sentences end: marks, abbreviations, numbers, quotes, lines, blocks."""

import time

import pytest

from unit.chunking.fakes import structure_of
from variorum.chunking import sentences
from variorum.records.text import Block, BlockKind, Structure


def cut(text, structure=None):
    return [text[start:end] for start, end in sentences(text, structure)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" \n\t", []),
        ("Tea is hot.", ["Tea is hot."]),
        ("Dr. Lee left. He ran.", ["Dr. Lee left.", "He ran."]),
        ("See Fig. 3, e.g. the cat. Then go.", ["See Fig. 3, e.g. the cat.", "Then go."]),
        ("Cats, dogs, etc. They ran.", ["Cats, dogs, etc.", "They ran."]),
        ("Cats, etc. were there. Yes.", ["Cats, etc. were there.", "Yes."]),
        ("J. R. Smith wrote it. We read.", ["J. R. Smith wrote it.", "We read."]),
        (
            "The U.S. army left the U.S. It was cold.",
            ["The U.S. army left the U.S.", "It was cold."],
        ),
        ("It is 3.14. Version 2.0.1 is out!", ["It is 3.14.", "Version 2.0.1 is out!"]),
        ("“Stop!” he said. “No.” She left.", ["“Stop!” he said.", "“No.”", "She left."]),
        ("(One of them.) [Two.] Three", ["(One of them.)", "[Two.]", "Three"]),
        ("Wait... what? Yes... Then go", ["Wait... what?", "Yes...", "Then go"]),
        ("مرحبا؟ نعم.", ["مرحبا؟", "نعم."]),
    ],
)
def test_latin_marks_end_a_sentence_unless_they_belong_to_a_word(text, found):
    assert cut(text) == found


def test_chinese_terminators_end_a_sentence_with_their_quotes():
    text = "雨停了。“好的。”他说！？走吧……嗯。3.5公里"
    assert cut(text) == ["雨停了。", "“好的。”", "他说！？", "走吧……嗯。", "3.5公里"]


def test_a_line_end_is_inside_a_sentence_but_for_blank_lines_titles_and_list_items():
    text = "# Title\nOne line\nwraps.\n\nTwo\n- item a\n- item b. More\n2. item c"
    assert cut(text) == [
        "# Title",
        "One line\nwraps.",
        "Two",
        "- item a",
        "- item b.",
        "More",
        "2. item c",
    ]


def test_a_block_ends_a_sentence_and_code_is_one_piece():
    text = "# A. B. C\nOne. Two\n\n```\nx. Y. Z\n```\nThree"
    assert cut(text, structure_of(text)) == [
        "# A. B. C",
        "One.",
        "Two",
        "```\nx. Y. Z\n```",
        "Three",
    ]


def test_blocks_inside_a_line_are_apart():
    text = "<p>one</p><p>two</p>"
    blocks = (Block(0, 10, BlockKind.PARAGRAPH), Block(10, 20, BlockKind.PARAGRAPH))
    assert cut(text, Structure(blocks, parser="fake")) == ["<p>one</p>", "<p>two</p>"]


@pytest.mark.parametrize("one", [".", "?!", "。", ". ", "\n", " ", "A. ", ")", ".)", "# ", "1. "])
def test_the_cost_is_linear(one):
    def least_s(count):
        taken = []
        for _ in range(3):
            started = time.process_time()
            sentences(one * count)
            taken.append(time.process_time() - started)
        return min(taken)

    # Eight times the text: 8 where it is linear, 64 where it is quadratic.
    assert least_s(80_000) < 30 * least_s(10_000)
