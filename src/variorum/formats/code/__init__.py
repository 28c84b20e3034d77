"""Source code: definitions, imports and statements, by syntax trees."""

from typing import Final

from variorum.formats.code.grammars import BY_CONTENT_TYPE, versions_of
from variorum.formats.code.parser import parse_code

CONTENT_TYPES: Final = frozenset(BY_CONTENT_TYPE)
"""The content types that `parse_code` takes."""

__all__ = ["CONTENT_TYPES", "parse_code", "parser_of"]


def parser_of(content_type: str) -> str:
    """What the parser of a content type is, with the grammars that it has at hand."""
    return f"code/1 ({versions_of(content_type)})"
