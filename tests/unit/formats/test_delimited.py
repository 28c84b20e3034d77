import pytest

from variorum.formats import parse
from variorum.records.text import BlockKind, Structure, Text

K = BlockKind


def structure_of(characters: str) -> Structure:
    return parse(Text(characters), "text/csv")


def kinds(characters: str) -> list[tuple[BlockKind, str]]:
    blocks = structure_of(characters).blocks
    return [(block.kind, characters[block.start : block.end]) for block in blocks]


def test_the_first_record_is_the_head_that_every_row_repeats() -> None:
    source = "id,name\r\n1,Ada\r\n\r\n2,Bo"
    assert kinds(source) == [(K.TABLE, "id,name\r\n"), (K.ROW, "1,Ada\r\n"), (K.ROW, "2,Bo")]
    assert [b.repeats for b in structure_of(source).blocks] == [None, (0, 9), (0, 9)]


def test_a_quoted_cell_may_hold_line_ends_quotes_and_delimiters() -> None:
    source = 'id,note\n1,"a, ""b""\n\nc"\n2,x\n'
    assert kinds(source)[1:] == [(K.ROW, '1,"a, ""b""\n\nc"\n'), (K.ROW, "2,x\n")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    # Commas as decimal marks come on every line too.
    source = f'name{delimiter}price\n"a{delimiter}\nb"{delimiter}1,50\nc{delimiter}2,50\n'
    assert [kind for kind, _ in kinds(source)] == [K.TABLE, K.ROW, K.ROW]


def test_a_spreadsheet_may_name_the_delimiter() -> None:
    assert [kind for kind, _ in kinds("sep=;\nname;b,c\nx;1,5\n")] == [K.OTHER, K.TABLE, K.ROW]


@pytest.mark.parametrize("first", ["1,Ada", "a,a", "a,", "2024-01-05,x", "a,12%"])
def test_a_first_record_of_data_is_no_head(first: str) -> None:
    source = f"{first}\n2,Bo\n"
    assert [kind for kind, _ in kinds(source)] == [K.ROW, K.ROW]
    assert not any(b.repeats for b in structure_of(source).blocks)


def test_a_quote_that_stays_open_makes_plain_text() -> None:
    structure = structure_of('a,b\n1,2\n3,"x\n4,5\n')
    assert structure.parser == "plain"
    assert "line 3" in structure.fallback


def test_a_quote_inside_a_cell_is_a_character() -> None:
    assert [kind for kind, _ in kinds('size,x\n5" pipe,y\n6" pipe,z\n')] == [K.TABLE, K.ROW, K.ROW]


def test_tabs_may_be_declared() -> None:
    assert len(parse(Text("a\tb\n1\t2\n"), "text/tab-separated-values").blocks) == 2
