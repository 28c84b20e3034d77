"""Laws of decoding and of structure, for any text."""

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from variorum.formats import decode, parse
from variorum.records.errors import InputError
from variorum.records.text import Revision, Span, Text

PIECES = [
    *(
        "# ",
        "## a",
        "a *b* `c`",
        "```",
        "~~~~",
        "- ",
        "1. ",
        "> ",
        "    ",
        "\t",
        "| a | b |",
        "|-|-|",
    ),
    *("---", "===", "+++", "***", "[a]: b", "<div>", "<!--", "-->", "k: v", "k = 1", "word", " "),
    *("\n", "\n", "\n\n", "\r\n", "\r", "\0", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u00a0"),
    *("\ufeff", "😀", "é", "中文", "\\", "&amp;", "[", "]", "(", "!"),
]
documents = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=20).map(lambda p: "---\n" + "".join(p) + "\n---\nx"),
)
content_types = st.sampled_from(["text/markdown", "text/plain"])
ENCODINGS = {
    "utf-8": (b"", codecs.BOM_UTF8),
    "utf-16-le": (codecs.BOM_UTF16_LE,),
    "utf-16-be": (codecs.BOM_UTF16_BE,),
    "utf-32-le": (codecs.BOM_UTF32_LE,),
    "utf-32-be": (codecs.BOM_UTF32_BE,),
}


@given(documents, content_types)
@settings(max_examples=400, deadline=None)
def test_blocks_are_ordered_whole_lines_that_cover_all_but_blank_lines(
    characters: str, content_type: str
) -> None:
    text = Text(characters)
    structure = parse(text, content_type)
    line_edges = {*text.line_starts, len(characters)}
    done = 0
    for block in structure.blocks:
        assert done <= block.start < block.end <= len(characters)
        assert {block.start, block.end} <= line_edges
        assert characters[done : block.start].strip() == ""
        done = block.end
    assert characters[done:].strip() == ""


@given(documents)
@settings(max_examples=200, deadline=None)
def test_paths_follow_the_headings_alone(characters: str) -> None:
    open_sections: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    for block in parse(Text(characters), "text/markdown").blocks:
        if block.depth:
            while open_sections[-1][0] >= block.depth:
                open_sections.pop()
            parent = open_sections[-1][1]
            assert block.heading_path[: len(parent)] == parent
            assert len(block.heading_path) <= len(parent) + 1
            open_sections.append((block.depth, block.heading_path))
        assert block.heading_path == open_sections[-1][1]
        assert all(title and title == " ".join(title.split()) for title in block.heading_path)


@given(documents)
@settings(max_examples=100, deadline=None)
def test_line_ends_do_not_change_what_the_blocks_are(characters: str) -> None:
    folded = characters.replace("\r\n", "\n").replace("\r", "\n")
    windows = folded.replace("\n", "\r\n")
    one = parse(Text(folded), "text/markdown")
    other = parse(Text(windows), "text/markdown")
    shape = [(b.kind, b.depth, b.heading_path, folded[b.start : b.end]) for b in one.blocks]
    assert shape == [
        (b.kind, b.depth, b.heading_path, windows[b.start : b.end].replace("\r\n", "\n"))
        for b in other.blocks
    ]


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.data())
@settings(max_examples=60, deadline=None)
def test_every_range_of_characters_maps_back_to_its_bytes(
    encoding: str, characters: str, data: st.DataObject
) -> None:
    mark = data.draw(st.sampled_from(ENCODINGS[encoding]))
    # Without a mark of its own, a leading U+FEFF is one; and %PDF and the like are not text.
    characters = "a" + characters
    content = mark + characters.encode(encoding)
    text = decode(Revision(content, "text/plain"))
    assert text.characters == characters
    start = data.draw(st.integers(0, len(characters)))
    end = data.draw(st.integers(start, len(characters)))
    byte_span = text.byte_span(Span(start, end))
    assert content[byte_span.start : byte_span.end] == characters[start:end].encode(encoding)


def decoded(content: bytes) -> Text | str:
    """The text, or the kind of its refusal."""
    try:
        return decode(Revision(content, "text/plain"))
    except InputError as error:
        return error.kind


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_decoding_loses_nothing_or_refuses(content: bytes) -> None:
    outcome = decoded(content)
    if isinstance(outcome, Text):
        assert content[outcome.bom_bytes :] == outcome.characters.encode(outcome.encoding)
    else:
        assert outcome in {"undecodable", "binary"}
