"""Captions (WebVTT and SubRip) to turns: a TURN block for each cue, under its speaker.

A cue is its identifier, its times and its words. The speaker is what WebVTT's `<v Name>` says, else
who the words begin with, if the captions as a whole read like a transcript. Headers, notes and
styles are `OTHER`.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from variorum.formats.leaves import Leaf, leaf_blocks
from variorum.formats.plain import line_spans, parse_plain
from variorum.formats.titles import tidy_title
from variorum.formats.turns import speakers
from variorum.records.text import BlockKind, Structure, Text

VTT_NAME: Final = "webvtt"
SRT_NAME: Final = "subrip"
_STAMP: Final = r"(?:\d+:)?\d{1,2}:\d\d[.,]\d{1,3}"
_TIMES: Final = re.compile(rf"[ \t]*{_STAMP}[ \t]+-->[ \t]+{_STAMP}")
_VOICE: Final = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>\r\n]{1,200})>")
_TAG: Final = re.compile(r"<[^<>\r\n]{0,200}>|\{[^{}\r\n]{0,200}\}")
_HEADER: Final = re.compile(r"\ufeff?WEBVTT(?![^\s])")
_SETTING: Final = re.compile(r"([A-Za-z][\w-]{0,40}):[ \t]*(.{1,200})")


class _Cue(NamedTuple):
    """Lines of a cue, counted from 0: its first, that of its times, and the one after its last."""

    first_line: int
    times_line: int
    end_line: int


def _cues(lines: list[str], ends_at_blank: bool) -> Iterator[_Cue]:
    times = [index for index, line in enumerate(lines) if _TIMES.match(line)]
    first_lines = []
    for number, index in enumerate(times):
        after_times = number > 0 and times[number - 1] == index - 1
        above = lines[index - 1].strip() if index else ""
        opens = index < 2 or not lines[index - 2].strip()
        has_id = bool(above) and not after_times and (opens or above.isdigit())
        first_lines.append(index - 1 if has_id and not _HEADER.match(above) else index)
    stops = [*first_lines[1:], len(lines)]
    for index, first, stop in zip(times, first_lines, stops, strict=False):
        end = index + 1
        filled = end
        while end < stop and (lines[end].strip() or not ends_at_blank):
            end += 1
            filled = end if lines[end - 1].strip() else filled
        yield _Cue(first, index, filled)


def _leaves(lines: list[str], cues: list[_Cue]) -> Iterator[Leaf]:
    words = ["".join(lines[cue.times_line + 1 : cue.end_line]) for cue in cues]
    voices = [_VOICE.search(said) for said in words]
    named = [tidy_title(voice[1]) if voice else "" for voice in voices]
    if not any(named):
        openings = speakers([_TAG.sub("", said) for said in words]) or []
        speaker = ""
        # A sentence runs over several cues, and only its first one names who says it.
        for index, name in enumerate(openings):
            named[index] = speaker = name or speaker
    for cue, name in zip(cues, named, strict=True):
        yield Leaf(cue.first_line, cue.end_line, BlockKind.TURN, label=name)


def _settings(lines: list[str]) -> dict[str, str]:
    """What the header of a WebVTT file says below its first line, such as its language."""
    found = {}
    for line in lines[1:]:
        setting = _SETTING.match(line)
        if setting is None:
            break
        value = tidy_title(setting[2])
        if value and "-->" not in value:
            found[setting[1].lower()] = value
    return found


def parse_vtt(text: Text) -> Structure:
    """The structure of WebVTT captions, total on any text and linear."""
    if not _HEADER.match(text.characters):
        return parse_plain(text, "not read as WebVTT: it does not begin with WEBVTT")
    return _parsed(text, VTT_NAME, ends_at_blank=True)


def parse_srt(text: Text) -> Structure:
    """The structure of SubRip captions, total on any text and linear."""
    # A blank line does not end a cue: only the times of the next one do.
    structure = _parsed(text, SRT_NAME, ends_at_blank=False)
    if not any(block.kind is BlockKind.TURN for block in structure.blocks):
        return parse_plain(text, "not read as SubRip: it has no cues")
    return structure


def _parsed(text: Text, name: str, ends_at_blank: bool) -> Structure:
    spans = [line for line in line_spans(text) if line.end > line.start]
    lines = [text.characters[line.start : line.end] for line in spans]
    leaves = _leaves(lines, list(_cues(lines, ends_at_blank)))
    blocks = tuple(leaf_blocks(text.characters, spans, leaves))
    return Structure(blocks, name, _settings(lines) if name == VTT_NAME else {})
