"""From a query to cited hits."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from variorum.chunking import render
from variorum.formats import decode
from variorum.records.arguments import whole, words
from variorum.records.errors import InputError
from variorum.records.hits import Answer, Hit
from variorum.records.names import Citation
from variorum.records.text import Revision, Text
from variorum.retrieval.filters import Filter
from variorum.retrieval.legs import Loads, Ranking, Way, rank
from variorum.retrieval.ranking import Scored
from variorum.store.manifests import ManifestRow
from variorum.store.snapshot import Places, Snapshot

MAX_K = 1000


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, how to look for it, and where. `explain`: also say which words found what."""

    query: str
    k: int = 10
    within: Filter = field(default_factory=Filter)
    way: Way = field(default_factory=Way)
    explain: bool = False


def search(snapshot: Snapshot, load: Loads, question: Question) -> Answer:
    """The `k` passages of the generation that answer best; `load` gives the generation's model.

    Raises:
        InputError: a blank query, a `k` out of range, an unknown metadata key, or a query longer
            than the model takes.
        UnsupportedError: the mode needs a model or terms that are not there.
        UnavailableError: the model that it needs cannot answer now.
    """
    require_sound(question.query, question.k)
    within = question.within
    allowed = None if within.passes_all else within.documents(snapshot)
    chosen = _chosen(snapshot.places, allowed)
    ranking = rank(snapshot, load, question.way, question.query, chosen, question.k)
    hits = tuple(_hits(snapshot, ranking, explain=question.explain))
    number = snapshot.generation.number
    return Answer(number, question.query, hits, ranking.mode, ranking.fallback)


def _chosen(places: Places, allowed: set[int] | None) -> NDArray[np.intp]:
    """The chunks of the allowed manifest rows, of all where None."""
    if allowed is None:
        return np.arange(places.input_ids.size)
    return np.flatnonzero(np.isin(places.manifest_ids, np.fromiter(allowed, np.int64)))


def require_sound(query: str, k: int) -> None:
    """Refuse what cannot be searched for.

    Raises:
        InputError: a query that is no text or blank, or a `k` that is no whole number in range.
    """
    if not isinstance(query, str) or query.strip():
        words("query", query)
    else:
        raise InputError(
            "the query is blank",
            kind="blank-query",
            expected="some words to search for",
            found=repr(query),
            remedy='give the query in quotes: variorum search "your question"',
        )
    whole("k", k)
    if not 1 <= k <= MAX_K:
        raise InputError(
            f"cannot return {k} hits",
            kind="bad-parameter",
            subject="k",
            expected=f"1 to {MAX_K}",
            found=str(k),
            remedy="choose another -k",
        )


def _hits(snapshot: Snapshot, ranking: Ranking, *, explain: bool) -> Iterator[Hit]:
    places, documents, scored = snapshot.places, snapshot.documents, ranking.scored
    heading_paths = snapshot.heading_paths(
        (documents[int(places.manifest_ids[one.index])].layout_id, int(places.ordinals[one.index]))
        for one in scored
    )
    for place, (one, path) in enumerate(zip(scored, heading_paths, strict=True), start=1):
        hit = _hit(snapshot, place, one, path)
        terms = ranking.lexical.terms_of(one.index) if explain and ranking.lexical else ()
        yield replace(hit, legs=ranking.legs[one.index], terms=terms)


def _hit(snapshot: Snapshot, rank: int, scored: Scored, heading_path: tuple[str, ...]) -> Hit:
    places = snapshot.places
    row = snapshot.documents[int(places.manifest_ids[scored.index])]
    start, end = int(places.starts[scored.index]), int(places.ends[scored.index])
    text = text_of(snapshot, row.revision_id, row.content_type)
    passage = text.characters[start:end]
    return Hit(
        rank=rank,
        score=scored.score,
        document=row.document,
        revision=row.sha256,
        start=start,
        end=end,
        start_line=text.line_of(start),
        end_line=text.line_of(max(start, end - 1)),
        heading_path=heading_path,
        text=passage,
        citation=Citation(row.document, row.sha256, start, end),
        changed_at=_changed_at(snapshot, row, passage),
    )


def text_of(snapshot: Snapshot, revision_id: int, content_type: str) -> Text:
    """The decoded text of a stored revision."""
    return decode(Revision(snapshot.content(revision_id), content_type))


def _changed_at(snapshot: Snapshot, row: ManifestRow, passage: str) -> str:
    """When the passage's text came to be as it is: the oldest publish of an unbroken run of
    revisions that all hold it. Outer white space and the kind of line ends are no change.
    """
    changed_at = snapshot.generation.created_at
    wanted = render("", passage)
    for revision_id, published_at in snapshot.earlier_revisions(row):
        characters = text_of(snapshot, revision_id, row.content_type).characters
        if wanted not in render("", characters):
            break
        changed_at = published_at
    return changed_at
