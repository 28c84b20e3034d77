"""What an embedder's answer must be before anything is done with it."""

import numpy as np

from variorum.records.errors import UnavailableError
from variorum.records.protocols import ModelIdentity, Vectors

_NORM_TOLERANCE = 1e-3


def require_sound_answer(vectors: Vectors, count: int, identity: ModelIdentity) -> None:
    """Refuse what is not float32[count, dimensions] of unit length.

    Raises:
        UnavailableError: it is something else.
    """
    name = identity.name
    wanted = f"float32[{count}, {identity.dimensions}]"
    if not isinstance(vectors, np.ndarray):
        raise _bad_answer(name, wanted, type(vectors).__name__)
    if vectors.shape != (count, identity.dimensions):
        raise _bad_answer(name, wanted, f"shape {vectors.shape}")
    if vectors.dtype != np.float32:
        raise _bad_answer(name, "float32", str(vectors.dtype))
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    wrong = ~(np.abs(lengths - 1.0) <= _NORM_TOLERANCE)  # true for NaN as well
    if wrong.any():
        place = int(np.argmax(wrong))
        found = f"length {lengths[place]:.6g} at {place}"
        raise _bad_answer(name, "vectors of unit length", found)


def _bad_answer(name: str, expected: str, found: str) -> UnavailableError:
    return UnavailableError(
        f"the answer of the embedder {name!r} is unusable: {found} instead of {expected}",
        kind="bad-embedding-answer",
        subject=name,
        expected=expected,
        found=found,
        remedy="check that the named model is the one that answers, then run again",
    )
