"""How far the meaning of a text moves from each sentence to the next, by a model's vectors."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.chunker import Embed
from variorum.chunking.tokens import TokenMap
from variorum.records.protocols import Vectors
from variorum.records.text import Span

_DECIMALS = 6
"""Distances are compared up to this many, so that the order of a sum decides no cut."""


def distances(
    text: str, units: Sequence[Span], width: int, embed: Embed, tokens: TokenMap, max_tokens: int
) -> NDArray[np.float64]:
    """float64[n - 1]: the cosine distance between the windows around each two units in a row.

    A window is a unit and its neighbours, `width` units in all where there are so many and
    `max_tokens` allow: the outer ones are left out first. Windows with equal text are asked for
    once, in one call.
    """
    if len(units) < 2:
        return np.zeros(0)
    texts = [text[start:end] for start, end in _windows(units, width, tokens, max_tokens)]
    asked = list(dict.fromkeys(texts))
    number = {one: index for index, one in enumerate(asked)}
    vectors = _unit_length(embed(asked))
    pairs = np.array([(number[left], number[right]) for left, right in pairwise(texts)])
    cosines = np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]])
    found: NDArray[np.float64] = np.round(np.clip(1.0 - cosines, 0.0, 2.0), _DECIMALS)
    return found


def _windows(
    units: Sequence[Span], width: int, tokens: TokenMap, max_tokens: int
) -> Iterator[Span]:
    for index in range(len(units)):
        behind, ahead = (width - 1) // 2, width // 2
        window = _window(units, index, behind, ahead)
        while behind + ahead and tokens.count(*window) > max_tokens:
            behind, ahead = (behind - 1, ahead) if behind >= ahead else (behind, ahead - 1)
            window = _window(units, index, behind, ahead)
        yield window


def _window(units: Sequence[Span], index: int, behind: int, ahead: int) -> Span:
    first = units[max(0, index - behind)]
    last = units[min(len(units) - 1, index + ahead)]
    return Span(first.start, last.end)


def _unit_length(vectors: Vectors) -> NDArray[np.float64]:
    """The vectors at length one; one of no length, or not finite, is all zeros."""
    wide = np.nan_to_num(np.asarray(vectors, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = np.divide(
        wide, lengths, out=np.zeros_like(wide), where=lengths > 0
    )
    return scaled
