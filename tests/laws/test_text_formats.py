"""Laws of every format: total on any text, nothing lost, what repeats is a head before it."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from variorum.formats import parse
from variorum.formats.cells import cell_range
from variorum.formats.json_scan import JsonError, Value, scan
from variorum.records.text import Block, BlockKind, Span, Text

K = BlockKind
COMMON = [
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "\t",
    "word",
    "中文",
    "😀",
    "é",
    "\0",
    "\u00a0",
    "\ufeff",
]
HTML = [
    *("<p>", "</p>", "<div>", "</div>", "<b>", "</b>", "<a href=x>", "</a>", "<br>", "<img alt=x>"),
    *("<h1>", "</h1>", "<h2>", "</h2>", "<ul>", "<li>", "</li>", "</ul>", "<dl><dt>", "<dd>"),
    *("<table>", "<thead>", "<tr>", "<th>", "<td>", "</tr>", "</table>", "<caption>", "</thead>"),
    *("<pre>", "</pre>", "<script>", "</script>", "<style>", "</style>", "<!--", "-->", "<svg>"),
    *("</svg>", "<title>", "</title>", "<head>", "<body>", "<html lang=x>", "<!DOCTYPE html>"),
    *("<blockquote>", "</blockquote>", "<select>", "<template>", "</template>", "&amp;", "&eacute"),
    *(
        "<",
        ">",
        "&",
        "</",
        "<?x?>",
        "<![CDATA[",
        "]]>",
        "<math>",
        "<p",
        '="',
        "<aside>",
        "</aside>",
    ),
]
REST = [
    *("=====", "-----", "~~", "===", "== ==", "a  b", "- ", "* ", "1. ", "(a) ", "#. ", "A. "),
    *(":a: b", ":b:", ".. note::", ".. code-block:: x", ".. csv-table:: t", ".. list-table::"),
    *("   :header-rows: 1", '   :header: "a"', "   * - a", "     - b", "   ", "    ", ".. ", "::"),
    *("+--+--+", "+==+==+", "|a |b |", "|  |b |", ">>> x", "| x", "-a  b", "--long=X  y", "__ x"),
    *(".. _t: u", ".. |s| image:: x", ".. [1] n", "`a`_", "*", "text::", "\\", ".. raw:: html"),
]
JSON = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"\\n"',
    '"',
    "1",
    "-",
    "true",
    "null",
    '{"a": 1}',
    "\\",
]
NOTEBOOK = [
    *('{"cells": [', "]}", '{"cell_type": "markdown", "source": ', "}", ",", '["# a\\n", "b"]'),
    *('"# x\\n\\n|a|\\n|-|\\n|1|"', '{"cell_type": "code", "source": "x\\ny"}', '"metadata": {}'),
]
DELIMITED = [",", ";", "|", '"', '""', "a", "1", "sep=;", "b,c", '"x\ny"', "a,b,c\n1,2,3\n4,5,6\n"]
CAPTIONS = [
    *("WEBVTT", "00:01.000 --> 00:02.000", "00:00:01,000 --> 00:00:02,000", "NOTE x", "1", "2"),
    *("<v Ada>", "<b>", "</b>", "ADA: x", "BO: y", "Kind: captions", "-->", "STYLE", "{\\an8}"),
]
TURNS = [
    "Ada: x\n\n",
    "Bo: y\n",
    "[00:12] Ada: z\n\n",
    "张三：你好\n",
    "**Ada:** x\n\n",
    "x: y",
    "# H\n\n",
]
PIECES = {
    "text/html": HTML,
    "text/x-rst": REST,
    "application/json": JSON,
    "application/x-ndjson": JSON,
    "application/x-ipynb+json": NOTEBOOK,
    "text/csv": DELIMITED,
    "text/tab-separated-values": DELIMITED,
    "text/vtt": CAPTIONS,
    "application/x-subrip": CAPTIONS,
    "text/plain": TURNS,
    "text/markdown": [*TURNS, "|a|\n|-|\n|1|\n", "> ", "- "],
}
OPENINGS = {"text/vtt": "WEBVTT\n", "application/x-ipynb+json": '{"cells": ['}
WHOLE_LINES = PIECES.keys() - {"text/html", "application/json", "application/x-ipynb+json"}


@st.composite
def documents(draw: st.DrawFn, content_type: str) -> str:
    pieces = st.sampled_from([*PIECES[content_type], *COMMON])
    built = st.lists(pieces, max_size=40).map("".join)
    opening = OPENINGS.get(content_type, "")
    chosen: str = draw(
        st.one_of(
            built,
            built.map(lambda body: opening + body),
            st.lists(pieces, max_size=30).map("\n".join),
            st.text(st.characters(exclude_categories=["Cs"])),
        )
    )
    return chosen


@pytest.mark.parametrize("content_type", PIECES)
@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_blocks_cover_all_that_is_not_blank(content_type: str, data: st.DataObject) -> None:
    characters = data.draw(documents(content_type))
    text = Text(characters)
    structure = parse(text, content_type)
    line_edges = {*text.line_starts, len(characters)}
    done = 0
    for block in structure.blocks:
        assert done <= block.start < block.end <= len(characters)
        assert characters[done : block.start].strip() == ""
        # A no-break space alone is a paragraph of Markdown.
        assert content_type == "text/markdown" or characters[block.start : block.end].strip()
        if content_type in WHOLE_LINES:
            assert {block.start, block.end} <= line_edges
        done = block.end
    assert characters[done:].strip() == ""
    assert all(isinstance(value, str | int | float | bool) for value in structure.metadata.values())
    "".join(f"{key}{value}" for key, value in structure.metadata.items()).encode()


@pytest.mark.parametrize("content_type", PIECES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_what_repeats_is_a_head_before_it(content_type: str, data: st.DataObject) -> None:
    heads: set[Span] = set()
    for block in parse(Text(data.draw(documents(content_type))), content_type).blocks:
        if block.kind is K.TABLE:
            heads.add(Span(block.start, block.end))
        assert block.repeats is None or (block.kind is K.ROW and block.repeats in heads)
        assert bool(block.depth) == (block.kind is K.HEADING)
        assert all(title and title == " ".join(title.split()) for title in block.heading_path)


words = st.from_regex(r"[a-z]{3,6}[0-9]{3}", fullmatch=True)
INLINE = [
    "<b>{}</b>",
    "<a href='#'>{}</a>",
    "{} &amp; co",
    "<!-- {0}x -->{0}",
    "<span><i>{}</i></span>",
]
FLOW = {
    "<p>{}</p>": K.PARAGRAPH,
    "<p>{}": K.PARAGRAPH,
    "<div>{}</div>": K.PARAGRAPH,
    "<h2>{}</h2>": K.HEADING,
    "<pre>{}</pre>": K.CODE,
    "<ul><li>{}</li></ul>": K.LIST_ITEM,
    "<dl><dd>{}</dl>": K.DEFINITION,
    "<table><tr><td>{}</td></tr></table>": K.ROW,
    "<table><tr><th>{}</th></tr></table>": K.TABLE,
}
WRAPPERS = [
    "{}",
    "<section>{}</section>",
    "<main>\n{}\n</main>",
    "<script>s</script>{}",
    "{}<!-- c -->",
]


@given(
    st.lists(
        st.tuples(
            words,
            st.sampled_from(INLINE),
            st.sampled_from(sorted(FLOW)),
            st.sampled_from(WRAPPERS),
        ),
        max_size=8,
        unique_by=lambda item: item[0],
    ),
    st.sampled_from(["", "\n", "\r\n"]),
)
@settings(max_examples=150, deadline=None)
def test_every_word_of_a_page_is_in_a_block_of_its_kind_and_its_own(
    items: list[tuple[str, str, str, str]], between: str
) -> None:
    source = between.join(
        wrapper.format(flow.format(inline.format(word))) for word, inline, flow, wrapper in items
    )
    blocks = [b for b in parse(Text(source), "text/html").blocks if b.kind is not K.OTHER]
    assert [b.kind for b in blocks] == [FLOW[flow] for _, _, flow, _ in items]
    for (word, *_), block in zip(items, blocks, strict=True):
        assert word in source[block.start : block.end]


@given(st.lists(st.sampled_from([*HTML, *COMMON]), max_size=40).map("".join))
@settings(max_examples=100, deadline=None)
def test_what_a_script_says_never_shares_a_block_with_a_heading_of_its_own(body: str) -> None:
    source = "<p>before</p><script>SCRIPT</script><h1>after</h1>" + body
    blocks = parse(Text(source), "text/html").blocks
    place = source.index("SCRIPT")
    holding = next(b for b in blocks if b.start <= place < b.end)
    assert holding.kind is K.OTHER
    assert "after" not in source[holding.start : holding.end]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


def read_back(source: str, value: Value) -> object:
    """A scanned value as Python's own decoder reads its range, containers by their members."""
    if value.kind == "[":
        return [read_back(source, member.value) for member in value.members]
    if value.kind == "{":
        return {member.key: read_back(source, member.value) for member in value.members}
    return json.loads(source[value.start : value.end])


@given(values, st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_scanned_json_is_what_the_standard_library_reads(
    value: object, indent: int | None, ascii_only: bool
) -> None:
    source = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert read_back(source, scan(source)) == value


@given(
    st.lists(st.sampled_from([*JSON, " ", "\n", "\u00a0", "0", ".5", "e1"]), max_size=12).map(
        "".join
    )
)
@settings(max_examples=300, deadline=None)
def test_what_is_json_is_what_the_standard_library_takes_for_it(source: str) -> None:
    try:
        json.loads(source)
        expected = True
    except ValueError:
        expected = False
    try:
        scan(source)
        found = True
    except JsonError:
        found = False
    assert found == expected


cells = st.text(st.sampled_from('ab1,;"\n |'), max_size=5)


@given(st.lists(st.lists(cells, min_size=2, max_size=4), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_records_are_those_of_the_standard_library(rows: list[list[str]]) -> None:
    rows = [[*(cell.strip() for cell in row), "end"] for row in rows]
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    source = "sep=,\r\n" + written.getvalue()
    blocks = parse(Text(source), "text/csv").blocks[1:]
    read = [next(csv.reader(io.StringIO(source[b.start : b.end], newline=""))) for b in blocks]
    assert read == rows


@given(st.integers(1, 12), st.data())
@settings(max_examples=60, deadline=None)
def test_a_range_of_rows_is_named_by_its_first_and_last(count: int, data: st.DataObject) -> None:
    source = "text\n\n|a|\n|-|\n" + "".join(f"|{n}|\n" for n in range(count))
    structure = parse(Text(source), "text/markdown")
    rows: list[Block] = [b for b in structure.blocks if b.kind is K.ROW]
    first = data.draw(st.integers(0, count - 1))
    last = data.draw(st.integers(first, count - 1))
    span = Span(rows[first].start + 1, rows[last].end)
    assert cell_range(structure, span) == (0, first + 1, last + 1, False)
