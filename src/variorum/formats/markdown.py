"""Markdown (CommonMark with tables and front matter) to blocks of whole lines.

Only the block phase of the parser runs. It sees line ends folded to LF, which keeps line numbers,
and blocks are mapped back to the original by line number. What CommonMark leaves without a block of
its own (link definitions, empty list markers) becomes an `OTHER` block, so that every line with
more than white space is covered.

A table is its header and delimiter rows, then a row a line, each with the head to repeat.

Headings inside block quotes and lists open no section: they are paragraphs of their container.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from variorum.formats.front_matter import read_front_matter
from variorum.formats.leaves import Leaf, leaf_blocks, table_leaves
from variorum.formats.plain import line_spans, parse_plain
from variorum.formats.titles import plain_title
from variorum.records.text import Block, BlockKind, Structure, Text

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


def _table(first_line: int, end_line: int) -> Iterator[Leaf]:
    """A table's header and delimiter rows, then its body, a row a line."""
    head_end = min(first_line + 2, end_line)
    rows = ((line, line + 1) for line in range(head_end, end_line))
    return table_leaves((first_line, head_end), rows)


def _leaves(tokens: list[Token]) -> Iterator[Leaf]:
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
            if kind is BlockKind.TABLE:
                yield from _table(first_line, end_line)
                continue
            if kind is BlockKind.HEADING and token.level == 0:
                depth, title = int(token.tag[1]), plain_title(tokens[index + 1].content, _parser())
            elif kind in (BlockKind.HEADING, BlockKind.PARAGRAPH):
                kind = BlockKind.LIST_ITEM if list_depth else BlockKind.PARAGRAPH
            yield Leaf(first_line, end_line, kind, depth, title)


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
        plain = parse_plain(text, f"not parsed as Markdown: {why}")
        return replace(
            plain, metadata=front.metadata, claims=front.claims, claims_fault=front.claims_fault
        )
    head = [Block(0, front.end, BlockKind.FRONT_MATTER)] if front.end else []
    blocks = (*head, *leaf_blocks(text.characters, body, leaves))
    return Structure(
        blocks,
        NAME,
        front.metadata,
        front.problem,
        claims=front.claims,
        claims_fault=front.claims_fault,
    )
