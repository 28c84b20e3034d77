"""reStructuredText to blocks of whole lines.

A reader of lines, by the rules of the specification, that runs no directive and opens no file:
docutils gives places for some elements only, and is what the tests compare the sections with. A
title with any adornment heads a section, nested in the order in which the styles first come.

Fields at the top are metadata. Code directives and literal blocks are CODE, tables a head and rows,
`raw` is HTML; comments, targets, substitutions and directives without words of their own (`image`,
`toctree` and the like) are `OTHER`. A directive with content is its first paragraph, then what its
content is. Titles inside directives, lists and quotes open no section.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from variorum.formats.leaves import Leaf, leaf_blocks
from variorum.formats.plain import line_spans, parse_plain
from variorum.formats.rest_tables import (
    directive_table,
    grid_end,
    grid_leaves,
    simple_end,
    simple_leaves,
)
from variorum.formats.titles import tidy_title
from variorum.records.text import BlockKind, Structure, Text

NAME: Final = "rest"
MAX_NESTING: Final = 50
"""Levels of lists, quotes and directives that the reader follows."""

_ENUMERATOR: Final = r"(?:[0-9]{1,9}|[a-zA-Z]|[ivxlcdmIVXLCDM]{1,15}|\#)"
_ENUMERATED: Final = re.compile(rf"(?:\({_ENUMERATOR}\)|{_ENUMERATOR}[.)])(?: +|$)")
_BULLET: Final = re.compile(r"[-+*•‣⁃](?: +|$)")
_FIELD: Final = re.compile(r":(?![: ])((?:[^:\\\n]|\\.|:(?![ `]|$))+)(?<! ):(?: +|$)")
_OPTION_WORD: Final = r"(?:--?|/)[a-zA-Z0-9?][\w-]*(?:[ =](?:[a-zA-Z][\w-]*|<[^<>]+>))?"
_OPTION: Final = re.compile(rf"{_OPTION_WORD}(?:, {_OPTION_WORD})*(?:  +\S|$)")
_DOCTEST: Final = re.compile(r">>>(?: |$)")
_LINE_BLOCK: Final = re.compile(r"\|(?: +|$)")
_GRID_TOP: Final = re.compile(r"\+-[-+]+-\+$")
_SIMPLE_TOP: Final = re.compile(r"=+(?: +=+)+$")
_EXPLICIT: Final = re.compile(r"\.\.(?: +|$)")
_ANONYMOUS: Final = re.compile(r"__(?: +|$)")
_ADORNMENT: Final = re.compile(r"([!-/:-@\[-`{-~])\1*$")
_NOTE: Final = re.compile(r"\[(?:[0-9]+|\#[\w.-]*|\*|\w[\w.-]*)\](?: |$)")
_DIRECTIVE: Final = re.compile(r"(\w+(?:[-_.+:]\w+)*) ?::(?: +|$)(.*)")

_CODE: Final = frozenset(
    {"code", "code-block", "sourcecode", "parsed-literal", "math", "doctest", "testcode"}
    | {"testsetup", "testcleanup", "testoutput", "prompt", "productionlist", "graphviz", "digraph"}
    | {"mermaid", "uml", "plantuml", "ipython", "jupyter-execute", "autolink-preview"}
)
_WORDLESS: Final = frozenset(
    {"image", "include", "literalinclude", "toctree", "contents", "index", "meta", "role"}
    | {"default-role", "highlight", "module", "currentmodule", "sectnum", "section-numbering"}
    | {"tabularcolumns", "target-notes", "header", "footer", "autosummary", "automodule"}
)
_MAX_INLINE: Final = 1000
_INLINE: Final = (
    (re.compile(r":[\w+.:-]+:`([^`<]*?)(?:\s*<[^`>]*>)?`"), r"\1"),
    (re.compile(r"``([^`]+)``"), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{0,2}"), r"\1"),
    (re.compile(r"`([^`]+)`_{0,2}"), r"\1"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"\1"),
    (re.compile(r"\*([^*]+)\*"), r"\1"),
    (re.compile(r"\\(.)"), r"\1"),
)


def _plain_words(source: str) -> str:
    """Words without inline markup, which long ones keep: its patterns are not linear."""
    for markup, words in _INLINE if len(source) <= _MAX_INLINE else ():
        source = markup.sub(words, source)
    return tidy_title(source)


def _width(title: str) -> int:
    """Columns that a title takes: wide characters two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in title)
    return len(title) + wide - sum(unicodedata.combining(character) > 0 for character in title)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


class _Reader:
    """Reads lines with tabs expanded and notes the leaves; a marker read is turned to blanks."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.leaves: list[Leaf] = []
        self.metadata: dict[str, str] = {}
        self._styles: list[tuple[str, bool]] = []
        self._depth = 0
        self._level = 0
        self._is_preamble = True
        self._kind = BlockKind.PARAGRAPH
        self._elements: tuple[tuple[re.Pattern[str], Callable[[int, int, int], int]], ...] = (
            (_BULLET, self._item),
            (_ENUMERATED, self._enumerated),
            (_FIELD, self._field),
            (_OPTION, self._option),
            (_DOCTEST, self._doctest),
            (_LINE_BLOCK, self._line_block),
            (_GRID_TOP, self._grid_table),
            (_SIMPLE_TOP, self._simple_table),
            (_EXPLICIT, self._explicit),
            (_ANONYMOUS, self._anonymous),
            (_ADORNMENT, self._adornment),
        )

    def body(self, first: int, end: int, indent: int) -> None:
        """The elements on the lines `first` to `end`, whose left edge is the column `indent`."""
        at = first
        while at < end:
            line = self.lines[at]
            if not line:
                at += 1
            elif _indent(line) > indent:
                stop = self._indented_end(at, end, indent)
                self._nested(at, stop, BlockKind.PARAGRAPH if not self._level else self._kind)
                at = stop
            else:
                at = self._element(at, end, indent)

    def _element(self, at: int, end: int, indent: int) -> int:
        """Read one element; the line after it. An element that declines gives `at` itself."""
        for pattern, read in self._elements:
            if pattern.match(self.lines[at], indent):
                after = read(at, end, indent)
                if after > at:
                    return after
        return self._text(at, end, indent)

    def _nested(self, first: int, end: int, kind: BlockKind) -> None:
        """The elements inside another one; their left edge is their own."""
        filled = [_indent(self.lines[at]) for at in range(first, end) if self.lines[at]]
        if not filled:
            return
        self._level += 1
        if self._level > MAX_NESTING:
            raise RecursionError(f"nested over {MAX_NESTING} levels deep")
        outer, self._kind = self._kind, kind
        self.body(first, end, min(filled))
        self._kind = outer
        self._level -= 1

    def _indented_end(self, first: int, end: int, indent: int) -> int:
        """The first filled line from `first` on that is not right of `indent`."""
        at = first
        while at < end and (not self.lines[at] or _indent(self.lines[at]) > indent):
            at += 1
        return at

    def _paragraph_end(self, first: int, end: int) -> int:
        at = first
        while at < end and self.lines[at]:
            at += 1
        return at

    def _leaf(self, first: int, end: int, kind: BlockKind) -> None:
        while end > first and not self.lines[end - 1]:
            end -= 1
        self.leaves.append(Leaf(first, end, kind))
        self._is_preamble = self._is_preamble and kind is BlockKind.OTHER

    # Lists.

    def _item(self, at: int, end: int, indent: int) -> int:
        match = _BULLET.match(self.lines[at], indent) or _ENUMERATED.match(self.lines[at], indent)
        column = match.end() if match else indent + 1
        stop = self._indented_end(at + 1, end, column - 1)
        text = self.lines[at][column:]
        self.lines[at] = (" " * column + text).rstrip()
        if not self.lines[at]:
            self._leaf(at, at + 1, BlockKind.LIST_ITEM)
        self._nested(at, stop, BlockKind.LIST_ITEM)
        return stop

    def _enumerated(self, at: int, end: int, indent: int) -> int:
        following = self.lines[at + 1] if at + 1 < end else ""
        # A name such as "A. Smith" may begin a paragraph, whose next line goes on at the edge.
        if following and _indent(following) == indent and not _ENUMERATED.match(following, indent):
            return at
        return self._item(at, end, indent)

    def _field(self, at: int, end: int, indent: int) -> int:
        if self._is_preamble and not self._level:
            return self._docinfo(at, end)
        return self._definition(at, self._indented_end(at + 1, end, indent))

    def _docinfo(self, at: int, end: int) -> int:
        first = at
        while at < end and (field := _FIELD.match(self.lines[at])):
            stop = self._indented_end(at + 1, end, 0)
            value = " ".join([self.lines[at][field.end() :], *self.lines[at + 1 : stop]])
            name, value = tidy_title(field[1]).lower(), _plain_words(value)
            if name and value:
                self.metadata.setdefault(name, value)
            at = stop
        self._leaf(first, at, BlockKind.FRONT_MATTER)
        return at

    def _option(self, at: int, end: int, indent: int) -> int:
        stop = self._indented_end(at + 1, end, indent)
        if not re.search(r"\S {2,}\S", self.lines[at]) and stop == at + 1:
            return at
        return self._definition(at, stop)

    def _definition(self, at: int, stop: int, kind: BlockKind = BlockKind.DEFINITION) -> int:
        """A first paragraph, and what else stands indented below it."""
        end = min(self._paragraph_end(at, stop), stop)
        self._leaf(at, end, kind)
        self._nested(end, stop, kind)
        return stop

    # Tables, code, lines.

    def _doctest(self, at: int, end: int, indent: int) -> int:
        stop = self._paragraph_end(at, end)
        self._leaf(at, stop, BlockKind.CODE)
        return stop

    def _line_block(self, at: int, end: int, indent: int) -> int:
        stop = self._paragraph_end(at, end)
        self._leaf(at, stop, self._kind)
        return stop

    def _grid_table(self, at: int, end: int, indent: int) -> int:
        stop = grid_end(self.lines, at, end)
        self.leaves.extend(grid_leaves(self.lines, at, stop))
        self._is_preamble = False
        return stop

    def _simple_table(self, at: int, end: int, indent: int) -> int:
        stop = simple_end(self.lines, at, end)
        if stop > at:
            self.leaves.extend(simple_leaves(self.lines, at, stop))
            self._is_preamble = False
        return stop

    # Explicit markup.

    def _anonymous(self, at: int, end: int, indent: int) -> int:
        stop = self._indented_end(at + 1, end, indent)
        self._leaf(at, stop, BlockKind.OTHER)
        return stop

    def _explicit(self, at: int, end: int, indent: int) -> int:
        text = self.lines[at][indent + 2 :].lstrip()
        if not text and (at + 1 >= end or not self.lines[at + 1]):
            self._leaf(at, at + 1, BlockKind.OTHER)
            return at + 1
        stop = self._indented_end(at + 1, end, indent)
        directive = _DIRECTIVE.match(text)
        if _NOTE.match(text):
            return self._definition(at, stop)
        if directive:
            self._directive(at, stop, directive[1].lower(), directive[2])
        else:
            self._leaf(at, stop, BlockKind.OTHER)
        return stop

    def _directive(self, at: int, stop: int, name: str, argument: str) -> None:
        if name in _CODE:
            self._leaf(at, stop, BlockKind.CODE)
        elif name == "raw":
            self._leaf(at, stop, BlockKind.HTML)
        elif name in _WORDLESS:
            self._leaf(at, stop, BlockKind.OTHER)
        elif name in ("list-table", "csv-table"):
            while not self.lines[stop - 1]:
                stop -= 1
            self.leaves.extend(directive_table(self.lines, at, stop, name == "list-table"))
            self._is_preamble = False
        elif not argument and at + 1 < stop and not _FIELD.match(self.lines[at + 1].lstrip()):
            self._leaf(at, at + 1, BlockKind.OTHER)
            self._nested(at + 1, stop, BlockKind.PARAGRAPH)
        else:
            self._definition(at, stop, BlockKind.PARAGRAPH)

    # Titles and text.

    def _adornment(self, at: int, end: int, indent: int) -> int:
        """A title with a line above, or a transition."""
        line = self.lines[at]
        if at + 1 >= end or not self.lines[at + 1]:
            if len(line) - indent < 4:
                return at
            self._leaf(at, at + 1, BlockKind.OTHER)
            return at + 1
        title = self.lines[at + 1]
        is_title = at + 2 < end and self.lines[at + 2] == line and not self._level
        fits = len(line) >= 4 or _width(title) <= len(line)
        if not is_title or not fits or _ADORNMENT.match(title):
            return at
        self._section(at, at + 3, title, (line[0], True))
        return at + 3

    def _section(self, first: int, end: int, title: str, style: tuple[str, bool]) -> None:
        if style not in self._styles:
            # A new style heads what is inside the section that is open.
            self._styles[self._depth :] = [style]
        self._depth = self._styles.index(style) + 1
        words = _plain_words(title)
        self.leaves.append(Leaf(first, end, BlockKind.HEADING, min(self._depth, 6), words))

    def _text(self, at: int, end: int, indent: int) -> int:
        following = self.lines[at + 1] if at + 1 < end else ""
        if following and not self._level and _ADORNMENT.match(following):
            title = self.lines[at]
            if len(following) >= 4 or _width(title) <= len(following):
                self._section(at, at + 2, title, (following[0], False))
                return at + 2
        if following and _indent(following) > indent:
            return self._definition(at, self._indented_end(at + 1, end, indent))
        stop = at + 1
        while stop < end and self.lines[stop] and _indent(self.lines[stop]) <= indent:
            stop += 1
        if not self.lines[stop - 1].endswith("::"):
            self._leaf(at, stop, self._kind)
            return stop
        return self._literal(at, stop, end, indent)

    def _literal(self, at: int, stop: int, end: int, indent: int) -> int:
        """A paragraph that ends in `::`, and the code that it announces."""
        code = stop
        while code < end and not self.lines[code]:
            code += 1
        after = self._indented_end(code, end, indent)
        if after == code and code < end and _ADORNMENT.match(self.lines[code][indent]):
            after = self._paragraph_end(code, end)
        if self.lines[at].strip() == "::" and after > code:
            code = at
        else:
            self._leaf(at, stop, self._kind)
        if after > code:
            self._leaf(code, after, BlockKind.CODE)
        return max(after, stop)


def parse_rest(text: Text) -> Structure:
    """The structure of reStructuredText, total on any text and linear but for the nesting depth."""
    spans = [line for line in line_spans(text) if line.end > line.start]
    lines = [text.characters[start:end].rstrip().expandtabs(8) for start, end in spans]
    reader = _Reader(lines)
    try:
        reader.body(0, len(lines), 0)
    # Whatever the reader trips over, the document is still cut and found, as plain text.
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:200]
        return replace(parse_plain(text), fallback=f"not parsed as reStructuredText: {why}")
    blocks = tuple(leaf_blocks(text.characters, spans, reader.leaves))
    return Structure(blocks, NAME, reader.metadata)
