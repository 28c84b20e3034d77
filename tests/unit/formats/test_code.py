import sys
from collections.abc import Iterator
from itertools import pairwise

import pytest

from variorum.formats import parse, parser_of
from variorum.formats.code import CONTENT_TYPES
from variorum.formats.code.grammars import JAVASCRIPT, language_of
from variorum.formats.code.outline import MAX_NESTING, outline_of
from variorum.formats.code.source import Source
from variorum.formats.code.trees import MAX_BYTES, Meter, NotParsedError, tree_of
from variorum.records.text import Block, BlockKind, Structure, Text
from variorum.sources.naming import KNOWN, content_type_of

K = BlockKind
PYTHON = "text/x-python"
MINIFIED = (
    "function a(b,c){if(b){return c+1}else{var d=[1,2,'x'];return d.map(function(e){return e*2})}};"
)


def structure_of(source: str, content_type: str = PYTHON) -> Structure:
    structure = parse(Text(source), content_type)
    assert structure.fallback == ""
    return structure


def pieces(source: str, content_type: str = PYTHON) -> list[tuple[BlockKind, str]]:
    blocks = structure_of(source, content_type).blocks
    return [(block.kind, source[block.start : block.end]) for block in blocks]


def holding(source: str, word: str, content_type: str = PYTHON) -> Block:
    place = source.index(word)
    blocks = structure_of(source, content_type).blocks
    return next(block for block in blocks if block.start <= place < block.end)


def test_offsets_are_characters_not_bytes() -> None:
    """COD-01."""
    source = '# ünïcödé ✅ 漢字\ndef f():\n    return "é"\n\ndef g():\n    return 2\n'
    first, second = structure_of(source).blocks
    assert second.start == source.index("def g")
    assert (first.start, first.end) == (0, source.index("\n\ndef g") + 1)
    assert [first.heading_path, second.heading_path] == [("def f",), ("def g",)]


def test_imports_comments_and_decorators_belong_to_a_block() -> None:
    """COD-02."""
    source = "import os\n\n# helper-99\n@cache\ndef a():\n    pass\n\n# tail-note\n"
    assert pieces(source) == [
        (K.OTHER, "import os\n"),
        (K.DEFINITION, "# helper-99\n@cache\ndef a():\n    pass\n"),
        (K.OTHER, "# tail-note\n"),
    ]
    assert [source[s.start : s.end] for s in structure_of(source).imports] == ["import os"]


SHELL = '#!/bin/sh\nset -e\nfor f in *.txt; do\n  cat "$f" | wc\ndone\nif [ -x a ]; then\n  b\nfi\n'


@pytest.mark.parametrize("source", ["def f(:\n  xyzzy-13\n", SHELL])
def test_what_is_no_program_is_read_as_plain_text_and_says_so(source: str) -> None:
    """COD-03."""
    structure = parse(Text(source), PYTHON)
    assert structure.parser == "plain"
    assert structure.fallback.startswith("not parsed as Python: errors on ")
    assert structure.blocks == parse(Text(source), "text/plain").blocks


def test_a_language_without_a_grammar_is_read_as_plain_text_and_says_so() -> None:
    """COD-03."""
    content_type = content_type_of(b"b.zig")
    assert parse(Text("const a = 1;\n"), content_type).fallback == "no parser for text/x-zig"


def test_an_error_in_one_place_leaves_the_other_definitions() -> None:
    good = "def {}():\n    return 1\n\n"
    source = good.format("a") + "x = = 2\n\n" + good.format("b")
    assert [block.heading_path for block in structure_of(source).blocks] == [
        ("def a",),
        (),
        ("def b",),
    ]
    assert holding(source, "x = =").kind is K.CODE


def test_a_huge_literal_is_one_block() -> None:
    """LIM-08, the structure: the chunker cuts it by size."""
    rows = "".join(f"    'key {n}': ['{n}', ({n})],\n\n" for n in range(700))
    source = f"import os\n\nTABLE = {{\n{rows}}}\n\nx = 1\n"
    assert len(source) > 20_000
    block = holding(source, "TABLE")
    assert source[block.start : block.end] == f"TABLE = {{\n{rows}}}\n"


def test_minified_code_takes_work_in_proportion_to_its_length() -> None:
    """LIM-09."""
    counts = []
    for megabytes in (1, 2):
        characters = MINIFIED * (megabytes * 1_000_000 // len(MINIFIED))
        source = Source(Text(characters))
        meter = Meter(len(source.content))
        language = language_of(JAVASCRIPT.package, JAVASCRIPT.entry)
        outline = outline_of(tree_of(source.content, language, meter), source, JAVASCRIPT)
        assert meter.reports * 4 < meter.limit
        counts.append((meter.reports, outline.visited))
    assert all(twice < 2.2 * once for once, twice in zip(*counts, strict=True))
    assert counts[0][1] < 30_000


def test_minified_code_is_one_block_without_a_title() -> None:
    """LIM-09."""
    source = MINIFIED * 2_000
    assert structure_of(source, "text/javascript").blocks == (Block(0, len(source), K.CODE),)


def test_a_class_is_its_head_and_then_its_members() -> None:
    source = (
        'class Ledger:\n    """All\n\n    entries."""\n\n    year = 1\n\n'
        "    # lead\n    def post(self): ...\n\n    class Closed:\n        pass\n"
    )
    blocks = structure_of(source).blocks
    assert [(b.kind, b.heading_path) for b in blocks] == [
        (K.DEFINITION, ("class Ledger",)),
        (K.CODE, ("class Ledger",)),
        (K.DEFINITION, ("class Ledger", "def post")),
        (K.DEFINITION, ("class Ledger", "class Closed")),
    ]
    assert source[blocks[0].start : blocks[0].end].endswith('entries."""\n')
    assert source[blocks[2].start : blocks[2].end].startswith("    # lead\n")


def test_a_long_definition_is_cut_at_its_outermost_statements() -> None:
    loop = "    for a in b:\n        one(a)\n        two(a)\n"
    text = '    text = """' + "x\n\n" * 200 + '"""\n'
    listing = "    listing = [\n" + "        1,\n\n" * 100 + "    ]\n"
    source = "def f():\n" + loop + text + listing + "    # last\n    return 1\n"
    found = pieces(source)
    assert [kind for kind, _ in found] == [K.DEFINITION, K.CODE, K.CODE, K.CODE]
    assert [piece for _, piece in found] == [
        "def f():\n" + loop,
        text,
        listing,
        "    # last\n    return 1\n",
    ]
    assert {b.heading_path for b in structure_of(source).blocks} == {("def f",)}


def test_a_long_definition_is_cut_at_blank_lines_before_other_places() -> None:
    part = "".join(f"    call({n})\n" for n in range(40))
    source = "def f():\n" + "\n".join([part] * 4)
    assert [piece for _, piece in pieces(source)] == ["def f():\n" + part, part, part, part]


def test_an_edit_moves_no_cut_elsewhere() -> None:
    statements = [f"    call_number({n}, with_some_argument)\n" for n in range(60)]
    before = "def f():\n" + "".join(statements)
    after = before.replace("(30,", "(a_longer_argument_than_before, 30,")
    old, new = ({piece for _, piece in pieces(source)} for source in (before, after))
    assert len(old - new) == len(new - old) == 1


def test_rows_that_only_close_belong_to_the_block_before() -> None:
    source = "class A {\n  f() {\n    g();\n  }\n\n} // end of A\n\ng();\n"
    assert [piece for _, piece in pieces(source, "text/javascript")] == [
        "class A {\n",
        "  f() {\n    g();\n  }\n\n} // end of A\n",
        "g();\n",
    ]


def test_a_header_with_the_suffix_of_c_may_be_c_plus_plus() -> None:
    source = "namespace a {\nclass B : public C {\npublic:\n  int d() { return 1; }\n};\n}\n"
    block = holding(source, "int d", "text/x-c")
    assert block.heading_path == ("namespace a", "class B", "d()")
    assert source[block.start : block.end].startswith("public:\n")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_do_not_change_the_blocks(end: str) -> None:
    source = "import a\nimport b, \\\n    c\n\ndef f():\n    '''x\n\n    y'''\n    return 1\n"
    other = source.replace("\n", end)
    assert [(kind, piece.replace(end, "\n")) for kind, piece in pieces(other)] == pieces(source)
    spans = structure_of(other).imports
    assert [other[s.start : s.end] for s in spans] == ["import a", f"import b, \\{end}    c"]


def test_nul_and_lone_surrogates_are_characters_like_others() -> None:
    source = 'A = "\0\ud800é"\nimport a; import b\n\ndef f():\n    return "\0"\n'
    structure = structure_of(source)
    assert source[structure.blocks[-1].start :].startswith("def f")
    assert [source[s.start : s.end] for s in structure.imports] == ["import a", "import b"]


def test_many_imports_on_one_line_are_found_in_order() -> None:
    source = 'import é from"é";' * 3_000
    spans = structure_of(source, "text/javascript").imports
    assert {source[s.start : s.end] for s in spans} == {'import é from"é";'}
    assert all(one.end == other.start for one, other in pairwise(spans))


def nested(levels: int, opening: str) -> str:
    return "".join("  " * n + opening + "\n" for n in range(levels)) + "  " * levels + "pass\n"


@pytest.mark.parametrize("opening", ["def f():", "if x:"])
def test_nesting_past_the_limit_is_plain_text_and_says_so(opening: str) -> None:
    too_deep = parse(Text(nested(MAX_NESTING + 1, opening)), PYTHON)
    assert too_deep.parser == "plain"
    assert f"nested over {MAX_NESTING} deep" in too_deep.fallback
    assert structure_of(nested(MAX_NESTING - 1, opening)).parser == "code"


def test_long_chains_and_brackets_are_not_nesting() -> None:
    chain = "if (a) {\n  b();\n}" + " else if (c) {\n  d();\n}" * 2_000 + "\n"
    assert structure_of(chain, "text/javascript").parser == "code"
    brackets = "x = " + "(\n" * 20_000 + "1" + "\n)" * 20_000 + ";\n"
    assert len(structure_of(brackets, "text/javascript").blocks) == 1


def test_a_file_over_the_size_limit_is_plain_text_and_says_so() -> None:
    structure = parse(Text("x = 1\n" * (MAX_BYTES // 6 + 1)), PYTHON)
    assert structure.fallback == "not parsed as Python: larger than 4,000,000 bytes"


def test_the_parser_stops_at_its_limit_of_steps() -> None:
    meter = Meter(0)
    meter.limit = 3
    language = language_of(JAVASCRIPT.package, JAVASCRIPT.entry)
    with pytest.raises(NotParsedError, match="over 300 steps"):
        tree_of(MINIFIED.encode() * 100, language, meter)


@pytest.fixture(params=["tree_sitter", "tree_sitter_python"])
def absent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, request.param, None)
    language_of.cache_clear()
    yield
    language_of.cache_clear()


@pytest.mark.usefixtures("absent")
def test_without_its_grammar_a_program_is_plain_text_and_says_what_to_install() -> None:
    structure = parse(Text("def f():\n    pass\n"), PYTHON)
    assert structure.parser == "plain"
    assert structure.fallback == "not parsed as Python: pip install tree-sitter tree-sitter-python"


def test_blank_texts_have_no_blocks() -> None:
    assert [structure_of(source).blocks for source in ("", "\n", " \r\n\t")] == [(), (), ()]


def test_every_language_has_suffixes_and_a_version() -> None:
    names = [b"a.PY", b"a.jsx", b"a.ts", b"a.tsx", b"a.go", b"a.rs", b"a.java", b"a.h", b"a.hpp"]
    found = [content_type_of(name) for name in names]
    assert set(found) == CONTENT_TYPES
    assert CONTENT_TYPES < KNOWN
    assert all(parse(Text(""), content_type).parser == "code" for content_type in found)
    assert "code/1 (tree-sitter " in parser_of("text/x-go")
    assert "tree-sitter-rust " in parser_of("text/x-rust")
    assert "tree-sitter-rust " not in parser_of("text/x-go")
