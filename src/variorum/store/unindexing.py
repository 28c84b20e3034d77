"""Taking inputs out of the postings: lists are made again without them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, delete, select, tuple_, update

from variorum.store.postings import Postings, packed_list, unpacked
from variorum.store.schema import indexed, posting
from variorum.store.seals import require_sound, resealed, unsound

_TOGETHER = 1000
"""Lists read at once."""
_MINE = (posting.c.term == bindparam("of_term")) & (posting.c.segment == bindparam("of_segment"))


def drop_postings(connection: Connection, inputs: Select[Any]) -> None:
    """Within a removal: take the selected inputs out of every list; one that is empty goes.

    Linear in the postings of the store; writes those of the inputs' segments that hold one.

    Raises:
        DamagedError: a list of such a segment is not as it was written.
    """
    gone = np.array(sorted(connection.execute(inputs).scalars()), np.int64)
    segments = select(indexed.c.segment).where(indexed.c.input_id.in_(inputs)).distinct()
    wanted = connection.execute(segments).scalars().all()
    after: Sequence[Any] = (b"", 0)
    while wanted and after:
        after = _drop_some(connection, gone, segments, after)


def _drop_some(
    connection: Connection, gone: NDArray[np.int64], segments: Select[Any], after: Sequence[Any]
) -> Sequence[Any]:
    """Go through the lists that stand behind the key `after`; the last key, empty at the end."""
    query = (
        select(posting.c.term, posting.c.segment, posting.c.data, *unsound(posting))
        .where(tuple_(posting.c.term, posting.c.segment) > after, posting.c.segment.in_(segments))
        .order_by(posting.c.term, posting.c.segment)
        .limit(_TOGETHER)
    )
    rows = [require_sound(row, 1) for row in connection.execute(query)]
    rest = [(term, segment, without_inputs(segment, data, gone)) for term, segment, data in rows]
    changed = [
        {"of_term": term, "of_segment": segment, "made": made}
        for (term, segment, made), row in zip(rest, rows, strict=True)
        if made is not None and made != row[2]
    ]
    empty = [{"of_term": row[0], "of_segment": row[1]} for row in rest if row[2] is None]
    if changed:
        made = resealed(posting, data=bindparam("made", type_=posting.c.data.type))
        connection.execute(update(posting).where(_MINE).values(made), changed)
    if empty:
        connection.execute(delete(posting).where(_MINE), empty)
    return rows[-1][:2] if len(rows) == _TOGETHER else ()


def without_inputs(segment: int, data: bytes, gone: NDArray[np.int64]) -> bytes | None:
    """The list without the inputs that are gone; None where it is empty."""
    found = unpacked(segment, data)
    stays = ~np.isin(found.input_ids, gone)
    if stays.all():
        return data
    if not stays.any():
        return None
    return packed_list(segment, Postings(found.input_ids[stays], found.counts[stays]))
