"""What stands before a chunk's own text: titles, and the heads of tables."""

from unit.chunking.fakes import FakeSizer, previous, recipe, structure_of, tabled
from variorum.chunking import lay_out
from variorum.chunking.folding import Folded
from variorum.chunking.prefixes import Prefix, Prefixes
from variorum.records.text import Block, BlockKind, Span, Structure

HEAD = "| name | size | unit | kind |\n|---|---|---|---|\n"
TABLE = HEAD + "".join(f"| row {number} | {number * 7} | mm | part |\n" for number in range(60))
SMALL = "anchored(max_tokens=60, min_tokens=20)"


def rows(first):
    """A text of ten rows under a head, and their blocks."""
    text = f"# T\n\n{first}\n" + "row one\n" * 10
    at = text.index(first)
    head = Span(at, at + len(first) + 1)
    starts = range(head.end, len(text), 8)
    blocks = [Block(0, 4, BlockKind.HEADING, ("T",), 1), Block(*head, BlockKind.TABLE, ("T",))]
    blocks += [Block(start, start + 8, BlockKind.ROW, ("T",), 0, head) for start in starts]
    return text, Structure(tuple(blocks), parser="fake")


def test_MD_09_later_pieces_of_a_table_carry_its_head_and_cite_only_their_rows():
    text = f"Table 1: sizes.\n\n{TABLE}\nAfter the table.\n"
    layout = lay_out(text, tabled(text), recipe(SMALL), FakeSizer())
    groups = [c for c in layout.chunks if "| row" in text[c.start : c.end]]
    assert len(groups) > 5
    assert all(text[c.start : c.end].startswith("| row") for c in groups[1:])
    assert all(c.prefix == HEAD for c in groups[1:])
    assert HEAD in text[groups[0].start : groups[0].end]
    assert groups[0].prefix == ""
    assert sum("Table 1" in one for one in layout.inputs) == 1
    for chunk, one in zip(layout.chunks, layout.inputs, strict=True):
        assert one == chunk.prefix + text[chunk.start : chunk.end].strip()
        assert FakeSizer().count([one]) == [chunk.tokens]


def test_the_head_stands_below_the_titles():
    text = f"# Sizes\n\n{TABLE}"
    layout = lay_out(text, tabled(text), recipe(SMALL, heading_depth=2), FakeSizer())
    assert layout.chunks[-1].prefix == f"Sizes\n\n{HEAD}"


def relaid(old, new, spec=SMALL, depth=1):
    planned = recipe(spec, planner=True, heading_depth=depth)
    first = lay_out(old, tabled(old), planned, FakeSizer())
    second = lay_out(new, tabled(new), planned, FakeSizer(), previous(old, first))
    return first, second, set(second.inputs) - set(first.inputs)


def test_an_edited_row_embeds_its_group_again_and_no_other():
    text = f"# Sizes\n\n{TABLE}"
    embedded = relaid(text, text.replace("row 30 |", "row thirty |"))[2]
    assert len(embedded) == 1
    assert "thirty" in embedded.pop()


def test_an_edited_head_embeds_every_group_again():
    text = f"# Sizes\n\n{TABLE}\nWords after the table stand here. " + "More words here. " * 30
    first, second, embedded = relaid(text, text.replace("| size |", "| length |"))
    groups = {one for one in second.inputs if "| row" in one}
    assert embedded == groups
    assert len(second.chunks) == len(first.chunks)


def test_a_head_over_a_quarter_of_the_limit_is_left_out_and_titles_stay():
    text, structure = rows("one two three four five six seven eight nine")
    prefixes = Prefixes(text, structure, 1, FakeSizer(32))
    assert prefixes.at(len(text) - 8) == Prefix(("T",), "")
    assert Prefixes(text, structure, 1, FakeSizer(36)).at(len(text) - 8).titles == ()
    assert Prefixes(text, structure, 1, FakeSizer(40)).at(len(text) - 8).titles == ("T",)


def test_a_prefix_gives_way_title_by_title_and_its_repeated_text_last():
    prefix = Prefix(("A", "B"), "head")
    steps = []
    while prefix:
        steps.append(prefix.rendered)
        prefix = prefix.shorter()
    assert steps == ["A > B\n\nhead\n", "B\n\nhead\n", "head\n"]


def test_only_a_place_in_or_at_the_block_repeats():
    text, structure = rows("head")
    text += "\nAfter."
    prefixes = Prefixes(text, structure, 0, FakeSizer())
    assert prefixes.text_at(text.index("row one")) == "head\n"
    assert prefixes.text_at(text.index("one")) == "head\n"
    assert prefixes.text_at(text.index("After")) == ""
    assert prefixes.text_at(text.index("head")) == ""


def test_line_ends_of_a_head_are_folded():
    unix = f"# Sizes\n\n{TABLE}"
    windows = unix.replace("\n", "\r\n")
    layouts = [lay_out(one, tabled(one), recipe(SMALL), FakeSizer()) for one in (unix, windows)]
    assert layouts[0].inputs == layouts[1].inputs
    assert any(chunk.prefix == HEAD for chunk in layouts[1].chunks)


def test_folding_keeps_everything_else_of_a_structure():
    text = "a\r\nb\r\nc"
    structure = Structure(structure_of(text).blocks, "p", {"k": 1}, "why", (Span(3, 6),))
    folded = Folded(text).structure(structure)
    assert (folded.metadata, folded.fallback, folded.imports) == ({"k": 1}, "why", (Span(2, 4),))
