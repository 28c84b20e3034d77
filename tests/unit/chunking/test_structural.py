"""Sections and whole blocks: what is kept together, and what gives way."""

import pytest

from unit.chunking.fakes import Atoms, FakeSizer, recipe, structure_of, tabled
from variorum.chunking import Structural, TokenMap, lay_out
from variorum.records.errors import InputError
from variorum.records.text import Block, BlockKind, Structure


def cut(text, chunker, structure=None):
    tokens = TokenMap.of(text, Atoms())
    spans = chunker.spans(text, structure or structure_of(text), tokens)
    return [text[start:end] for start, end in spans]


def prose(words, name="word"):
    return " ".join([name] * words) + "\n\n"


def test_a_section_that_fills_the_minimum_shares_no_chunk():
    sections = [f"## Part {number}\n\n" + prose(30) for number in range(4)]
    assert cut("".join(sections), Structural(400, 20)) == sections


def test_small_sections_beside_each_other_are_taken_together():
    small = [f"## Small {number}\n\n" + prose(5) for number in range(3)]
    large = "## Large\n\n" + prose(40)
    text = "".join([*small, large, *small])
    assert cut(text, Structural(100, 20)) == ["".join(small), large, "".join(small)]


def test_a_title_without_text_goes_with_the_section_below_it():
    text = "# Book\n\n## Part\n\n" + prose(40) + "## Next\n\n" + prose(40)
    assert cut(text, Structural(100, 20))[0].startswith("# Book\n\n## Part")


@pytest.mark.parametrize("before", [3, 30])
@pytest.mark.parametrize("after", [3, 30])
def test_a_fence_that_fits_stays_whole_whatever_stands_beside_it(before, after):
    fence = "```\n" + "call one two\n" * 28 + "```\n"
    text = f"# Title\n\n{prose(before)}{fence}\n{prose(after)}"
    parts = cut(text, Structural(100, 20))
    assert any(fence in part for part in parts)


def test_a_table_that_fits_stays_whole_and_one_that_does_not_is_cut_between_rows():
    table = "| a | b |\n|---|---|\n" + "| one two | three |\n" * 8
    text = prose(20) + table + "\n" + prose(20)
    assert any(table in part for part in cut(text, Structural(90, 10), tabled(text)))
    parts = cut(text, Structural(24, 6), tabled(text))
    rows = [part for part in parts if "| one two" in part]
    assert len(rows) > 2
    assert all(part.startswith("|") and part.endswith("|\n") for part in rows[:-1])
    assert "|---|---|\n| one two" in rows[0]


def test_a_block_that_does_not_fit_is_cut_by_the_anchored_rule():
    text = prose(5) + "Some words of a sentence. " * 60 + "\n\n" + prose(30)
    parts = cut(text, Structural(50, 10))
    assert "".join(parts) == text
    assert all(10 <= Atoms().count(part) <= 50 for part in parts)
    assert all(part.rstrip().endswith((".", "word")) for part in parts)


def test_a_block_too_large_is_refused_where_asked_naming_its_line_and_size():
    text = "# Title\n\n" + prose(9) + "```\n" + "call one two\n" * 50 + "```\n"
    with pytest.raises(InputError) as caught:
        lay_out(
            text,
            structure_of(text),
            recipe("structural(oversize=reject, max_tokens=130)"),
            FakeSizer(),
        )
    assert caught.value.kind == "block-too-large"
    assert caught.value.subject == "line 5"
    assert caught.value.found == "156 tokens"
    assert "130" in caught.value.expected


def test_a_table_is_refused_only_for_a_row_that_does_not_fit():
    table = "| a | b |\n|---|---|\n" + "| one two | three |\n" * 30
    chunker = Structural(40, 10, "reject")
    assert len(cut(table, chunker, tabled(table))) > 3
    with pytest.raises(InputError):
        cut(
            table + "| " + "word " * 41 + "|\n",
            chunker,
            tabled(table + "| " + "word " * 41 + "|\n"),
        )


def test_blocks_on_one_line_are_kept_whole():
    items = [f"<p>{'word ' * 15}{number}</p>" for number in range(12)]
    text = "".join(items)
    starts = [text.index(one) for one in items]
    blocks = tuple(
        Block(start, start + len(one), BlockKind.PARAGRAPH)
        for start, one in zip(starts, items, strict=True)
    )
    parts = cut(text, Structural(80, 20), Structure(blocks, parser="fake"))
    assert len(parts) > 3
    assert all(part.startswith("<p>") and part.endswith("</p>") for part in parts)


def test_an_edit_moves_no_boundary_of_another_section():
    sections = [f"## Part {number}\n\n" + prose(30, f"w{number}") * 6 for number in range(9)]
    edited = list(sections)
    edited[4] = edited[4].replace("w4", "other", 40)
    before, after = (cut("".join(one), Structural(80, 20)) for one in (sections, edited))
    assert all("w4" in part or "other" in part for part in set(after) - set(before))


def test_a_heading_stays_with_a_table_that_does_not_fit():
    table = "| a | b |\n|---|---|\n" + "| one two | three |\n" * 20
    text = f"{prose(3)}## Title here\n\n{table}"
    parts = cut(text, Structural(60, 12), tabled(text))
    assert any("## Title here\n\n| a | b |" in part for part in parts)


def test_a_heading_is_parted_only_from_a_block_that_fits_without_it():
    text = "## A title of seven words stands here\n\n```\n" + "call one\n" * 16 + "```\n"
    parts = cut(text, Structural(42, 4))
    assert [part.strip()[:3] for part in parts] == ["## ", "```"]
