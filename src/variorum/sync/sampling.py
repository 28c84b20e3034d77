"""A sample of the stored vectors against what the model gives for the same inputs now."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
from sqlalchemy import Connection

from variorum.embedding.jobs import Embedded, embed_in_order
from variorum.embedding.probe import LEAST_COSINE
from variorum.formats import decode
from variorum.records.protocols import Embedder
from variorum.records.text import Revision
from variorum.store.audit import Audit
from variorum.store.sampled import passage_places
from variorum.store.vectors import find_vectors
from variorum.sync.slices import passage_of


@dataclass(frozen=True, slots=True)
class Sample:
    """How many inputs of which model to embed again; `random` chooses them."""

    inputs: int
    embedder: Embedder
    random: Random


def sample_problems(connection: Connection, sample: Sample) -> Iterator[tuple[str, str]]:
    """(input, what is wrong) of each sampled input whose stored vector is not what the model gives.

    Sound are those with a cosine of `LEAST_COSINE` or more: other hardware moves a vector less.
    """
    identity = sample.embedder.identity
    places = passage_places(connection, identity.fingerprint)
    chosen = sample.random.sample(places, min(sample.inputs, len(places)))
    texts = ((place.key, _passage(connection, place.layout_id, place.ordinal)) for place in chosen)
    names = {place.key: f"input {place.input_id}" for place in chosen}
    stored = find_vectors(connection, names, identity.dimensions)
    for outcome in embed_in_order(sample.embedder, list(texts)):
        name = names[outcome.key]
        if not isinstance(outcome, Embedded):
            yield name, f"the model refuses it: {outcome.reason}"
        elif outcome.key in stored:
            cosine = _cosine(stored[outcome.key], outcome.vector)
            if not cosine >= LEAST_COSINE:
                yield name, f"a cosine of {cosine:.4f} to what the model gives for it now"


def _passage(connection: Connection, layout_id: int, ordinal: int) -> str:
    [layout] = Audit(connection).layouts(layout_id)
    text = decode(Revision(layout.content, layout.content_type)).characters
    [chunk] = [one for one in layout.chunks if one.ordinal == ordinal]
    return passage_of(chunk, text)


def _cosine(stored: np.ndarray, found: np.ndarray) -> float:
    lengths = float(np.linalg.norm(stored)) * float(np.linalg.norm(found))
    return float(stored @ found) / lengths if lengths else 0.0
