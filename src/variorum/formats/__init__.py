"""Bytes and a content type to text, the map back to the bytes, and blocks.

Nothing here loses or rewrites a character: a text's characters are the decoded bytes, all of them,
and structure only points into them (invariant 1).
"""

from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from typing import Final, NamedTuple

from variorum.formats import code
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

__all__ = ["BinaryContentError", "UndecodableError", "decode", "parse", "parser_of"]


class _Parser(NamedTuple):
    """A parser and its version: a change of the version lays its documents out anew."""

    version: str
    parse: Callable[[Text], Structure]


def _parse_markdown(text: Text) -> Structure:
    return with_turns(text, parse_markdown(text))


_PLAIN = _Parser("plain/1 turns/1", parse_text)
_HTML = _Parser(f"html/1 (justhtml {version('justhtml')})", parse_html)
_MARKDOWN_IT = f"markdown-it-py {version('markdown-it-py')}"

_PARSERS: Final[dict[str, _Parser]] = {
    "text/markdown": _Parser(f"markdown/2 ({_MARKDOWN_IT}) turns/1", _parse_markdown),
    "text/plain": _PLAIN,
    "text/html": _HTML,
    "application/xhtml+xml": _HTML,
    "application/json": _Parser("json/1", parse_json),
    "application/x-ndjson": _Parser("json-lines/1", parse_json_lines),
    "application/x-ipynb+json": _Parser(f"notebook/1 ({_MARKDOWN_IT})", parse_notebook),
    "text/x-rst": _Parser("rest/1", parse_rest),
    "text/vtt": _Parser("captions/1", parse_vtt),
    "application/x-subrip": _Parser("captions/1", parse_srt),
    "text/csv": _Parser("delimited/1", parse_delimited),
    "text/tab-separated-values": _Parser("delimited/1", parse_delimited),
    **{
        content_type: _Parser(
            code.parser_of(content_type), partial(code.parse_code, content_type=content_type)
        )
        for content_type in code.CONTENT_TYPES
    },
}


def parse(text: Text, content_type: str) -> Structure:
    """The structure of a text. Any `text/*` type without a parser of its own is read as plain text.

    Raises:
        UnsupportedError: `content_type` is not a text type (`unsupported-content-type`).
    """
    essence = _essence(content_type)
    if essence in _PARSERS:
        return _PARSERS[essence].parse(text)
    if essence.startswith("text/"):
        return parse_plain(text, f"no parser for {essence}")
    raise UnsupportedError(
        f"no parser for {content_type!r}",
        kind="unsupported-content-type",
        subject=content_type,
        expected="text/markdown, text/plain, or another type of the reference",
        found=content_type,
        remedy="convert the document to Markdown or plain text",
    )


@cache
def parser_of(content_type: str) -> str:
    """The parser of a content type with its version and its library's: part of every layout."""
    return _PARSERS.get(_essence(content_type), _PLAIN).version


def _essence(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()
