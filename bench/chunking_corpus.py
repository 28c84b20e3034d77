"""Real revisions, a Markdown stand-in for structure, and atoms as tokens, for chunking benches."""

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np
from markdown_it import MarkdownIt
from markdown_it.token import Token

from variorum.chunking.plain import plain_structure
from variorum.records.protocols import Role, Vectors
from variorum.records.text import Block, BlockKind, Structure, Text

ATOM = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]"
    r"|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+|[^\w\s]"
)
SPECIAL_TOKENS = 2
DIMENSIONS = 256
_KINDS = {
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "html_block": BlockKind.HTML,
    "table_open": BlockKind.TABLE,
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "hr": BlockKind.OTHER,
}
_FRONT_MATTER = re.compile(r"---\n.*?\n---\n", re.DOTALL)


class AtomTokenizer:
    fingerprint = "atoms-1"

    def count(self, text: str) -> int:
        return sum(1 for _ in ATOM.finditer(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def starts(self, text: str) -> list[int]:
        return [match.start() for match in ATOM.finditer(text)]


class AtomSizer:
    def __init__(self, max_tokens: int = 512) -> None:
        self.tokenizer = AtomTokenizer()
        self.max_tokens = max_tokens

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return [self.tokenizer.count(text) + SPECIAL_TOKENS for text in inputs]


def word_vectors(inputs: Sequence[str]) -> Vectors:
    """Hashed words in place of a model: they show how stable semantic cuts are, not how good."""
    vectors = np.zeros((len(inputs), DIMENSIONS), dtype=np.float32)
    for row, text in enumerate(inputs):
        for atom in ATOM.findall(text):
            vectors[row, crc32(atom.encode()) % DIMENSIONS] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)


def structure_of(path: str, text: str) -> Structure:
    if path.endswith((".md", ".mdx", ".markdown")):
        return markdown_structure(text)
    return plain_structure(text)


def markdown_structure(text: str) -> Structure:
    starts = [*Text(text).line_starts, len(text)]
    front = _FRONT_MATTER.match(text)
    skipped = text[: front.end()].count("\n") if front else 0
    blocks = [Block(0, front.end(), BlockKind.FRONT_MATTER)] if front else []
    titles: list[tuple[int, str]] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(text[starts[skipped] :])
    inside_until = 0
    for token, following in pairwise([*tokens, Token("end", "", 0)]):
        kind = _KINDS.get(token.type)
        if kind is None or not token.map or token.map[0] < inside_until:
            continue
        depth = int(token.tag[1]) if kind is BlockKind.HEADING else 0
        if depth:
            titles = [one for one in titles if one[0] < depth] + [(depth, following.content)]
        elif kind is BlockKind.TABLE:
            inside_until = token.map[1]
        elif kind is BlockKind.PARAGRAPH and token.level:
            kind = BlockKind.LIST_ITEM
        start, end = (starts[min(line + skipped, len(starts) - 1)] for line in token.map)
        if start < end:
            blocks.append(Block(start, end, kind, tuple(title for _, title in titles), depth))
    return Structure(tuple(blocks), parser="bench")


def records(folder: Path, name: str) -> Iterator[dict[str, object]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def histories(folder: Path, name: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """(language, [(path, text) oldest first]) of each pair or chain."""
    for record in records(folder, name):
        if name == "chains":
            chain = [(step["path"], step["text"]) for step in record["revisions"]]
        else:
            old = (record["old_path"], record["old_text"])
            chain = [old, (record["path"], record["new_text"])]
        yield record["lang"], chain
