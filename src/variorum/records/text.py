"""A document's content: bytes as a revision, characters as a text, structure as blocks."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\r|\n")


class Span(NamedTuple):
    """A half-open range of code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Revision:
    """One exact content of a document, named by the SHA-256 of its bytes."""

    content: bytes
    content_type: str
    sha256: str = ""

    def __post_init__(self) -> None:
        if not self.sha256:
            object.__setattr__(self, "sha256", hashlib.sha256(self.content).hexdigest())


@dataclass(frozen=True)
class Text:
    """The decoded characters of a revision and their map to its bytes.

    `encoding` is the Python codec of the bytes behind the byte-order mark, `bom_bytes` the mark's
    length. The mark itself is not a character of the text; line ends and NUL are kept as they are.
    """

    characters: str
    encoding: str = "utf-8"
    bom_bytes: int = 0

    def byte_span(self, span: Span) -> Span:
        """The bytes of the revision that the characters of `span` came from. Linear in the text."""
        before = self.characters[: span.start].encode(self.encoding)
        inside = self.characters[span.start : span.end].encode(self.encoding)
        start = self.bom_bytes + len(before)
        return Span(start, start + len(inside))

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of the first character of every line; a line ends at LF, CR LF or a lone CR."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.characters))]

    def line_of(self, position: int) -> int:
        """The 1-based number of the line that holds the character at `position`."""
        return max(1, bisect_right(self.line_starts, position))


class BlockKind(StrEnum):
    """What a block is, as far as cutting and citing need to know."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list-item"
    CODE = "code"
    TABLE = "table"
    ROW = "row"
    DEFINITION = "definition"
    TURN = "turn"
    HTML = "html"
    FRONT_MATTER = "front-matter"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Block:
    """A structural piece of a text.

    `start` and `end` are code points; in line-based formats they cover whole lines. `heading_path`
    holds the titles that the block stands under, outermost first, its own included where it is a
    heading. `depth` is a heading's level (1 to 6), else 0. Blocks come in order and do not overlap:
    of nested structures the innermost that a reader would call one piece (a paragraph, a whole
    fence, a list item's own paragraph). A table is its head (TABLE), then a ROW for each row below.

    `repeats` is a range before the block, such as a table's head, that an input beginning in or at
    the block carries before its own text. It is never part of the cited text.
    """

    start: int
    end: int
    kind: BlockKind
    heading_path: tuple[str, ...] = ()
    depth: int = 0
    repeats: Span | None = None


@dataclass(frozen=True, slots=True)
class Structure:
    """What a parser found in a text: ordered blocks, the author's metadata, and its own version.

    `fallback` says why a simpler parser was used, or is empty. `imports` are the ranges of a
    program's import statements, in order.

    `claims` holds what the document says of its own readers and dates, under the key that says it,
    as it was read; `claims_fault` says why what may have been such claims could not be read.
    """

    blocks: tuple[Block, ...]
    parser: str
    metadata: Mapping[str, object] = field(default_factory=dict)
    fallback: str = ""
    imports: tuple[Span, ...] = ()
    claims: Mapping[str, object] = field(default_factory=dict)
    claims_fault: str = ""
