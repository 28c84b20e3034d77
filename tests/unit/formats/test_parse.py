import sys
from collections.abc import Callable

import pytest

from variorum.formats import parse, parser_of
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
    assert "markdown-it-py" in parser_of("text/markdown")
    assert "justhtml" in parser_of("text/html")


def steps(source: str, content_type: str) -> int:
    """Calls that the parser makes, of Python and of C."""
    text = Text(source)
    _ = text.line_starts
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        parse(text, content_type)
    finally:
        sys.setprofile(None)
    return count


def is_linear(shape: Callable[[int], str], content_type: str) -> bool:
    """Whether four times the text takes about four times the steps."""
    return steps(shape(2000), content_type) < 4.5 * steps(shape(500), content_type) + 100


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


CELL = '{"cell_type": "markdown", "source": [%s]}'
TWO = '"a\\n", "b"'
FORMATS: dict[str, tuple[str, Callable[[int], str]]] = {
    "pages": ("text/html", lambda n: "<h2>a</h2><p>b <b>c</b></p>\n" * (n // 4)),
    "open tags": ("text/html", lambda n: "<div><b>x" * (n // 4)),
    "page tables": ("text/html", lambda n: "<table><tr><th>a<tr><td>b</table>" * (n // 8)),
    "one page table": ("text/html", lambda n: "<table><tr><th>a" + "<tr><td>b" * (n // 4)),
    "nested page tables": ("text/html", lambda n: "<table><tr><td>" * (n // 8)),
    "comments": ("text/html", lambda n: "<p>a<!-- b -->" * (n // 4)),
    "drawings": ("text/html", lambda n: "<svg>" * (n // 8) + "x"),
    "titles": ("text/x-rst", lambda n: "a\n====\n\nb\n----\n\n" * (n // 4)),
    "items": ("text/x-rst", lambda n: "- a\n\n  - b\n\n" * (n // 4)),
    "literals": ("text/x-rst", lambda n: "a::\n\n  b\n\n" * (n // 4)),
    "grid": ("text/x-rst", lambda n: "+---+\n| a |\n" * (n // 4) + "+---+\n"),
    "columns": ("text/x-rst", lambda n: "== ==\n" + "a  b\n" * n),
    "fields": ("text/x-rst", lambda n: ":a: b\n" * n),
    "directives": ("text/x-rst", lambda n: ".. a:: b\n\n   c\n\n" * (n // 4)),
    "records": ("text/csv", lambda n: 'a,"b",c\n' * n),
    "quotes": ("text/csv", lambda n: '"",' * n),
    "arrays": ("application/json", lambda n: "[" + "[1],\n" * n + "0]"),
    "strings": ("application/json", lambda n: '["' + "\\n\\u00e9" * n + '"]'),
    "cells": (
        "application/x-ipynb+json",
        lambda n: '{"cells": [' + f"{CELL % TWO}," * (n // 4) + f"{CELL % TWO}]}}",
    ),
    "one cell": (
        "application/x-ipynb+json",
        lambda n: '{"cells": [' + CELL % ('"- a\\n", ' * (n // 4) + '"b"') + "]}",
    ),
    "cues": ("text/vtt", lambda n: "WEBVTT\n\n" + "00:01.000 --> 00:02.000\na\n\n" * (n // 4)),
    "numbers": ("application/x-subrip", lambda n: "1\n" * n + "00:00:01,000 --> 00:00:02,000\n"),
    "turns": ("text/plain", lambda n: "Ada: a\nBo: b\n" * (n // 4)),
    "colons": ("text/plain", lambda n: "A " * n + ":" * n),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_parsing_markdown_is_linear(shape: str) -> None:
    """LIM-07 and LIM-09."""
    assert is_linear(SHAPES[shape], "text/markdown")


@pytest.mark.parametrize("shape", FORMATS)
def test_parsing_other_formats_is_linear(shape: str) -> None:
    """LIM-07 and LIM-09."""
    content_type, source = FORMATS[shape]
    assert is_linear(source, content_type)
