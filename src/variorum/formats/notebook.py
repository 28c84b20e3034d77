"""Jupyter notebooks (format 4) to blocks that point into the notebook's JSON.

A Markdown cell is the blocks of its Markdown, a code cell one CODE block, a raw cell a paragraph.
Headings in Markdown cells head all that follows, as a reader sees it. A block's range holds the
strings of the cell as JSON writes them: quotes, escapes, commas. All else (outputs, ids, metadata,
punctuation) is `OTHER`.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from variorum.formats.json_scan import (
    DecodedString,
    JsonError,
    Value,
    decoded_string,
    scan,
    unquoted,
)
from variorum.formats.leaves import Sections
from variorum.formats.markdown import parse_markdown
from variorum.formats.pieces import Piece, tiled
from variorum.formats.plain import parse_plain
from variorum.formats.titles import tidy_title
from variorum.records.text import Block, BlockKind, Structure, Text

NAME: Final = "notebook"
_METADATA: Final = {
    "title": ("title",),
    "kernel": ("kernelspec", "display_name"),
    "language": ("language_info", "name"),
}


class _Source(NamedTuple):
    """What a cell says, and where it says it."""

    characters: str
    strings: list[DecodedString]
    starts: list[int]
    end: int

    def place(self, offset: int) -> int:
        """Where the character at `offset` begins in the notebook."""
        index = bisect_right(self.starts, offset) - 1
        return self.strings[index].place(offset - self.starts[index])


def _source(characters: str, cell: Value) -> _Source | None:
    """The source of a cell, which is one string or an array of them; None where it is empty."""
    value = cell.get("source")
    if value is None:
        return None
    values = [value] if value.kind == "string" else [member.value for member in value.members]
    strings = [decoded_string(characters, one) for one in values if one.kind == "string"]
    strings = [string for string in strings if string.characters]
    joined = "".join(string.characters for string in strings)
    if not joined.strip():
        return None
    starts, length = [], 0
    for string in strings:
        starts.append(length)
        length += len(string.characters)
    return _Source(joined, strings, starts, value.end)


def _string(characters: str, value: Value | None) -> str:
    """The value of a string member, or ""."""
    return unquoted(characters[value.start : value.end]) if _is_string(value) and value else ""


def _is_string(value: Value | None) -> bool:
    return value is not None and value.kind == "string"


def _title(source: _Source, block: Block) -> str:
    """A heading's own title, which a heading without words does not have."""
    words = source.characters[block.start : block.end].strip("#=- \t\r\n")
    return block.heading_path[-1] if words and block.heading_path else ""


def _markdown_pieces(source: _Source, sections: Sections) -> Iterator[Piece]:
    for block in parse_markdown(Text(source.characters)).blocks:
        if block.depth:
            sections.enter(block.depth, _title(source, block))
        head = source.place(block.repeats.start) if block.repeats else None
        yield Piece(source.place(block.start), block.kind, sections.path, block.depth, head)


def _pieces(characters: str, cells: Value) -> Iterator[Piece]:
    sections = Sections()
    for member in cells.members:
        source = _source(characters, member.value)
        if source is None:
            continue
        cell_type = _string(characters, member.value.get("cell_type"))
        if cell_type == "markdown":
            yield from _markdown_pieces(source, sections)
        else:
            kind = BlockKind.CODE if cell_type == "code" else BlockKind.PARAGRAPH
            yield Piece(source.place(0), kind, sections.path)
        yield Piece(source.end, BlockKind.OTHER, sections.path)


def _metadata(characters: str, root: Value) -> dict[str, str]:
    found = {}
    for name, keys in _METADATA.items():
        value = root.get("metadata")
        for key in keys:
            value = value.get(key) if value else None
        words = tidy_title(_string(characters, value))
        if words:
            found[name] = words
    return found


def parse_notebook(text: Text) -> Structure:
    """The structure of a notebook, total on any text and linear but for its Markdown."""
    characters = text.characters
    try:
        root = scan(characters)
    except JsonError as error:
        return parse_plain(text, f"not parsed as a notebook: {error}")
    cells = root.get("cells")
    if cells is None or cells.kind != "[":
        return parse_plain(text, "not parsed as a notebook: no cells")
    pieces = list(_pieces(characters, cells))
    return Structure(tiled(characters, pieces), NAME, _metadata(characters, root))
