from variorum.formats import parse
from variorum.formats.cells import CellRange, cell_range
from variorum.records.text import Span, Text

SOURCE = (
    "before\n\n| a |\n|---|\n| one |\n| two |\n| three |\n\nbetween\n\n| b |\n|---|\n| four |\n"
)


def rows(first: str, last: str, source: str = SOURCE, kind: str = "markdown") -> CellRange | None:
    span = Span(source.index(first), source.index(last) + len(last))
    return cell_range(parse(Text(source), f"text/{kind}"), span)


def test_a_range_names_the_rows_it_touches() -> None:
    assert rows("two", "three") == CellRange(0, 2, 3, has_head=False)
    assert rows("one", "one") == CellRange(0, 1, 1, has_head=False)
    assert rows("four", "four") == CellRange(1, 1, 1, has_head=False)


def test_a_range_says_whether_it_holds_the_head() -> None:
    assert rows("| a", "two") == CellRange(0, 1, 2, has_head=True)
    assert rows("| a", "| a") == CellRange(0, 0, 0, has_head=True)


def test_of_two_tables_the_first_is_named() -> None:
    assert rows("three", "four") == CellRange(0, 3, 3, has_head=False)


def test_a_range_outside_tables_has_no_rows() -> None:
    assert rows("before", "before") is None
    assert rows("between", "between") is None


def test_rows_without_a_head_are_counted_too() -> None:
    table = "<table><tr><td>r1<tr><td>r2</table>"
    source = f"{table}<p>x</p>{table}<table><tr><th>h<tr><td>r3</table>{table}"
    assert rows("r2", "r2", source, "html") == CellRange(0, 2, 2, has_head=False)
    assert rows("h<", "r3", source, "html") == CellRange(2, 1, 1, has_head=True)


def test_adjacent_tables_without_heads_are_told_apart_by_what_stands_between() -> None:
    table = "<table><tr><td>r1<tr><td>r2</table>"
    structure = parse(Text(f"{table}<p>x</p>{table}"), "text/html")
    last = structure.blocks[-1]
    assert cell_range(structure, Span(last.start, last.end)) == CellRange(1, 2, 2, has_head=False)
