import pytest

from variorum.formats import parse
from variorum.formats.html import MAX_ASIDE
from variorum.records.text import Block, BlockKind, Structure, Text

K = BlockKind


def structure_of(characters: str) -> Structure:
    return parse(Text(characters), "text/html")


def kinds(characters: str) -> list[tuple[BlockKind, str]]:
    blocks = structure_of(characters).blocks
    return [(block.kind, characters[block.start : block.end]) for block in blocks]


def holding(characters: str, word: str) -> Block:
    place = characters.index(word)
    return next(b for b in structure_of(characters).blocks if b.start <= place < b.end)


def test_nesting_repeats_no_word() -> None:
    """HTM-01."""
    source = "<h1>Ferry</h1><div><p>Boats <b>leave</b></p></div>"
    assert kinds(source) == [
        (K.HEADING, "<h1>Ferry</h1>"),
        (K.PARAGRAPH, "<div><p>Boats <b>leave</b></p></div>"),
    ]


def test_ranges_are_places_in_the_source_entities_and_all() -> None:
    """HTM-02."""
    source = "<p>Fish &amp; chips caf&eacute; end</p>"
    assert kinds(source) == [(K.PARAGRAPH, source)]
    assert kinds("<p>a</p>" + source)[1] == (K.PARAGRAPH, source)


def test_equal_headings_head_two_sections() -> None:
    """HTM-03."""
    source = "<h2>Notes</h2><p>first-11</p><h2>Notes</h2><p>second-22</p>"
    first, second = holding(source, "first-11"), holding(source, "second-22")
    assert first.heading_path == second.heading_path == ("Notes",)
    assert first.end < second.start


def test_a_parent_heading_stays_in_the_path() -> None:
    """HTM-04."""
    source = "<h1>Bees</h1><p>i</p><h2>Queens</h2><p>s</p><h1>Ants</h1><p>z</p>"
    paths = [b.heading_path for b in structure_of(source).blocks if not b.depth]
    assert paths == [("Bees",), ("Bees", "Queens"), ("Ants",)]


def test_code_and_tables_in_containers_stay_in_place() -> None:
    """HTM-05."""
    source = (
        "<section><p>before <code>x=1</code> after</p>"
        "<table><tr><td>c1</td><td>c2</td></tr></table><p>tail</p></section>"
    )
    assert kinds(source) == [
        (K.PARAGRAPH, "<section><p>before <code>x=1</code> after</p>"),
        (K.ROW, "<table><tr><td>c1</td><td>c2</td></tr></table>"),
        (K.PARAGRAPH, "<p>tail</p></section>"),
    ]


def test_every_kind_of_block_is_told_apart() -> None:
    source = (
        "<!DOCTYPE html>\r\n<html><head><title>T</title></head>\r\n<body>loose\r\n<p>para<p>next"
        "<ul><li>a<ol><li>b</ol>c<li><p>d</p></ul><pre>\n x\n\n <b>y</b></pre>"
        "<blockquote><p>q</p></blockquote><dl><dt>t<dd>d</dl><script>s</script>end</body></html>\n"
    )
    assert kinds(source) == [
        (K.OTHER, "<!DOCTYPE html>\r\n<html><head><title>T</title></head>"),
        (K.PARAGRAPH, "<body>loose"),
        (K.PARAGRAPH, "<p>para"),
        (K.PARAGRAPH, "<p>next"),
        (K.LIST_ITEM, "<ul><li>a"),
        (K.LIST_ITEM, "<ol><li>b</ol>"),
        (K.LIST_ITEM, "c"),
        (K.LIST_ITEM, "<li><p>d</p></ul>"),
        (K.CODE, "<pre>\n x\n\n <b>y</b></pre>"),
        (K.PARAGRAPH, "<blockquote><p>q</p></blockquote>"),
        (K.DEFINITION, "<dl><dt>t"),
        (K.DEFINITION, "<dd>d</dl>"),
        (K.OTHER, "<script>s</script>"),
        (K.PARAGRAPH, "end</body></html>"),
    ]


def test_every_row_repeats_the_head_of_its_table() -> None:
    head = "<thead><tr><th>a</th></tr><tr><th>unit</th></tr></thead>"
    source = (
        f"<table><caption>Cap</caption>{head}<tbody><tr><td>1</td></tr>"
        "<tr><th>total</th></tr></tbody></table><table><tr><td>2</table>"
    )
    assert kinds(source) == [
        (K.PARAGRAPH, "<table><caption>Cap</caption>"),
        (K.TABLE, head),
        (K.ROW, "<tbody><tr><td>1</td></tr>"),
        (K.ROW, "<tr><th>total</th></tr></tbody></table>"),
        (K.ROW, "<table><tr><td>2</table>"),
    ]
    repeats = [b.repeats and source[slice(*b.repeats)] for b in structure_of(source).blocks]
    assert repeats == [None, None, head, head, None]


def test_first_rows_of_header_cells_are_the_head() -> None:
    source = "<table><tr><th>a<th>b<tr><th>c<th>d<tr><th>r<td>1</table>"
    assert kinds(source) == [
        (K.TABLE, "<table><tr><th>a<th>b<tr><th>c<th>d"),
        (K.ROW, "<tr><th>r<td>1</table>"),
    ]


def test_a_row_is_one_block_whatever_its_cells_hold() -> None:
    row = (
        "<tr><td><p>a</p><style>x{}</style><ul><li>b</ul><!-- c --></td><td><pre>d</pre></td></tr>"
    )
    assert kinds(f"<table>{row}</table>") == [(K.ROW, f"<table>{row}</table>")]


@pytest.mark.parametrize(
    "table",
    [
        "<table><tr><td><h2>H</h2></td><td>b</td></tr></table>",
        "<table><tr><td><table><tr><td>a</table></td><td>b</td></tr></table>",
        "<table role=presentation><tr><td>a</td><td>b</td></tr></table>",
    ],
)
def test_a_table_for_layout_is_no_row(table: str) -> None:
    assert holding(table, "b</td>").kind is K.PARAGRAPH


def test_headings_in_a_scope_name_that_scope_only() -> None:
    source = "<h1>A</h1><aside><h2>Related</h2><p>in</p></aside><header><h2>B</h2></header><p>out"
    assert holding(source, "in</p>").heading_path == ("A", "Related")
    assert holding(source, "out").heading_path == ("A", "B")


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("<h1>a &amp; <em>b</em>\n c&nbsp;</h1>", "a & b c"),
        ('<h2>Install<a class="headerlink" href="#i">¶</a></h2>', "Install"),
        ('<h3><img alt="Logo" src=x> us</h3>', "Logo us"),
        ("<h4>one<br>two<script>no()</script></h4>", "one two"),
        ("<h5>标题 😀</h5>", "标题 😀"),
        ("<h6></h6>", None),
    ],
)
def test_a_title_is_the_words_a_reader_sees(heading: str, title: str | None) -> None:
    assert holding(heading + "<p>x", "<p>x").heading_path == (() if title is None else (title,))


def test_what_no_reader_sees_is_other_between_pieces_and_stays_inside_them() -> None:
    assert kinds("<p>a <!-- c -->b</p><!-- d --><style>p{}</style><p>e") == [
        (K.PARAGRAPH, "<p>a <!-- c -->b</p>"),
        (K.OTHER, "<!-- d --><style>p{}</style>"),
        (K.PARAGRAPH, "<p>e"),
    ]
    long = f"<script>{'x' * MAX_ASIDE}</script>"
    assert kinds(f"<p>a {long} b") == [(K.PARAGRAPH, "<p>a"), (K.OTHER, long), (K.PARAGRAPH, "b")]


def test_a_drawing_is_read_only_where_it_holds_text() -> None:
    assert kinds("<p>a</p><svg><path d=x /></svg><p>b")[1] == (K.OTHER, "<svg><path d=x /></svg>")
    assert kinds("<p>a</p><svg><text>t</text></svg>")[1] == (
        K.PARAGRAPH,
        "<svg><text>t</text></svg>",
    )


def test_the_page_describes_itself() -> None:
    source = (
        '<html lang="zh-CN"><title>A &lt;b&gt;\n c</title><meta name=Description content="d  e">'
        "<meta name=viewport content=x><meta name=author><body><svg><title>no</title></svg>"
    )
    assert structure_of(source).metadata == {
        "lang": "zh-CN",
        "title": "A <b> c",
        "description": "d e",
    }


@pytest.mark.parametrize(
    "source",
    [
        *("<div>" * 20_000 + "x", "<b>" * 5000 + "<p>x" * 5000, "<ul><li>" * 5000 + "x"),
        *("<table><tr><td>" * 3000 + "x", "<h1><div>" * 5000 + "x", "<svg>" * 5000 + "x"),
        *("<a><h2>" * 5000 + "x", "</p>" * 9000 + "x", "<!--" * 9000, "<table>" + "a<tr>" * 5000),
    ],
)
def test_nesting_bombs_are_read_like_any_page(source: str) -> None:
    structure = structure_of(source)
    assert structure.fallback == ""
    assert structure.blocks[-1].end == len(source)


def test_a_second_byte_order_mark_shifts_nothing() -> None:
    assert kinds("\ufeff<p>a</p><p>b</p>")[-1] == (K.PARAGRAPH, "<p>b</p>")
