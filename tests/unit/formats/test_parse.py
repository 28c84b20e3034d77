import time
from collections.abc import Callable

import pytest

from variorum.formats import PARSERS, parse
from variorum.records.errors import UnsupportedError
from variorum.records.text import Text


def test_plain_text_is_paragraphs_between_blank_lines() -> None:
    source = "one\ntwo\r\n \t\r\n\r# three\u2028\n\u00a0\nfour"
    structure = parse(Text(source), "text/plain")
    assert [source[b.start : b.end] for b in structure.blocks] == [
        "one\ntwo\r\n",
        "# three\u2028\n",
        "four",
    ]
    assert not any(b.heading_path for b in structure.blocks)
    assert structure.fallback == ""


def test_a_content_type_is_read_without_its_parameters() -> None:
    assert parse(Text("# A"), "Text/Markdown; charset=utf-8").blocks[0].depth == 1


def test_other_text_is_read_as_plain_text_and_says_so() -> None:
    structure = parse(Text("# A"), "text/x-unknown")
    assert structure.parser == "plain"
    assert structure.fallback == "no parser for text/x-unknown"


def test_what_is_not_text_has_no_parser() -> None:
    with pytest.raises(UnsupportedError):
        parse(Text(""), "image/png")


def test_the_version_of_the_parsers_names_the_library() -> None:
    assert "markdown-it-py" in PARSERS


def seconds(source: str) -> float:
    text = Text(source)
    _ = text.line_starts
    start = time.process_time()
    parse(text, "text/markdown")
    return time.process_time() - start


SHAPES: dict[str, Callable[[int], str]] = {
    "one line of code": lambda n: "x=a[1];" * 60 * n,
    "one character": lambda n: "z" * 400 * n,
    "equals signs": lambda n: "=" * 400 * n,
    "base64": lambda n: "QUJD" * 200 * n,
    "quote marks": lambda n: ">" * 100 * n,
    "one paragraph": lambda n: "word word\n" * 4 * n,
    "link definitions": lambda n: "[a]: http://x\n" * n,
    "open brackets": lambda n: "[a\n" * 2 * n,
    "list": lambda n: "- x\n" * n,
    "table": lambda n: "|a|b|\n|-|-|\n" + "|1|2|\n" * n,
    "headings": lambda n: "# a *b*\n" * n,
    "quoted lines": lambda n: ("> " * 50 + "x\n") * (n // 10),
    "html comments": lambda n: "<!--\n\n" * n,
    "front matter never closed": lambda n: "---\n" + "a: b\n" * 2 * n,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_parsing_is_linear(shape: str) -> None:
    """LIM-07 and LIM-09: four times the text costs far less than sixteen times the time."""
    small, large = SHAPES[shape](1000), SHAPES[shape](4000)
    fastest = min(seconds(small) for _ in range(3))
    assert min(seconds(large) for _ in range(3)) < 9 * fastest + 0.02
