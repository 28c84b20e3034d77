import pytest

from variorum.formats import decode, parse
from variorum.formats.markdown import MAX_NESTING
from variorum.records.text import Block, BlockKind, Revision, Span, Structure, Text

K = BlockKind


def structure_of(characters: str) -> Structure:
    return parse(Text(characters), "text/markdown")


def kinds(characters: str) -> list[tuple[BlockKind, str]]:
    blocks = structure_of(characters).blocks
    return [(block.kind, characters[block.start : block.end]) for block in blocks]


def paths(characters: str) -> list[tuple[str, ...]]:
    blocks = structure_of(characters).blocks
    return [block.heading_path for block in blocks if block.kind is K.HEADING]


def holding(characters: str, word: str) -> Block:
    place = characters.index(word)
    return next(b for b in structure_of(characters).blocks if b.start <= place < b.end)


def test_a_comment_in_a_fence_is_no_heading() -> None:
    """MD-01."""
    source = "# A\n\n```sh\n# fetch\ncurl x\n```\n\n## B\ntext\n"
    assert paths(source) == [("A",), ("A", "B")]
    block = holding(source, "curl x")
    assert block.heading_path == ("A",)
    assert source[block.start : block.end] == "```sh\n# fetch\ncurl x\n```\n"


def test_white_space_in_code_is_untouched() -> None:
    """MD-02."""
    source = "# C\n\n```py\ndef f():\n\tif x:\n\t    return\u00a01\n```\n"
    block = holding(source, "def")
    assert source[block.start : block.end] == source[5:]


@pytest.mark.parametrize(
    ("source", "titles"),
    [
        ("# T\n````\n```\n# no\n```\n````\n# U\n~~~\n```\n# no2\n~~~\n# V\n", ["T", "U", "V"]),
        ("# A\n```\nx\n```zzz\n# hidden\n```\n# B\n", ["A", "B"]),
    ],
)
def test_a_fence_is_closed_only_by_its_like(source: str, titles: list[str]) -> None:
    """MD-03."""
    assert paths(source) == [(title,) for title in titles]


def test_a_byte_order_mark_hides_neither_heading_nor_front_matter() -> None:
    """MD-05."""
    heading = decode(Revision("\ufeff# First\n\nx\n".encode(), "text/markdown"))
    first = parse(heading, "text/markdown").blocks[0]
    assert first.heading_path == ("First",)
    assert heading.byte_span(Span(first.start, first.end)) == (3, 11)
    front = decode(Revision("\ufeff---\ntitle: T\n---\n\n# H\n".encode(), "text/markdown"))
    structure = parse(front, "text/markdown")
    assert structure.metadata == {"title": "T"}
    assert [b.kind for b in structure.blocks] == [K.FRONT_MATTER, K.HEADING]


def test_underlined_headings_count_with_their_underlines() -> None:
    """MD-07."""
    source = "Title\n=====\n\nSub\n---\ntext\n"
    assert paths(source) == [("Title",), ("Title", "Sub")]
    assert kinds(source)[1] == (K.HEADING, "Sub\n---\n")


def test_blocks_are_recognised_off_column_0() -> None:
    """MD-08."""
    source = (
        "# A\n\n- step\n\n  ```sh\n  # not heading\n  ```\n\nend\n\n   ## Three\n\n    ## Four\n"
    )
    assert paths(source) == [("A",), ("A", "Three")]
    assert kinds(source)[1:] == [
        (K.LIST_ITEM, "- step\n"),
        (K.CODE, "  ```sh\n  # not heading\n  ```\n"),
        (K.PARAGRAPH, "end\n"),
        (K.HEADING, "   ## Three\n"),
        (K.CODE, "    ## Four\n"),
    ]


def test_front_matter_is_metadata_and_its_last_line_no_heading() -> None:
    """MD-12."""
    source = "---\ntitle: X\nauthor: Y\n---\n\n# H\n\nbody\n"
    assert paths(source) == [("H",)]
    assert structure_of(source).metadata == {"title": "X", "author": "Y"}
    assert paths("# A\n```\n# b\n") == [("A",)]
    assert kinds("# A\n```\n# b\n")[1] == (K.CODE, "```\n# b\n")
    assert paths(source) == [("H",)]


def test_nothing_is_stripped_before_measuring() -> None:
    """OFF-08."""
    source = (
        '---\nname: Kiln\n---\n\nimport Box from "./box"\n\n# Firing\n\n<Box>Warm-up.</Box>\n\n'
        "### Cooling\n\nLeave the door shut.\n"
    )
    starts = {b.heading_path[-1]: b.start for b in structure_of(source).blocks if b.depth}
    assert starts == {"Firing": 45, "Cooling": 76}


def test_equal_titles_are_told_apart_by_place() -> None:
    """CIT-02."""
    source = "# D\n\n## Notes\n\none\n\n## Notes\n\ntwo\n\n## Notes\n\nfact\n"
    block = holding(source, "fact")
    assert block.heading_path == ("D", "Notes")
    assert Text(source).line_of(block.start) == 13
    assert len({b.start for b in structure_of(source).blocks if b.depth == 2}) == 3


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# Plain ##", "Plain"),
        ("#\tTab", "Tab"),
        ("# `code` *em* **b** [link](u) ![alt](i)", "code em b link alt"),
        ("# a_b \\* &amp; <b>x</b>", "a_b * & x"),
        ("Two\nlines\n===", "Two lines"),
        ("# a\0b *c*", "ab c"),
        ("# C#", "C#"),
        ("# 标题 😀", "标题 😀"),
        ("#", None),
    ],
)
def test_a_title_is_the_words_a_reader_sees(heading: str, title: str | None) -> None:
    assert paths(heading + "\n") == [() if title is None else (title,)]


def test_sections_nest_by_depth_even_where_levels_are_skipped() -> None:
    source = "### deep\n# A\n### C\n## B\ntext\n# D\n"
    assert paths(source) == [("deep",), ("A",), ("A", "C"), ("A", "B"), ("D",)]
    assert holding(source, "text").heading_path == ("A", "B")


def test_headings_in_quotes_and_lists_open_no_section() -> None:
    source = "# A\n\n> # quoted\n\n- # item\n\nend\n"
    assert paths(source) == [("A",)]
    assert [kind for kind, _ in kinds(source)] == [K.HEADING, K.PARAGRAPH, K.LIST_ITEM, K.PARAGRAPH]


def test_every_row_of_a_long_table_repeats_its_head() -> None:
    """MD-09."""
    head = "| a | b | c | d |\n|---|---|---|---|\n"
    rows = [f"| {n} | x | y | z |\n" for n in range(60)]
    source = "# T\n\nTable 1: the caption\n\n" + head + "".join(rows) + "\nafter\n"
    blocks = structure_of(source).blocks
    assert [source[b.start : b.end] for b in blocks if b.kind is K.ROW] == rows
    assert {source[slice(*b.repeats)] for b in blocks if b.repeats} == {head}
    assert all((b.repeats is not None) == (b.kind is K.ROW) for b in blocks)
    assert {b.heading_path for b in blocks} == {("T",)}
    assert [source[b.start : b.end] for b in blocks if "caption" in source[b.start : b.end]] == [
        "Table 1: the caption\n"
    ]


def test_a_pipe_in_code_is_no_border_and_keeps_its_backslash() -> None:
    """MD-10."""
    source = "| Key | Does |\n|---|---|\n| `ls \\| wc` | counts files |\n"
    assert kinds(source)[1:] == [(K.ROW, "| `ls \\| wc` | counts files |\n")]


def test_a_table_inside_a_quote_or_an_item_is_rows_too() -> None:
    assert [kind for kind, _ in kinds("> |a|\n> |-|\n> |1|\n\n- |a|\n  |-|\n  |1|\n")] == [
        *(K.TABLE, K.ROW),
        *(K.TABLE, K.ROW),
    ]


def test_every_kind_of_block_is_told_apart() -> None:
    source = (
        "para\n\n- a\n\n  more\n  - b\n1. c\n\n| x |\n|---|\n| 1 |\n\n<div>\n\n***\n\n"
        "[ref]: u\n\n> q\n> r\n\n    code\n"
    )
    assert kinds(source) == [
        (K.PARAGRAPH, "para\n"),
        (K.LIST_ITEM, "- a\n"),
        (K.LIST_ITEM, "  more\n"),
        (K.LIST_ITEM, "  - b\n"),
        (K.LIST_ITEM, "1. c\n"),
        (K.TABLE, "| x |\n|---|\n"),
        (K.ROW, "| 1 |\n"),
        (K.HTML, "<div>\n"),
        (K.OTHER, "***\n"),
        (K.OTHER, "[ref]: u\n"),
        (K.PARAGRAPH, "> q\n> r\n"),
        (K.CODE, "    code\n"),
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_gives_the_same_blocks(line_end: str) -> None:
    source = "# A\n\npara\x0b\x0c\x85\u2028still\n\n```\nx\n```\n".replace("\n", line_end)
    assert [kind for kind, _ in kinds(source)] == [K.HEADING, K.PARAGRAPH, K.CODE]
    assert kinds(source)[2][1] == line_end.join(["```", "x", "```", ""])


@pytest.mark.parametrize("source", [">" * 100_000, "> - " * 10_000, "* " * MAX_NESTING + "x"])
def test_absurd_nesting_falls_back_to_plain_text_and_says_so(source: str) -> None:
    structure = structure_of("# A\n\n" + source + "\n\n# B\n")
    assert structure.parser == "plain"
    assert "nested" in structure.fallback
    assert len(structure.blocks) == 3
