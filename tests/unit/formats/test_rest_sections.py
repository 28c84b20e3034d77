"""The sections of reStructuredText are those that docutils finds."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from variorum.formats import parse
from variorum.records.text import Text

nodes = pytest.importorskip("docutils.nodes")
core = pytest.importorskip("docutils.core")

SETTINGS = {
    "report_level": 5,
    "halt_level": 6,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "input_encoding": "unicode",
    "_disable_config": True,
}
STYLES = ["=o", "=", "-", "~", "^", '"']
BODIES = [
    "para\ngoes on",
    "para::\n\n   Not a title\n   ===========",
    "- item\n\n  Item\n  ====",
    "term\n    definition",
    ".. note:: x\n\n   Inside\n   ------",
    "=====  =====\nCol    Col\n=====  =====\n1      2\n=====  =====",
    "+---+---+\n| a | b |\n+---+---+",
    ".. a comment\n   =========",
    "    quote\n    -----",
    "----",
    ">>> 1\n==",
    "| line\n| ====",
    "A. Smith wrote\nthis.",
    "1. one\n2. two",
    ":field: value",
    "::\n\n> quoted\n> ======",
]
titles = st.sampled_from(["Title", "A *b* ``c``", "标题", "Über: all", "x", "1. Numbered", "- a"])


def adorned(title: str, style: str) -> str:
    line = style[0] * max(4, 2 * len(title))
    return f"{line}\n{title}\n{line}" if style.endswith("o") else f"{title}\n{line}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Sections nested as the specification wants them: at most one level deeper at a time."""
    parts, depth, known = [], 0, 0
    for _ in range(draw(st.integers(0, 8))):
        depth = draw(st.integers(1, min(depth + 1, known + 1, len(STYLES))))
        known = max(known, depth)
        parts.append(adorned(draw(titles), STYLES[depth - 1]))
        parts.extend(draw(st.lists(st.sampled_from(BODIES), max_size=2)))
    return "\n\n".join(parts) + "\n"


def reference(source: str) -> list[tuple[int, str]]:
    tree = core.publish_doctree(source, settings_overrides=SETTINGS)

    def sections(node: object, depth: int) -> Iterator[tuple[int, str]]:
        for child in node.children:  # type: ignore[attr-defined]
            if isinstance(child, nodes.section):
                yield depth, " ".join(child[0].astext().split())
                yield from sections(child, depth + 1)

    return list(sections(tree, 1))


def found(source: str) -> list[tuple[int, str]]:
    blocks = parse(Text(source), "text/x-rst").blocks
    return [(b.depth, b.heading_path[-1]) for b in blocks if b.depth]


@given(documents())
@settings(max_examples=100, deadline=None)
def test_sections_are_those_of_the_reference(source: str) -> None:
    assert found(source) == reference(source)


@pytest.mark.parametrize(
    "source",
    [
        "Title\n===\n\nx\n",
        "Long title here\n==\n\nx\n",
        "===\nAB\n===\n",
        "  Inset\n=======\n",
        "=======\n Inset\n=======\n",
        "A\n=\n\nB\n-\n\nC\n=\n\nD\n-\n",
        "A\n====\nB\n----\ntext\n",
        "text\ntext\n====\n",
        "A\r\n====\r\n\r\nB\r\n====\r\n",
        "\tcode\n\nA\n====\n",
    ],
)
def test_borderline_titles_are_those_of_the_reference(source: str) -> None:
    assert found(source) == reference(source)
