"""From a text to ranges: chunkers, the reuse planner, and the layout they give. No I/O."""

from variorum.chunking.anchored import Anchored
from variorum.chunking.chunker import Chunker, Embed, NeedsVectors, Shape
from variorum.chunking.content_defined import ContentDefined
from variorum.chunking.fixed import Fixed
from variorum.chunking.fixed_characters import FixedCharacters
from variorum.chunking.layout import lay_out
from variorum.chunking.plain import plain_structure
from variorum.chunking.recursive import Recursive
from variorum.chunking.render import render
from variorum.chunking.semantic import Semantic
from variorum.chunking.sentences import sentences
from variorum.chunking.spec import chunker_from_spec, over_the_limit
from variorum.chunking.structural import Structural
from variorum.chunking.tokens import TokenMap

__all__ = [
    "Anchored",
    "Chunker",
    "ContentDefined",
    "Embed",
    "Fixed",
    "FixedCharacters",
    "NeedsVectors",
    "Recursive",
    "Semantic",
    "Shape",
    "Structural",
    "TokenMap",
    "chunker_from_spec",
    "lay_out",
    "over_the_limit",
    "plain_structure",
    "render",
    "sentences",
]
