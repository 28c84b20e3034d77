"""What holds of the blocks of source code, whatever the text."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from variorum.formats import parse
from variorum.formats.code import CONTENT_TYPES
from variorum.records.text import BlockKind, Structure, Text
from variorum.sources.naming import content_type_of

FOLDER = Path(__file__).parents[1] / "golden" / "code"
PROGRAMS = [
    (path.read_text(encoding="utf-8"), content_type_of(path.name.encode()))
    for path in sorted(FOLDER.iterdir())
    if path.suffix != ".blocks"
]
PIECES = [
    *("def ", "class A", "f", " x", "(", ")", "{", "}", "[", "]", "\n", "\n    ", "\r\n", "\r"),
    *('"', "'", '"""', "`", "${", "#", "//", "/*", "*/", ":", ";", ",", "=>", "=", "<", ">"),
    *("@a", "#[x]", "import a\n", "use a::b;", "#include <a>\n", "#ifdef A\n", "#endif\n", "fn "),
    *("func ", "type ", "struct ", "impl ", "if ", "else ", "case 1:", "template<", "public:"),
    *("export ", "const a = ", "function ", "</div>", "\t", "\\", 'r#"', "\0", "\ud800", "\ufeff"),
    *("\u2028", "\x0b", "\x0c", "\x1c", "\u00a0", "é", "中文", "😀"),
]
pieces = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
content_types = st.sampled_from(sorted(CONTENT_TYPES))


@st.composite
def mutated_programs(draw: st.DrawFn) -> tuple[str, str]:
    """A real program with a few stretches of it replaced."""
    characters, content_type = draw(st.sampled_from(PROGRAMS))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(characters)))
        end = start + draw(st.sampled_from([0, 1, 5, 60]))
        written = draw(st.sampled_from(["", *PIECES]))
        characters = characters[:start] + written + characters[end:]
    return characters, content_type


documents = st.one_of(
    st.tuples(st.text(st.characters()), content_types),
    st.tuples(pieces, content_types),
    mutated_programs(),
    mutated_programs(),
)


def checked(characters: str, content_type: str) -> Structure:
    """The structure, if its blocks are ordered whole lines that cover all but blank lines."""
    text = Text(characters)
    structure = parse(text, content_type)
    line_edges = {*text.line_starts, len(characters)}
    done = 0
    for block in structure.blocks:
        assert done <= block.start < block.end <= len(characters)
        assert {block.start, block.end} <= line_edges
        assert characters[block.start : block.end].strip()
        assert characters[done : block.start].strip() == ""
        done = block.end
    assert characters[done:].strip() == ""
    return structure


@given(documents)
@settings(max_examples=600, deadline=None)
def test_blocks_are_ordered_whole_lines_that_cover_all_but_blank_lines(
    document: tuple[str, str],
) -> None:
    structure = checked(*document)
    assert structure.parser == ("plain" if structure.fallback else "code")
    # Of the reasons for plain text, none is an exception of the parser's.
    assert "Error:" not in structure.fallback


@given(documents)
@settings(max_examples=200, deadline=None)
def test_imports_are_ordered_ranges_of_the_text(document: tuple[str, str]) -> None:
    done = 0
    for span in parse(Text(document[0]), document[1]).imports:
        assert done <= span.start <= span.end <= len(document[0])
        done = span.end


@given(mutated_programs())
@settings(max_examples=200, deadline=None)
def test_a_definition_opens_its_path_and_paths_are_words(document: tuple[str, str]) -> None:
    opened: set[tuple[str, ...]] = {()}
    for block in parse(Text(document[0]), document[1]).blocks:
        if block.kind is BlockKind.DEFINITION:
            opened.add(block.heading_path)
        assert block.heading_path in opened
        assert all(title and title == " ".join(title.split()) for title in block.heading_path)


@given(mutated_programs())
@settings(max_examples=150, deadline=None)
def test_line_ends_do_not_change_what_the_blocks_are(document: tuple[str, str]) -> None:
    folded = document[0].replace("\r\n", "\n").replace("\r", "\n")
    windows = folded.replace("\n", "\r\n")
    one, other = (parse(Text(characters), document[1]) for characters in (folded, windows))
    assert [(b.kind, b.heading_path, folded[b.start : b.end]) for b in one.blocks] == [
        (b.kind, b.heading_path, windows[b.start : b.end].replace("\r\n", "\n"))
        for b in other.blocks
    ]


@given(mutated_programs())
@settings(max_examples=100, deadline=None)
def test_the_same_text_has_the_same_structure(document: tuple[str, str]) -> None:
    assert parse(Text(document[0]), document[1]) == parse(Text(document[0]), document[1])
