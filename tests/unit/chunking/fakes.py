"""Small stand-ins: tokenizers whose counts are plain to see, and a line-based structure."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from variorum.chunking import Chunker, NeedsVectors, chunker_from_spec
from variorum.records.layout import PreviousLayout, Recipe
from variorum.records.protocols import Role, Vectors
from variorum.records.text import Block, BlockKind, Span, Structure

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


DIMENSIONS = 16


def fake_embed(inputs: Sequence[str]) -> Vectors:
    """Vectors of the words that inputs hold: inputs without a common word are far apart."""
    vectors = np.zeros((len(inputs), DIMENSIONS), dtype=np.float32)
    for row, one in enumerate(inputs):
        for word in ATOM.findall(one):
            vectors[row, sum(map(ord, word)) % DIMENSIONS] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


class CountingEmbed:
    """`fake_embed` that remembers the inputs of each call."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, inputs: Sequence[str]) -> Vectors:
        self.calls.append(list(inputs))
        return fake_embed(inputs)


def chunker_of(spec: str) -> Chunker:
    """The chunker of a spec, with vectors where it needs them."""
    chunker = chunker_from_spec(spec)
    return chunker.with_embed(fake_embed) if isinstance(chunker, NeedsVectors) else chunker


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


def tabled(text: str) -> Structure:
    """`structure_of` with each table as a head of two lines and a row for each further line."""
    blocks: list[Block] = []
    for block in structure_of(text).blocks:
        blocks.extend(_rows(text, block) if block.kind is BlockKind.TABLE else [block])
    return Structure(tuple(blocks), parser="tabled")


def _rows(text: str, table: Block) -> list[Block]:
    lines = [match.span() for match in LINE.finditer(text, table.start, table.end)]
    lines = [(start, end) for start, end in lines if start < end]
    head = Span(lines[0][0], lines[:2][-1][1])
    row = replace(table, kind=BlockKind.ROW, repeats=head)
    rows = [replace(row, start=start, end=end) for start, end in lines[2:]]
    return [replace(table, start=head.start, end=head.end), *rows]
