"""The models that a store has vectors of."""

from sqlalchemy import Connection, select

from variorum.store.schema import model
from variorum.store.seals import require_sound, unsound


def model_spec_of(connection: Connection, fingerprint: str) -> str | None:
    """The spec that built a model; None where the store does not know it.

    Raises:
        DamagedError: its row is not as it was written.
    """
    query = select(model.c.spec, *unsound(model)).where(model.c.fingerprint == fingerprint)
    row = connection.execute(query).first()
    return None if row is None else str(require_sound(row, 1)[0])
