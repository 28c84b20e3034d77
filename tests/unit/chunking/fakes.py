"""Small stand-ins: tokenizers whose counts are plain to see, and a line-based structure."""

import re
from collections.abc import Sequence

from variorum.records.layout import PreviousLayout, Recipe
from variorum.records.protocols import Role
from variorum.records.text import Block, BlockKind, Structure

ATOM = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s]")
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
HEADING = re.compile(r"(#{1,6})[ \t]+([^\r\n]*)")


class Atoms:
    """One CJK character, one word, one mark."""

    fingerprint = "atoms"

    def starts(self, text: str) -> list[int]:
        return [match.start() for match in ATOM.finditer(text)]

    def count(self, text: str) -> int:
        return len(self.starts(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


class Characters(Atoms):
    """Every code point, white space too."""

    fingerprint = "characters"

    def starts(self, text: str) -> list[int]:
        return list(range(len(text)))


class Bytes(Atoms):
    """Every UTF-8 byte: several tokens start at one character."""

    fingerprint = "bytes"

    def starts(self, text: str) -> list[int]:
        return [index for index, one in enumerate(text) for _ in one.encode()]


class ContextAtoms(Atoms):
    """Atoms, and one token more for a text that does not begin with a letter, as tokenizers do."""

    fingerprint = "context"

    def count(self, text: str) -> int:
        return super().count(text) + (bool(text) and not text[0].isalpha())


class FakeSizer:
    """A tokenizer and two special tokens an input; remembers how many inputs each call counted."""

    def __init__(self, max_tokens: int = 512, tokenizer: Atoms | None = None) -> None:
        self.tokenizer = tokenizer or Atoms()
        self.max_tokens = max_tokens
        self.calls: list[int] = []

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        self.calls.append(len(inputs))
        return [count + 2 for count in self.tokenizer.count_many(inputs)]


def recipe(chunker: str, *, planner: bool = False, heading_depth: int = 0) -> Recipe:
    return Recipe(chunker, planner, heading_depth, tokenizer="t", model="m", algorithm="a")


def previous(text: str, layout) -> PreviousLayout:
    return PreviousLayout(text, layout)


def structure_of(text: str) -> Structure:
    """Headings, fences, tables and paragraphs, line by line."""
    blocks: list[Block] = []
    open_titles: list[tuple[int, str]] = []
    titles: list[str] = []
    state = None
    for match in LINE.finditer(text):
        line, (start, end) = match.group(), match.span()
        if start == end:
            continue
        heading = HEADING.match(line)
        fence = line.startswith("```")
        if state is BlockKind.CODE:
            _extend(blocks, end)
            state = None if fence else state
        elif fence:
            state = BlockKind.CODE
            blocks.append(Block(start, end, state, tuple(titles)))
        elif not line.strip():
            state = None
        elif heading:
            depth = len(heading[1])
            open_titles = [one for one in open_titles if one[0] < depth] + [(depth, heading[2])]
            titles = [title for _, title in open_titles]
            blocks.append(Block(start, end, BlockKind.HEADING, tuple(titles), depth))
            state = None
        else:
            kind = BlockKind.TABLE if line.startswith("|") else BlockKind.PARAGRAPH
            if kind is state:
                _extend(blocks, end)
            else:
                blocks.append(Block(start, end, kind, tuple(titles)))
            state = kind
    return Structure(tuple(blocks), parser="fake")


def _extend(blocks: list[Block], end: int) -> None:
    last = blocks.pop()
    blocks.append(Block(last.start, end, last.kind, last.heading_path, last.depth))
