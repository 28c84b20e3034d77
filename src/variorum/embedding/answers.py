"""Whether an embedder's answer can be used: its shape, and each of its rows."""

import numpy as np

from variorum.records.errors import UnavailableError
from variorum.records.protocols import Vectors

BAD_ANSWER = "bad-embedding-answer"
"""The kind of error about an answer that is no use."""

_NORM_TOLERANCE = 1e-3


def check_shape(vectors: Vectors, count: int, dimensions: int) -> None:
    """Refuse an answer that is not float32[count, dimensions].

    Raises:
        UnavailableError: it is another shape or type.
    """
    if vectors.shape != (count, dimensions):
        raise bad_answer(f"float32[{count}, {dimensions}]", f"shape {vectors.shape}")
    if vectors.dtype != np.float32:
        raise bad_answer("float32", str(vectors.dtype))


def faults_of_rows(vectors: Vectors) -> dict[int, str]:
    """Why a row is no vector, by its number: not finite, or not of unit length."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    wrong = ~(np.abs(lengths - 1.0) <= _NORM_TOLERANCE)  # true for NaN as well
    return {int(row): f"length {lengths[row]:.6g}" for row in np.flatnonzero(wrong)}


def bad_answer(expected: str, found: str) -> UnavailableError:
    """The error about an answer that is no use."""
    return UnavailableError(
        f"the embedder's answer is unusable: {found} instead of {expected}",
        kind=BAD_ANSWER,
        subject="embedder",
        expected=expected,
        found=found,
        remedy="check that the named model is the one that answers, then run again",
    )
