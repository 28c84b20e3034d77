"""Where the text of each stored input can be read: one chunk that holds it."""

from typing import NamedTuple

from sqlalchemy import Connection, func, select

from variorum.store.schema import chunk, input_, layout, model


class Place(NamedTuple):
    """An input, and a chunk of it."""

    input_id: int
    key: bytes
    layout_id: int
    ordinal: int


def passage_places(connection: Connection, fingerprint: str) -> list[Place]:
    """One chunk of every input of a model that a chunk holds, by input. Linear in the chunks."""
    query = (
        select(input_.c.id, input_.c.key, func.min(chunk.c.layout_id), chunk.c.ordinal)
        .select_from(
            chunk.join(input_, input_.c.id == chunk.c.input_id)
            .join(model, model.c.id == input_.c.model_id)
            .join(layout, layout.c.id == chunk.c.layout_id)
        )
        .where(model.c.fingerprint == fingerprint)
        .group_by(input_.c.id)
        .order_by(input_.c.id)
    )
    return [Place(*row) for row in connection.execute(query)]
