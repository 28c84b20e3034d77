"""From a text to ranges: chunkers, the reuse planner, and the layout they give. No I/O."""

from variorum.chunking.anchored import Anchored
from variorum.chunking.chunker import Chunker, Shape
from variorum.chunking.fixed import Fixed
from variorum.chunking.layout import lay_out
from variorum.chunking.plain import plain_structure
from variorum.chunking.recursive import Recursive
from variorum.chunking.render import render
from variorum.chunking.spec import chunker_from_spec
from variorum.chunking.tokens import TokenMap

__all__ = [
    "Anchored",
    "Chunker",
    "Fixed",
    "Recursive",
    "Shape",
    "TokenMap",
    "chunker_from_spec",
    "lay_out",
    "plain_structure",
    "render",
]
