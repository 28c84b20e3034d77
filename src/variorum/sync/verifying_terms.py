"""Checking the terms of every chunk: made again from the stored text, and compared."""

from collections.abc import Iterator

from sqlalchemy import Connection

from variorum.analysis import ANALYZER, terms
from variorum.store.lexicon import indexed_layouts, is_lost, is_ready
from variorum.store.term_audit import fingerprint_of, stored_fingerprints
from variorum.sync.terming import passages


def term_problems(connection: Connection) -> Iterator[tuple[str, str]]:
    """(input, what is wrong) of every published input whose stored terms are not its text's.

    Nothing where the terms are of other rules: a search says so, and the next sync makes them anew.
    """
    if is_lost(connection):
        yield "lexicon", "is gone, and there are terms"
    if not is_ready(connection, ANALYZER):
        return
    stored = stored_fingerprints(connection)
    seen: set[int] = set()
    for layout in indexed_layouts(connection):
        for input_id, passage in passages(layout):
            if input_id in seen:
                continue
            seen.add(input_id)
            made = terms(passage)
            if stored.get(input_id) != (fingerprint_of(made), sum(made.values())):
                yield f"input {input_id}", "its terms are not those of its text"
