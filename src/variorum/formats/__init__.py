"""Bytes and a content type to text, the map back to the bytes, and blocks.

Nothing here loses or rewrites a character: a text's characters are the decoded bytes, all of them,
and structure only points into them (invariant 1).
"""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Final

from variorum.formats.captions import parse_srt, parse_vtt
from variorum.formats.decode import BinaryContentError, UndecodableError, decode
from variorum.formats.delimited import parse_delimited
from variorum.formats.html import parse_html
from variorum.formats.json_blocks import parse_json, parse_json_lines
from variorum.formats.markdown import parse_markdown
from variorum.formats.notebook import parse_notebook
from variorum.formats.plain import parse_plain
from variorum.formats.rest import parse_rest
from variorum.formats.turns import parse_text, with_turns
from variorum.records.errors import UnsupportedError
from variorum.records.text import Structure, Text

PARSERS: Final = " ".join(
    (
        f"markdown/2 (markdown-it-py {version('markdown-it-py')})",
        "plain/1",
        f"html/1 (justhtml {version('justhtml')})",
        "rest/1",
        "delimited/1",
        "json/1",
        "json-lines/1",
        "notebook/1",
        "captions/1",
        "turns/1",
    )
)
"""What the parsers are, as part of every recipe: a change lays every document out anew."""


def _parse_markdown(text: Text) -> Structure:
    return with_turns(text, parse_markdown(text))


_PARSE: Final[Mapping[str, Callable[[Text], Structure]]] = {
    "text/markdown": _parse_markdown,
    "text/plain": parse_text,
    "text/html": parse_html,
    "application/xhtml+xml": parse_html,
    "application/json": parse_json,
    "application/x-ndjson": parse_json_lines,
    "application/x-ipynb+json": parse_notebook,
    "text/x-rst": parse_rest,
    "text/vtt": parse_vtt,
    "application/x-subrip": parse_srt,
    "text/csv": parse_delimited,
    "text/tab-separated-values": parse_delimited,
}

__all__ = ["PARSERS", "BinaryContentError", "UndecodableError", "decode", "parse"]


def parse(text: Text, content_type: str) -> Structure:
    """The structure of a text. Any `text/*` type without a parser of its own is read as plain text.

    Raises:
        UnsupportedError: `content_type` is not a text type (`unsupported-content-type`).
    """
    essence = content_type.partition(";")[0].strip().lower()
    if essence in _PARSE:
        return _PARSE[essence](text)
    if essence.startswith("text/"):
        return parse_plain(text, f"no parser for {essence}")
    raise UnsupportedError(
        f"no parser for {content_type!r}",
        kind="unsupported-content-type",
        subject=content_type,
        expected=", ".join(_PARSE),
        found=content_type,
        remedy="convert the document to Markdown or plain text",
    )
