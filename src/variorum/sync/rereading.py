"""Reading again what older versions laid out, for what access needs to know of it."""

from sqlalchemy import Connection

from variorum.formats import decode, parse
from variorum.records.errors import InputError
from variorum.records.text import Revision
from variorum.store.unread import Reading, Unread, record_readings, unread_layouts
from variorum.sync.laying import metadata_of
from variorum.sync.outlines import outline_of

_TOGETHER = 256
"""Layouts whose readings are kept in one transaction."""


def read_again(connection: Connection) -> None:
    """Find the sections of every layout that has no outline, and what its revision narrows.

    Linear in those layouts; broken off, it goes on.
    """
    waiting: list[Reading] = []
    for unread in unread_layouts(connection):
        waiting.append(_reading(unread))
        if len(waiting) == _TOGETHER:
            record_readings(connection, waiting)
            waiting = []
    if waiting:
        record_readings(connection, waiting)


def _reading(unread: Unread) -> Reading:
    text = decode(Revision(unread.content, unread.content_type))
    structure = parse(text, unread.content_type)
    outline = outline_of(text.characters, structure)
    try:
        return Reading(unread.layout_id, outline, metadata_of(structure))
    except InputError:
        # It may narrow access and nobody knows to whom: the owner's alone until it is corrected.
        return Reading(unread.layout_id, outline, None)
