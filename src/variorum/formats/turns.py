"""Who speaks: transcripts in plain text and Markdown.

A paragraph that begins `Name:`, `[00:12] Name:`, `**Name:**` or `张三：` opens a turn, which is a
TURN block, and what follows until the next is said by the same person. To be taken for a transcript
a text needs `MIN_TURNS` of them in `MIN_SHARE` of its paragraphs, and people who speak twice on
average: a list of terms or settings names each one once. Where the paragraphs do not fit, lines are
tried, as chats are written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from variorum.formats.plain import parse_plain
from variorum.records.text import Block, BlockKind, Span, Structure, Text

MIN_TURNS: Final = 5
MIN_SHARE: Final = 0.6
_MAX_NAME_WORDS: Final = 4
_TIME: Final = r"[\[(]?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?[\])]?"
_OPENING: Final = re.compile(
    rf"\s*(?:[-*>]\s+)?(?P<before>{_TIME}\s*(?:[-–—]\s*)?)?(?:\*\*|__)?"
    rf"(?P<name>[^\W\d_][\w .'’&-]{{0,39}})(?:\*\*|__)?\s*(?P<after>{_TIME}\s*)?"
    r"(?::(?:\*\*|__)?(?=\s|\Z)|：)"
)
_PROSE: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM})
# What begins a remark, a record or a message, and is nobody's name.
_NO_NAMES: Final = frozenset(
    (
        *("note", "notes", "warning", "tip", "hint", "example", "examples", "todo", "fixme", "see"),
        *("important", "caution", "danger", "info", "summary", "date", "author", "title", "step"),
        *("subject", "from", "to", "cc", "bcc", "source", "usage", "returns", "args", "raises"),
        *("parameters", "fix", "feat", "chore", "docs", "test", "tests", "refactor", "style"),
        *("build", "ci", "perf", "revert", "input", "output", "url", "version", "name", "type"),
        *("description", "default", "status", "注意", "注", "备注", "说明", "提示", "警告", "例如"),
        *("table", "figure", "fig", "listing", "chapter", "section", "appendix", "表", "图"),
        *("示例", "日期", "作者", "标题", "来源", "名称", "描述", "类型", "版本", "地址", "电话"),
    )
)


class _Opening(NamedTuple):
    speaker: str
    has_time: bool


def opening(paragraph: str) -> _Opening | None:
    """Who begins to speak in a paragraph, and whether it says when; None where nobody does."""
    match = _OPENING.match(paragraph[:200])
    if match is None:
        return None
    speaker = " ".join(match["name"].split())
    has_time = bool(match["before"] or match["after"])
    is_name = speaker[0].isupper() or not speaker[0].islower() or has_time
    if (
        not is_name
        or len(speaker.split()) > _MAX_NAME_WORDS
        or speaker.split()[0].lower() in _NO_NAMES
    ):
        return None
    return _Opening(speaker, has_time)


def speakers(paragraphs: Sequence[str]) -> list[str] | None:
    """Who opens each paragraph ("" where it goes on), or None where this is no transcript."""
    openings = [opening(paragraph) for paragraph in paragraphs]
    found = [one for one in openings if one]
    names = {one.speaker for one in found}
    if len(found) < MIN_TURNS or len(found) < MIN_SHARE * len(paragraphs):
        return None
    if 2 * len(names) > len(found):
        return None
    if len(names) < 2 and not all(one.has_time for one in found):
        return None
    return [one.speaker if one else "" for one in openings]


def _lines(text: Text, block: Block) -> Iterator[Span]:
    first, last = text.line_of(block.start), text.line_of(max(block.start, block.end - 1))
    edges = [*text.line_starts[first - 1 : last], block.end]
    for start, end in pairwise(edges):
        yield Span(max(start, block.start), end)


def _units(text: Text, blocks: Sequence[Block], by_line: bool) -> list[list[Span]]:
    """Of each block of prose its paragraph or its lines, of each other block nothing."""
    units: list[list[Span]] = []
    for block in blocks:
        if block.kind not in _PROSE:
            units.append([])
        elif by_line:
            units.append(list(_lines(text, block)))
        else:
            units.append([Span(block.start, block.end)])
    return units


def _spoken(block: Block, units: list[Span], named: list[str], speaker: str) -> Iterator[Block]:
    """A block cut where someone begins to speak; what comes before goes on with `speaker`."""
    starts = [unit.start for unit, name in zip(units, named, strict=True) if name]
    names = [name for name in named if name]
    if not starts or starts[0] > block.start:
        starts, names = [block.start, *starts], [speaker, *names]
    for index, (start, name) in enumerate(zip(starts, names, strict=True)):
        end = starts[index + 1] if index + 1 < len(starts) else block.end
        goes_on = index == 0 and not named[0]
        path = (*block.heading_path, name) if name else block.heading_path
        kind = block.kind if goes_on else BlockKind.TURN
        yield replace(block, start=start, end=end, kind=kind, heading_path=path)


def with_turns(text: Text, structure: Structure) -> Structure:
    """The structure with the turns of a transcript marked, or the same if it is none. Linear."""
    characters = text.characters
    for by_line in (False, True):
        units = _units(text, structure.blocks, by_line)
        named = speakers([characters[start:end] for spans in units for start, end in spans])
        if named is not None:
            break
    else:
        return structure
    blocks: list[Block] = []
    speaker, place = "", 0
    for block, spans in zip(structure.blocks, units, strict=True):
        if block.depth:
            speaker = ""
        own = named[place : place + len(spans)]
        place += len(spans)
        blocks.extend(_spoken(block, spans, own, speaker) if own else [block])
        speaker = next((name for name in reversed(own) if name), speaker)
    return replace(structure, blocks=tuple(blocks))


def parse_text(text: Text) -> Structure:
    """The structure of plain text, turns of a transcript included; total and linear."""
    return with_turns(text, parse_plain(text))
