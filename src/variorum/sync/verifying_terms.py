"""Checking the terms of every chunk: made again from the stored text, and compared."""

from collections.abc import Iterator

from sqlalchemy import Connection

from variorum.analysis import ANALYZER, terms
from variorum.store.lexicon import indexed_layouts, is_lost, is_ready
from variorum.store.term_audit import fingerprint_of, stored_fingerprints
from variorum.sync.terming import passages


def term_problems(connection: Connection) -> Iterator[tuple[str, str, str]]:
    """("row" or "terms", row or input, what is wrong) of every list of postings that is not as it
    was written; where all are, of every published input whose stored terms are not its text's.

    No input where the terms are of other rules: a search says so, and the next sync makes new ones.
    """
    if is_lost(connection):
        yield "terms", "lexicon", "is gone, and there are terms"
    stored, wrong = stored_fingerprints(connection)
    yield from (("row", row, problem) for row, problem in wrong)
    if wrong or not is_ready(connection, ANALYZER):
        return
    seen: set[int] = set()
    for layout in indexed_layouts(connection):
        for input_id, passage in passages(layout):
            if input_id in seen:
                continue
            seen.add(input_id)
            made = terms(passage)
            if stored.get(input_id) != (fingerprint_of(made), sum(made.values())):
                yield "terms", f"input {input_id}", "its terms are not those of its text"
