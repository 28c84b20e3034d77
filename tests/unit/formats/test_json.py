import json

import pytest

from variorum.formats import parse
from variorum.formats.json_blocks import MAX_WHOLE
from variorum.formats.json_scan import MAX_NESTING, JsonError, decoded_string, scan
from variorum.records.text import BlockKind, Structure, Text

K = BlockKind


def structure_of(characters: str, kind: str = "json") -> Structure:
    return parse(Text(characters), f"application/{kind}")


def told(characters: str, kind: str = "json") -> list[tuple[BlockKind, tuple[str, ...], str]]:
    blocks = structure_of(characters, kind).blocks
    return [(b.kind, b.heading_path, characters[b.start : b.end]) for b in blocks]


def test_members_of_the_outermost_value_are_blocks() -> None:
    source = '{\n "name": "x",\n "deps": {"a": 1, "b": [2]},\n "none": []\n}\n'
    assert told(source) == [
        (K.CODE, (), '{\n "name": "x",'),
        (K.CODE, ("deps",), '"deps": {"a": 1, "b": [2]},'),
        (K.CODE, (), '"none": []\n}'),
    ]


def test_a_long_string_is_prose_under_its_key() -> None:
    prose = "A sentence. " * 30
    assert told(json.dumps({"id": 1, "text": prose}))[1][:2] == (K.PARAGRAPH, ("text",))


def test_long_values_are_split_and_their_keys_are_the_path() -> None:
    entries = {f"k{n}": "v" * 100 for n in range(MAX_WHOLE // 100)}
    source = json.dumps({"a": {"b": entries}, "list": [{"title": "One", **entries}, {"c": 2}]})
    paths = {path: text for _, path, text in told(source)}
    assert set(paths) == {("a", "b"), ("list", "One"), ("list",)}
    assert told(source)[0][2].startswith('{"a": {"b": {"k0": "vv')
    assert len(told(source)) == 2 * len(entries) + 2


def test_an_item_is_never_named_by_its_index() -> None:
    assert {path for _, path, _ in told('[{"a": 1}, [2], "x", null]')} == {()}


@pytest.mark.parametrize("source", ["7", '"x"', "{}", " [ ] ", "true"])
def test_a_bare_value_is_one_block(source: str) -> None:
    assert told(source) == [(K.CODE, (), source.strip())]


@pytest.mark.parametrize(
    "source",
    [
        *("{'a': 1}", '{"a": 1,}', "[1, 2", "[1 2]", '{"a" 1}', '{"a": 1}}', "// c\n1", "NaN"),
        *("01", "1.", '"a\nb"', '"\\x"', "]", '{"a": 1, 2}', "[1,]", "{,}", "1 2", "{1: 2}"),
        "[" * (MAX_NESTING + 1),
    ],
)
def test_what_is_not_json_is_plain_text_and_says_so(source: str) -> None:
    structure = structure_of(source)
    assert structure.parser == "plain"
    assert structure.fallback.startswith("not parsed as JSON: ")


def test_the_line_of_the_fault_is_named() -> None:
    with pytest.raises(JsonError, match="line 3"):
        scan('{\n"a": 1,\n!\n}')


def test_a_decoded_string_knows_where_each_character_is_written() -> None:
    source = '["a\\n\\ud83d\\ude00b\\u00e9\\\\c\\ud83dx"]'
    string = decoded_string(source, scan(source).members[0].value)
    assert string.characters == "a\n😀bé\\c\ufffdx"
    places = [string.place(offset) for offset in range(1, len(string.characters))]
    written = [source[at : at + 2] for at in places]
    assert written == ["\\n", "\\u", "b\\", "\\u", "\\\\", "c\\", "\\u", 'x"']


def test_every_line_of_json_lines_is_a_row() -> None:
    source = '{"a": 1}\r\n\n[2]\n3'
    assert told(source, "x-ndjson") == [
        (K.ROW, (), '{"a": 1}\r\n'),
        (K.ROW, (), "[2]\n"),
        (K.ROW, (), "3"),
    ]
    assert structure_of('{"a": 1}\n{"b": }\n', "x-ndjson").fallback.endswith("at line 2")
