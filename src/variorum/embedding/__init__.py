"""Inputs to vectors: token counts, model identity, bounded batches. Never truncates.

Importing the room loads no model and no inference runtime; the first use of a model does.
"""

from variorum.embedding.batches import BatchLimits
from variorum.embedding.hashing import HashingEmbedder, HashingTokenizer
from variorum.embedding.jobs import CallCount, Embedded, Rejected, embed_and_keep, embed_in_order
from variorum.embedding.registry import DEFAULT_MODEL, embedder_from_spec

__all__ = [
    "DEFAULT_MODEL",
    "BatchLimits",
    "CallCount",
    "Embedded",
    "HashingEmbedder",
    "HashingTokenizer",
    "Rejected",
    "embed_and_keep",
    "embed_in_order",
    "embedder_from_spec",
]
