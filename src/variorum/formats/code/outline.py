"""What a syntax tree says about the rows of a text: definitions, statements, imports, errors."""

import re
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from variorum.formats.code.grammars import Grammar
from variorum.formats.code.source import Place, Source
from variorum.formats.code.trees import NotParsedError, last_row, spanning_nodes

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_NESTING: Final = 100
"""Levels of definitions, and of statements inside statements, that are followed."""
_END_OF_ROW: Final = re.compile(rb"[ \t\r\f\v;,)\]}]*(?:\n|\Z|//|#|/\*)")
_AFTER_LEAD: Final = re.compile(rb"[ \t\r\f\v:]*(\n|\Z)?")
_NOWHERE: Final = -1


class RowKind(IntEnum):
    """What a row holds, as far as grouping rows needs to know."""

    CODE = 0
    LEAD = 1
    IMPORT = 2
    OPENING = 3


@dataclass(slots=True)
class Definition:
    """The rows `first` to `last` of a definition; its leads start them.

    `body_row` is where the members of a holder start: its head is the rows before.
    """

    path: tuple[str, ...]
    first: int
    last: int
    body_row: int
    is_holder: bool


@dataclass(slots=True)
class Outline:
    """The rows of a text, told by its syntax tree.

    `definitions` come parents first and hold each other wholly or not at all. `statements` maps the
    first row of each statement, its leads included, to how deep it is nested.
    """

    kinds: bytearray
    definitions: list[Definition] = field(default_factory=list)
    statements: dict[int, int] = field(default_factory=dict)
    imports: list[tuple[Place, Place]] = field(default_factory=list)
    broken_rows: int = 0
    visited: int = 0


@dataclass(slots=True)
class _Body:
    depth: int
    level: int
    is_entered: bool = False


def outline_of(tree: "Tree", source: Source, grammar: Grammar) -> Outline:
    """Read a tree. Linear in the nodes that span rows and their children.

    Raises:
        NotParsedError: definitions or statements are nested too deep.
    """
    reader = _Reader(source, grammar)
    for depth, node in spanning_nodes(tree, grammar.opaque, grammar.wrappers):
        reader.read(depth, node)
    return reader.outline


class _Reader:
    """Reads nodes, parents first."""

    def __init__(self, source: Source, grammar: Grammar) -> None:
        self.outline = Outline(bytearray(source.rows))
        self._source = source
        self._grammar = grammar
        self._indents = list(source.indents)
        self._paths: list[tuple[int, tuple[str, ...]]] = []
        self._placed: list[tuple[int, int]] = []
        self._wrappers: list[tuple[int, int, bool]] = []
        self._bodies: list[_Body] = []
        self._free_row = 0
        self._broken_row = _NOWHERE

    def read(self, depth: int, node: "Node") -> None:
        """Take in one node."""
        self.outline.visited += 1
        self._leave(depth)
        kind, last = node.type, last_row(node)
        row, column = node.start_point
        stands = column <= self._indents[row]
        self._read_errors(node, row, last)
        if stands:
            self._read_statement(depth, node, row)
        self._read_kind(node, kind, row, last, stands)
        if kind in self._grammar.wrappers:
            self._wrap(depth, row, stands)
        namer = self._grammar.definitions.get(kind)
        title = namer(node, self._source.content) if namer else None
        if title:
            self._define(depth, node, title, stands)
        self._enter(depth, kind)

    def _leave(self, depth: int) -> None:
        """Close what the node at `depth` is no longer inside of."""
        while self._bodies and self._bodies[-1].depth >= depth:
            self._bodies.pop()
        while self._wrappers and self._wrappers[-1][0] >= depth:
            self._wrappers.pop()
        while self._paths and self._paths[-1][0] >= depth:
            self._paths.pop()
        while self._placed and self._placed[-1][0] >= depth:
            self._free_row = max(self._free_row, self._placed.pop()[1] + 1)

    def _read_errors(self, node: "Node", row: int, last: int) -> None:
        """Count the rows that an error touches, each once."""
        is_error = node.is_error or node.is_missing or (row == last and node.has_error)
        if is_error and last > self._broken_row:
            self.outline.broken_rows += sum(
                self._source.filled[max(row, self._broken_row + 1) : last + 1]
            )
            self._broken_row = last

    def _read_statement(self, depth: int, node: "Node", row: int) -> None:
        """Note where a statement starts, but for the first one inside another: it stays there."""
        body = self._bodies[-1] if self._bodies else None
        if body is None or body.depth != depth - 1 or not node.is_named:
            return
        if not body.is_entered and body.level == 0 and _is_docstring(node):
            self._mark(row, last_row(node), RowKind.OPENING)
        has_lead = row > 0 and self.outline.kinds[row - 1] == RowKind.LEAD
        if (body.is_entered or body.level == 0) and not has_lead:
            self.outline.statements.setdefault(row, body.level)
        body.is_entered = body.is_entered or node.type not in self._grammar.leads

    def _read_kind(self, node: "Node", kind: str, row: int, last: int, stands: bool) -> None:
        if kind in self._grammar.leads:
            if stands:
                self._lead(node, row, last)
        elif kind in self._grammar.imports:
            if not self._paths:
                self.outline.imports.append(self._edges(node))
            if stands:
                self._mark(row, last, RowKind.IMPORT)
        elif kind in self._grammar.openings and stands:
            self._mark(row, last, RowKind.OPENING)

    def _edges(self, node: "Node") -> tuple[Place, Place]:
        """Where a node starts and ends, its final line end aside."""
        start = Place(*node.start_point, node.start_byte)
        end = Place(*node.end_point, node.end_byte)
        if end.column == 0 and end.row > start.row:
            byte = end.byte - 1
            row_start = self._source.content.rfind(b"\n", 0, byte) + 1
            end = Place(end.row - 1, byte - row_start, byte)
        return start, end

    def _lead(self, node: "Node", row: int, last: int) -> None:
        """Mark the rows of a comment or the like; what follows it on its row stands there too."""
        after = _AFTER_LEAD.match(self._source.content, node.end_byte)
        if after is None or node.end_point.column == 0 or after[1] is not None:
            self._mark(row, last, RowKind.LEAD)
        else:
            self._mark(row, last - 1, RowKind.LEAD)
            self._indents[last] = node.end_point.column + len(after[0])

    def _mark(self, row: int, last: int, kind: RowKind) -> None:
        for each in range(row, last + 1):
            self.outline.kinds[each] = kind

    def _wrap(self, depth: int, row: int, stands: bool) -> None:
        if self._wrappers and self._wrappers[-1][0] == depth - 1:
            _, row, stands = self._wrappers[-1]
        self._wrappers.append((depth, row, stands))

    def _define(self, depth: int, node: "Node", title: str, stands: bool) -> None:
        """Open a definition, with rows of its own where it starts on a row of its own."""
        outer = self._paths[-1][1] if self._paths else ()
        if len(outer) >= MAX_NESTING:
            raise NotParsedError(f"definitions nested over {MAX_NESTING} deep")
        path = (*outer, title)
        row, last = node.start_point.row, last_row(node)
        wrapped = self._wrappers and self._wrappers[-1][0] == depth - 1
        if wrapped and self._wrappers[-1][1] >= self._free_row:
            _, row, stands = self._wrappers[-1]
        if stands and row >= self._free_row and (last > row or self._ends_row(node)):
            body_row = _body_row(node, last)
            is_holder = node.type in self._grammar.holders
            first = self._first_lead(row)
            self.outline.definitions.append(Definition(path, first, last, body_row, is_holder))
            self._placed.append((depth, last))
            self._free_row = row + 1
        self._paths.append((depth, path))

    def _first_lead(self, row: int) -> int:
        while row > self._free_row and self.outline.kinds[row - 1] == RowKind.LEAD:
            row -= 1
        return row

    def _ends_row(self, node: "Node") -> bool:
        return _END_OF_ROW.match(self._source.content, node.end_byte) is not None

    def _enter(self, depth: int, kind: str) -> None:
        level = self._bodies[-1].level if self._bodies else 0
        if kind in self._grammar.transparent:
            self._bodies.append(_Body(depth, level))
        elif kind in self._grammar.bodies:
            level += bool(self._bodies)
            if level > MAX_NESTING:
                raise NotParsedError(f"statements nested over {MAX_NESTING} deep")
            self._bodies.append(_Body(depth, level))


def _is_docstring(node: "Node | None") -> bool:
    """Whether a statement is nothing but a string."""
    if node is None or node.type != "expression_statement" or node.named_child_count != 1:
        return False
    child = node.named_child(0)
    return child is not None and child.type == "string"


def _body_row(node: "Node", last: int) -> int:
    """The first row of the members: below the opening brace, or below the docstring."""
    body = node.child_by_field_name("body")
    first = body.child(0) if body is not None and body.child_count else None
    if body is None or first is None:
        return last + 1
    if not first.is_named:
        return first.start_point.row + 1
    if _is_docstring(first):
        return last_row(first) + 1
    return max(first.start_point.row, node.start_point.row + 1)
