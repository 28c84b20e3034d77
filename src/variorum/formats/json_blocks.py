"""JSON and JSON Lines to blocks.

Of a JSON text each member of the outermost array or object is a block, and an array or object over
`MAX_WHOLE` characters is its members in turn, down to `MAX_SPLIT_DEPTH`. Commas and closing marks
belong to the member before them, opening ones to the first inside. A block is CODE, or a PARAGRAPH
where it is one long string.

The path is the keys down to the value, its own included if it is an array, an object or long: a
short member tells its key itself. Items of an array have no key; a long one is named by its own
`name`, `title`, `id` or `key`, never by its index, which an insertion before it would change.
"""

from collections.abc import Iterator
from typing import Final

from variorum.formats.json_scan import JsonError, Member, Value, scan, unquoted
from variorum.formats.pieces import Piece, tiled
from variorum.formats.plain import line_spans, parse_plain
from variorum.formats.titles import tidy_title
from variorum.records.text import Block, BlockKind, Structure, Text

NAME: Final = "json"
LINES_NAME: Final = "json-lines"
MAX_WHOLE: Final = 2000
"""Characters of an array or object that stays one block."""
MAX_SPLIT_DEPTH: Final = 8
_MIN_PROSE: Final = 200
_MAX_LABEL: Final = 100
_LABELS: Final = ("name", "title", "id", "key")


def _label(characters: str, member: Member) -> str:
    """The title of a member's section: its key, or what an item of an array calls itself."""
    if member.key is not None:
        return tidy_title(member.key)[:_MAX_LABEL]
    for key in _LABELS:
        named = member.value.get(key) if member.value.kind == "{" else None
        if named and named.kind == "string":
            return tidy_title(unquoted(characters[named.start : named.end]))[:_MAX_LABEL]
    return ""


def _pieces(
    characters: str, value: Value, path: tuple[str, ...], start: int, depth: int
) -> Iterator[Piece]:
    """The members of a container; the first also takes what precedes it, from `start` on."""
    for index, member in enumerate(value.members):
        at = member.start if index else start
        inner = member.value
        size = inner.end - inner.start
        is_prose = inner.kind == "string" and size > _MIN_PROSE
        is_long = size > MAX_WHOLE and bool(inner.members)
        label = _label(characters, member) if inner.members or is_prose else ""
        own = (*path, label) if label and (member.key is not None or is_long) else path
        if is_long and depth < MAX_SPLIT_DEPTH:
            yield from _pieces(characters, inner, own, at, depth + 1)
        else:
            yield Piece(at, BlockKind.PARAGRAPH if is_prose else BlockKind.CODE, own)


def parse_json(text: Text) -> Structure:
    """The structure of a JSON text, total on any text and linear."""
    characters = text.characters
    try:
        root = scan(characters)
    except JsonError as error:
        return parse_plain(text, f"not parsed as JSON: {error}")
    if root.members:
        pieces = list(_pieces(characters, root, (), root.start, 1))
    else:
        pieces = [Piece(root.start, BlockKind.CODE)]
    return Structure(tiled(characters, pieces), NAME)


def parse_json_lines(text: Text) -> Structure:
    """The structure of JSON Lines: a ROW for each, total on any text and linear."""
    blocks = []
    for number, line in enumerate(line_spans(text), 1):
        source = text.characters[line.start : line.end]
        if not source.strip():
            continue
        try:
            scan(source)
        except JsonError as error:
            why = str(error).removesuffix(" at line 1")
            return parse_plain(text, f"not parsed as JSON Lines: {why} at line {number}")
        blocks.append(Block(line.start, line.end, BlockKind.ROW))
    return Structure(tuple(blocks), LINES_NAME)
