"""Markdown (CommonMark with tables and front matter) to blocks of whole lines.

Only the block phase of the parser runs. It sees line ends folded to LF, which keeps line numbers,
and blocks are mapped back to the original by line number. What CommonMark leaves without a block of
its own (link definitions, empty list markers) becomes an `OTHER` block, so that every line with
more than white space is covered.

Headings inside block quotes and lists open no section: they are paragraphs of their container.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from variorum.formats.front_matter import read_front_matter
from variorum.formats.plain import filled_runs, line_spans, parse_plain
from variorum.formats.titles import plain_title
from variorum.records.text import Block, BlockKind, Span, Structure, Text

NAME: Final = "markdown"
MAX_NESTING: Final = 100
"""Levels of containers that the parser follows: a quote is one, a list with its item two."""
_LINE_END: Final = re.compile(r"\r\n?")
_LEAVES: Final = {
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "html_block": BlockKind.HTML,
    "table_open": BlockKind.TABLE,
    "hr": BlockKind.OTHER,
    "paragraph_open": BlockKind.PARAGRAPH,
    "heading_open": BlockKind.HEADING,
}
_CONTAINERS: Final = frozenset(
    {"blockquote_open", "bullet_list_open", "ordered_list_open", "list_item_open"}
)


class _Leaf(NamedTuple):
    """A block as the parser saw it: lines counted from the end of the front matter."""

    first_line: int
    end_line: int
    kind: BlockKind
    depth: int
    title: str


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    # The rules compile at first use, which two threads must not do at once.
    parser.parse("*warm*")
    return parser


def _tokens(source: str) -> list[Token]:
    # Not `parse`: its first step turns NUL into U+FFFD, its third parses inline markup.
    state = StateBlock(_LINE_END.sub("\n", source), _parser(), {}, [])
    _parser().block.tokenize(state, state.line, state.lineMax)
    # Past its limit the parser drops all that follows, headings too, without a word.
    if any(token.level >= MAX_NESTING - 1 and token.type in _CONTAINERS for token in state.tokens):
        raise RecursionError(f"nested {MAX_NESTING} levels deep")
    return state.tokens


def _leaves(tokens: list[Token]) -> Iterator[_Leaf]:
    list_depth = 0
    in_table = False
    for index, token in enumerate(tokens):
        if token.type in ("list_item_open", "list_item_close"):
            list_depth += token.nesting
        elif token.type == "table_close":
            in_table = False
        elif token.type in _LEAVES and token.map and not in_table:
            in_table = token.type == "table_open"
            kind = _LEAVES[token.type]
            first_line, end_line = token.map
            depth, title = 0, ""
            if kind is BlockKind.HEADING and token.level == 0:
                depth, title = int(token.tag[1]), plain_title(tokens[index + 1].content, _parser())
            elif kind in (BlockKind.HEADING, BlockKind.PARAGRAPH):
                kind = BlockKind.LIST_ITEM if list_depth else BlockKind.PARAGRAPH
            yield _Leaf(first_line, end_line, kind, depth, title)


class _Sections:
    """The headings that are open at a place in the document."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self.path: tuple[str, ...] = ()

    def enter(self, depth: int, title: str) -> None:
        """Close the sections as deep as `depth` or deeper, and open one. An empty title is none."""
        while self._open and self._open[-1][0] >= depth:
            self._open.pop()
        self._open.append((depth, title))
        self.path = tuple(title for _, title in self._open if title)


def _blocks(characters: str, lines: list[Span], leaves: Iterable[_Leaf]) -> Iterator[Block]:
    """The leaves as blocks, with `OTHER` blocks for the filled lines between them."""
    sections = _Sections()
    done = 0
    for leaf in leaves:
        first, end = max(leaf.first_line, done), min(leaf.end_line, len(lines))
        if end <= first:
            continue
        for run in filled_runs(characters, lines[done:first]):
            yield Block(run.start, run.end, BlockKind.OTHER, sections.path)
        if leaf.depth:
            sections.enter(leaf.depth, leaf.title)
        span = Span(lines[first].start, lines[end - 1].end)
        yield Block(span.start, span.end, leaf.kind, sections.path, leaf.depth)
        done = end
    for run in filled_runs(characters, lines[done:]):
        yield Block(run.start, run.end, BlockKind.OTHER, sections.path)


def parse_markdown(text: Text) -> Structure:
    """The structure of a Markdown text, total on any text and linear but for the nesting depth.

    Where the parser fails, the structure is that of plain text and `fallback` says why; where only
    the front matter cannot be read, `fallback` says that and the metadata is empty.
    """
    front = read_front_matter(text.characters)
    lines = line_spans(text)
    body = [line for line in lines if line.start >= front.end and line.end > line.start]
    try:
        leaves = list(_leaves(_tokens(text.characters[front.end :])))
    # Whatever the parser trips over, the document is still cut and found, as plain text.
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:200]
        return replace(parse_plain(text, f"not parsed as Markdown: {why}"), metadata=front.metadata)
    head = [Block(0, front.end, BlockKind.FRONT_MATTER)] if front.end else []
    blocks = (*head, *_blocks(text.characters, body, leaves))
    return Structure(blocks, NAME, front.metadata, front.problem)
