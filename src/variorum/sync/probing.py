"""The probe of a model whose fingerprint is only claimed: kept at its first sync, then compared."""

import numpy as np
from sqlalchemy import Connection

from variorum.embedding.probe import PROBES, probe_keys, probe_vectors, require_same_vectors
from variorum.records.protocols import Embedder, Vectors
from variorum.store.store import Store
from variorum.store.vectors import NewVector, find_vectors, record_vectors
from variorum.sync.target import Settings


def require_stored_model(store: Store, embedder: Embedder) -> None:
    """Compare the model with the probe that the store holds of it, if there is one.

    Raises:
        UnavailableError: kind `model-swapped`, or the model cannot answer.
    """
    if embedder.identity.is_proven or not store.exists:
        return
    with store.connection() as connection, connection.begin():
        stored = _stored(connection, embedder)
    if stored is not None:
        require_same_vectors(embedder.identity.name, stored, probe_vectors(embedder))


def keep_or_compare(connection: Connection, settings: Settings, model_id: int) -> None:
    """Compare the model with its stored probe, or store one where there is none yet.

    Raises:
        UnavailableError: kind `model-swapped`, or the model cannot answer.
    """
    embedder = settings.embedder
    if embedder.identity.is_proven:
        return
    with connection.begin():
        stored = _stored(connection, embedder)
    found = probe_vectors(embedder)
    if stored is not None:
        require_same_vectors(embedder.identity.name, stored, found)
        return
    rows = zip(
        probe_keys(embedder.identity.fingerprint), embedder.count(PROBES), found, strict=True
    )
    record_vectors(connection, model_id, [NewVector(*row) for row in rows], settings.precision)


def _stored(connection: Connection, embedder: Embedder) -> Vectors | None:
    keys = probe_keys(embedder.identity.fingerprint)
    found = find_vectors(connection, keys, embedder.identity.dimensions)
    return np.stack([found[key] for key in keys]) if len(found) == len(keys) else None
