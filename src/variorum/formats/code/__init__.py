"""Source code: definitions, imports and statements, by syntax trees."""

from typing import Final

from variorum.formats.code.grammars import BY_CONTENT_TYPE, versions
from variorum.formats.code.parser import parse_code

CONTENT_TYPES: Final = frozenset(BY_CONTENT_TYPE)
"""The content types that `parse_code` takes."""
PARSER: Final = f"code/1 ({versions()})"
"""What the parser is, with the grammars that it has at hand."""

__all__ = ["CONTENT_TYPES", "PARSER", "parse_code"]
