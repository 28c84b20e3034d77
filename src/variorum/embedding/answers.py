"""What an embedder's answer must be before anything is done with it."""

import numpy as np

from variorum.records.errors import UnavailableError
from variorum.records.protocols import ModelIdentity, Vectors

BAD_ANSWER = "bad-embedding-answer"
"""The kind of error about an answer that is no use."""

_NORM_TOLERANCE = 1e-3


def require_sound_answer(vectors: Vectors, count: int, identity: ModelIdentity) -> None:
    """Refuse what is not float32[count, dimensions], or has no row of unit length.

    Single rows may be unusable: `faults_of_rows` finds them.

    Raises:
        UnavailableError: it is something else.
    """
    name = identity.name
    wanted = f"float32[{count}, {identity.dimensions}]"
    if not isinstance(vectors, np.ndarray):
        raise bad_answer(name, wanted, type(vectors).__name__)
    if vectors.shape != (count, identity.dimensions):
        raise bad_answer(name, wanted, f"shape {vectors.shape}")
    if vectors.dtype != np.float32:
        raise bad_answer(name, "float32", str(vectors.dtype))
    faults = faults_of_rows(vectors)
    if count and len(faults) == count:
        raise bad_answer(name, "vectors of unit length", f"{faults[0]} at 0")


def faults_of_rows(vectors: Vectors) -> dict[int, str]:
    """Why a row is no vector, by its number: not finite, or not of unit length."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    wrong = ~(np.abs(lengths - 1.0) <= _NORM_TOLERANCE)  # true for NaN as well
    return {int(row): f"length {lengths[row]:.6g}" for row in np.flatnonzero(wrong)}


def bad_answer(name: str, expected: str, found: str) -> UnavailableError:
    """The error about an answer that is no use."""
    return UnavailableError(
        f"the answer of the embedder {name!r} is unusable: {found} instead of {expected}",
        kind=BAD_ANSWER,
        subject=name,
        expected=expected,
        found=found,
        remedy="check that the named model is the one that answers, then run again",
    )
