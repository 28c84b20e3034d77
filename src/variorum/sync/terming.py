"""The terms of what a plan publishes, and of what was published before there were any."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from sqlalchemy import Connection

from variorum.analysis import ANALYZER, terms
from variorum.chunking import render
from variorum.formats import decode
from variorum.records.errors import DamagedError
from variorum.records.protocols import Progress
from variorum.records.text import Revision
from variorum.store.lexicon import (
    Terms,
    Unindexed,
    add_terms,
    begin_rebuild,
    finish_rebuild,
    is_ready,
    record_terms,
    unindexed_layouts,
)
from variorum.store.postings import SEGMENT_INPUTS
from variorum.store.staged_terms import forget_terms, stage_terms, unindexed_documents
from variorum.store.staging import Staging
from variorum.sync.rereading import read_again
from variorum.sync.target import no_progress

Keep = Callable[[Sequence[tuple[int, Terms]]], None]


def make_ready(connection: Connection, progress: Progress) -> None:
    """Give every stored chunk its terms, where some have none: an older store, or other rules.

    Those of a damaged layout or revision are left out: it does not keep the others from theirs.
    What an older version laid out is read for its sections, and for what narrows it, before.

    Constant where nothing is missing, else linear in the store; broken off, it goes on.
    """
    if is_ready(connection, ANALYZER):
        return
    read_again(connection)
    begin_rebuild(connection, ANALYZER)
    progress("index terms", 0, None)
    damaged: set[int] = set()
    _index(unindexed_layouts(connection, damaged), lambda inputs: record_terms(connection, inputs))
    finish_rebuild(connection, damaged)


def catch_up(connection: Connection) -> None:
    """Make a store ready that an older version wrote, as far as nothing in it is damaged.

    A search that misses terms says so, and the next sync says why.
    """
    with suppress(DamagedError):
        make_ready(connection, no_progress)


def stage_new_terms(staging: Staging) -> None:
    """Stage the terms of every input that the plan's publish makes searchable, and no others."""
    if not staging.is_empty:
        forget_terms(staging)
        _index(unindexed_documents(staging), lambda inputs: stage_terms(staging, inputs))


def index_left(connection: Connection) -> None:
    """Give the chunks their terms that could not be read before, in short transactions."""
    _index(unindexed_layouts(connection, set()), lambda inputs: record_terms(connection, inputs))


def index_imported(connection: Connection) -> None:
    """Within an import: give every chunk its terms whose input has none yet."""
    _index(unindexed_layouts(connection, set()), lambda inputs: add_terms(connection, inputs))


def passages(found: Unindexed) -> Iterator[tuple[int, str]]:
    """(input id, embedding input) of each chunk."""
    text = decode(Revision(found.content, found.content_type)).characters
    for chunk in found.chunks:
        yield chunk.input_id, render(chunk.prefix, text[chunk.start : chunk.end])


def _index(found: Iterable[Unindexed], keep: Keep) -> None:
    """The terms of each input once, kept a segment at a time."""
    seen: set[int] = set()
    waiting: list[tuple[int, Terms]] = []
    for unindexed in found:
        for input_id, passage in passages(unindexed):
            if input_id not in seen:
                seen.add(input_id)
                waiting.append((input_id, terms(passage)))
        if len(waiting) >= SEGMENT_INPUTS:
            keep(waiting)
            waiting = []
    if waiting:
        keep(waiting)
