"""The plain words of a heading."""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKUP: Final = re.compile(r"[\\`*_\[\]<>&!~]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff]")
_MAX_PARSED: Final = 1000
"""Longer titles keep their markup: inline parsing is not linear."""


def _words(tokens: list[Token]) -> str:
    parts: list[str] = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "image":
            parts.append(_words(token.children or []))
        elif token.type in ("text", "code_inline"):
            parts.append(token.content)
    return "".join(parts)


def tidy_title(words: str) -> str:
    """Words without control characters and doubled white space."""
    return " ".join(_CONTROLS.sub("", words).split())


def plain_title(content: str, inline: MarkdownIt) -> str:
    """A heading's content without markup, control characters and doubled white space."""
    content = _CONTROLS.sub("", content)
    if len(content) <= _MAX_PARSED and _MARKUP.search(content):
        parsed = inline.parseInline(content)
        content = _words(parsed[0].children or []) if parsed else content
    return " ".join(content.split())
