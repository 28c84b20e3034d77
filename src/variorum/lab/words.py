"""Hashed words in place of a model: vectors of the text alone, the same on every machine.

They show how stable the cuts of a chunker that compares meanings are, not how good.
"""

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from variorum.lab.atoms import atoms
from variorum.records.protocols import Vectors

HASHED = "hashed-words/1"
DIMENSIONS = 256


def word_vectors(inputs: Sequence[str]) -> Vectors:
    """float32[n, 256]: unit vectors of how often each atom occurs, atoms hashed to a dimension."""
    vectors = np.zeros((len(inputs), DIMENSIONS), dtype=np.float32)
    for row, text in enumerate(inputs):
        for atom in atoms(text):
            vectors[row, crc32(atom.encode()) % DIMENSIONS] += 1
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)
    return vectors
