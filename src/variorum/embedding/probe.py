"""Whether the model that answers is the one that made the stored vectors.

The fingerprint of a model behind an address is a claim: a provider can put other weights under the
same name and dimensions. So the vectors of a few fixed inputs are kept with the model's identity
and compared whenever it is first used.
"""

import numpy as np

from variorum.embedding.jobs import Embedded, embed_in_order
from variorum.records.errors import UnavailableError
from variorum.records.layout import input_key
from variorum.records.protocols import Embedder, Vectors

PROBES = (
    "A variorum keeps every edition of a text and shows what changed in each.",
    "校勘本保留每一个版本，并标明其中的改动。",
    "def edition(number: int) -> str: return f'no. {number} of 1865'",
)
SCOPE = "variorum:probe"
"""Stands where an input's key has its tenant: a probe is nobody's text."""

LEAST_COSINE = 0.999
"""Other hardware and other companions in a batch move a vector less than this; other weights, and
the same ones at another precision, more."""


def probe_keys(fingerprint: str) -> list[bytes]:
    """The keys of the probe inputs of a model."""
    return [input_key(SCOPE, fingerprint, "passage", text) for text in PROBES]


def probe_vectors(embedder: Embedder) -> Vectors:
    """What the model gives for the probe inputs: float32[n, dimensions].

    Raises:
        UnavailableError: it refuses them, or cannot answer.
    """
    rows = []
    for outcome in embed_in_order(embedder, enumerate(PROBES)):
        if not isinstance(outcome, Embedded):
            raise UnavailableError(
                "the model refuses even plain short sentences",
                kind="probe-refused",
                subject=embedder.identity.name,
                expected="a vector for each probe input",
                found=outcome.reason,
                remedy="check the model's spec: its name, dimensions and limits",
            )
        rows.append(outcome.vector)
    return np.stack(rows)


def require_same_vectors(name: str, stored: Vectors, found: Vectors) -> None:
    """Refuse a model whose probe vectors are not those that are stored.

    Raises:
        UnavailableError: kind `model-swapped`.
    """
    lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(found, axis=1)
    cosine = float(np.min(np.einsum("ij,ij->i", stored, found) / lengths))
    if not cosine >= LEAST_COSINE:
        raise UnavailableError(
            f"another model answers under the name {name}: its vectors are not the stored ones",
            kind="model-swapped",
            subject=name,
            expected=f"a cosine of at least {LEAST_COSINE} to the vectors of the probe inputs",
            found=f"{cosine:.4f}",
            remedy="bring the old model back, or give the new one another name in `declared`",
        )
