import pytest

from variorum.formats import parse
from variorum.formats.rest import MAX_NESTING
from variorum.records.text import BlockKind, Structure, Text

K = BlockKind


def structure_of(characters: str) -> Structure:
    return parse(Text(characters), "text/x-rst")


def kinds(characters: str) -> list[tuple[BlockKind, str]]:
    blocks = structure_of(characters).blocks
    return [(block.kind, characters[block.start : block.end]) for block in blocks]


def test_sections_nest_in_the_order_in_which_their_styles_first_come() -> None:
    source = "#\n\n===\nTop\n===\n\nSub\n===\n\nx\n\nDeep\n----\n\nSub 2\n=====\n\ny\n"
    paths = {b.heading_path for b in structure_of(source).blocks}
    assert paths == {(), ("Top",), ("Top", "Sub"), ("Top", "Sub", "Deep"), ("Top", "Sub 2")}


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("``code`` *em* **b**", "code em b"),
        ("See `the page <http://x>`_", "See the page"),
        (":mod:`email` and :ref:`that <there>`", "email and that"),
        ("a\\*b", "a*b"),
        ("`phrase`_ |s|", "phrase |s|"),
    ],
)
def test_a_title_is_the_words_a_reader_sees(title: str, words: str) -> None:
    assert structure_of(f"{title}\n{'=' * 60}\n").blocks[0].heading_path == (words,)


def test_fields_at_the_top_are_metadata_and_later_ones_definitions() -> None:
    source = ".. comment\n\n:Author: A *B*\n:Tags: x,\n   y\n:orphan:\n\ntext\n\n:param a: b\n"
    assert structure_of(source).metadata == {"author": "A B", "tags": "x, y"}
    assert [kind for kind, _ in kinds(source)] == [
        *(K.OTHER, K.FRONT_MATTER, K.PARAGRAPH, K.DEFINITION)
    ]


def test_literal_blocks_are_code_however_they_are_announced() -> None:
    source = "Text::\n\n  a\n\n  b\n\n::\n\n  c\n\nQuoted::\n\n> d\n> e\n\nend\n"
    assert kinds(source) == [
        (K.PARAGRAPH, "Text::\n"),
        (K.CODE, "  a\n\n  b\n"),
        (K.CODE, "::\n\n  c\n"),
        (K.PARAGRAPH, "Quoted::\n"),
        (K.CODE, "> d\n> e\n"),
        (K.PARAGRAPH, "end\n"),
    ]


@pytest.mark.parametrize(
    ("directive", "found"),
    [
        (".. code-block:: py\n\n   x\n\n   y\n", [K.CODE]),
        (".. raw:: html\n\n   <p>x</p>\n", [K.HTML]),
        (".. include:: /etc/passwd\n", [K.OTHER]),
        (".. toctree::\n   :maxdepth: 1\n\n   a\n", [K.OTHER]),
        (".. note:: a\n   b\n\n   - c\n", [K.PARAGRAPH, K.LIST_ITEM]),
        (".. tip::\n\n   a\n\n   ::\n\n     b\n", [K.OTHER, K.PARAGRAPH, K.CODE]),
        (".. tip::\n   a\n", [K.OTHER, K.PARAGRAPH]),
        (
            ".. py:function:: f(x)\n\n   Does.\n\n   :param x: it\n",
            [K.PARAGRAPH] * 2 + [K.DEFINITION],
        ),
        (
            ".. table:: T\n\n   == ==\n   a  b\n   == ==\n   1  2\n   == ==\n",
            [K.PARAGRAPH, K.TABLE, K.ROW],
        ),
    ],
)
def test_directives_are_told_apart_and_none_is_run(directive: str, found: list[BlockKind]) -> None:
    assert [kind for kind, _ in kinds("x\n\n" + directive)][1:] == found


def test_tables_are_a_head_and_rows() -> None:
    source = (
        "+--+--+\n|a |b |\n+==+==+\n|1 |2 |\n|  +--+\n|  |3 |\n+--+--+\n|4 |5 |\n+--+--+\n\n"
        "== ==\na  b\n-- --\n== ==\n1  2\n   3\n\n4  5\n== ==\n"
    )
    assert kinds(source) == [
        (K.TABLE, "+--+--+\n|a |b |\n+==+==+\n"),
        (K.ROW, "|1 |2 |\n|  +--+\n|  |3 |\n+--+--+\n"),
        (K.ROW, "|4 |5 |\n+--+--+\n"),
        (K.TABLE, "== ==\na  b\n-- --\n== ==\n"),
        (K.ROW, "1  2\n   3\n\n"),
        (K.ROW, "4  5\n== ==\n"),
    ]


def test_tables_without_a_head_are_rows() -> None:
    source = "+---+\n| a |\n+---+\n| b |\n+---+\n\n== ==\n1  2\n3  4\n== ==\n"
    assert [kind for kind, _ in kinds(source)] == [K.ROW] * 4
    assert not any(b.repeats for b in structure_of(source).blocks)


def test_rows_of_a_csv_table_may_hold_line_ends_and_its_title_is_not_repeated() -> None:
    source = (
        '.. csv-table:: Prices\n   :header: "a", "b"\n   :widths: 1\n\n   1, "x\n   y"\n   2, z\n'
    )
    blocks = structure_of(source).blocks
    assert [b.kind for b in blocks] == [K.PARAGRAPH, K.TABLE, K.ROW, K.ROW]
    head = blocks[-1].repeats
    assert head
    assert "Prices" not in source[slice(*head)]


@pytest.mark.parametrize(
    "source",
    ["- " * (MAX_NESTING + 2) + "x", "".join(" " * n + "- x\n\n" for n in range(0, 200, 2))],
)
def test_absurd_nesting_falls_back_to_plain_text_and_says_so(source: str) -> None:
    structure = structure_of(source)
    assert structure.parser == "plain"
    assert "nested" in structure.fallback
