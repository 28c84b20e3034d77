"""One text as every chunker of a study is given it."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from variorum.chunking import TokenMap
from variorum.formats import parse
from variorum.records.protocols import Tokenizer
from variorum.records.text import Structure, Text

TextRule = Literal["exact", "canonical"]
TEXT_RULES: tuple[TextRule, ...] = ("exact", "canonical")


@dataclass(frozen=True)
class Version:
    """A text with its structure and its tokens, each made once, when first asked for."""

    text: str
    content_type: str
    tokenizer: Tokenizer

    @cached_property
    def structure(self) -> Structure:
        """Its blocks."""
        return parse(Text(self.text), self.content_type)

    @cached_property
    def tokens(self) -> TokenMap:
        """Where its tokens start."""
        return TokenMap.of(self.text, self.tokenizer)


def canonical(text: str, content_type: str) -> str:
    """The text as the paper's chunkers see it: one block a paragraph, heading or list item.

    White space inside a block is folded to single blanks, blocks are separated by a blank line, and
    what stands in no block is left out where it is blank, else kept as a block of its own.
    """
    blocks = parse(Text(text), content_type).blocks
    pieces, place = [], 0
    for block in blocks:
        pieces += [text[place : block.start], text[block.start : block.end]]
        place = block.end
    folded = (re.sub(r"\s+", " ", piece).strip() for piece in [*pieces, text[place:]])
    return "\n\n".join(piece for piece in folded if piece)


def under_rule(text: str, content_type: str, rule: TextRule) -> str:
    """The text itself, or its canonical form."""
    return canonical(text, content_type) if rule == "canonical" else text
