"""From a query to cited hits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from variorum.chunking import render
from variorum.records.arguments import whole
from variorum.records.errors import InputError
from variorum.records.hits import Answer, Hit
from variorum.records.names import Citation
from variorum.records.protocols import Reranker
from variorum.records.text import Text
from variorum.retrieval.asking import Asked
from variorum.retrieval.filters import Filter
from variorum.retrieval.legs import Loads, Ranking, Way, rank
from variorum.retrieval.ranking import chunks_of
from variorum.retrieval.refusing import require_query
from variorum.retrieval.reranking import RERANK_DEPTH, reranked
from variorum.retrieval.texts import text_of
from variorum.store.manifests import ManifestRow
from variorum.store.view import View

MAX_K = 1000


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, how to look for it, and where. `explain`: also say which words found what.

    A `reranker` reads the best hits again.
    """

    query: str
    k: int = 10
    within: Filter = field(default_factory=Filter)
    way: Way = field(default_factory=Way)
    explain: bool = False
    reranker: Reranker | None = None


def search(view: View, load: Loads, question: Question, asked: Asked) -> Answer:
    """The `k` passages of the view that answer best; `load` gives the generation's model.

    Raises:
        InputError: a blank query, a `k` out of range, an unknown metadata key, or a query longer
            than the model takes.
        UnsupportedError: the mode needs a model or terms that are not there.
        UnavailableError: the model that it needs cannot answer now.
    """
    ranking = ranked(view, load, question, question.k)
    hits = _hits(view, ranking, asked.now_us, explain=question.explain)
    return Answer(
        generation=view.generation.number,
        query=question.query,
        effective=asked.effective,
        hits=tuple(hits),
        mode=ranking.mode,
        fallback=ranking.fallback,
    )


def ranked(view: View, load: Loads, question: Question, depth: int) -> Ranking:
    """The `depth` best chunks of the view.

    Raises:
        InputError: as `search`.
        UnsupportedError: as `search`.
        UnavailableError: as `search`.
    """
    require_sound(question.query, question.k)
    within = question.within
    allowed = None if within.passes_all else within.documents
    chosen = view.chosen(within.key, lambda: chunks_of(view.places, allowed and allowed(view)))
    if question.reranker is None:
        return rank(view, load, question.way, question.query, chosen, depth)
    found = rank(view, load, question.way, question.query, chosen, RERANK_DEPTH)
    return reranked(view, question.reranker, question.query, found).head(depth)


def require_sound(query: str, k: int) -> None:
    """Refuse what cannot be searched for.

    Raises:
        InputError: a query that is no text or blank, or a `k` that is no whole number in range.
    """
    require_query(query)
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


def _hits(view: View, ranking: Ranking, now_us: int, *, explain: bool) -> list[Hit]:
    """The hits, best first. Each document is decoded once, and its history followed once."""
    found: dict[int, list[_Found]] = {}
    for one in _found(view, ranking, now_us, explain=explain):
        found.setdefault(one.row.id, []).append(one)
    hits = [hit for ones in found.values() for hit in _hits_of(view, ones)]
    return sorted(hits, key=lambda hit: hit.rank)


@dataclass(frozen=True, slots=True)
class _Found:
    """A chunk that was found; `told` are the fields of its hit that stand in no text."""

    row: ManifestRow
    start: int
    end: int
    told: Mapping[str, Any]


def _found(view: View, ranking: Ranking, now_us: int, *, explain: bool) -> Iterator[_Found]:
    places, documents, scored = view.places, view.documents, list(ranking.scored)
    rows = [documents[int(places.manifest_ids[one.index])] for one in scored]
    ordinals = [int(places.ordinals[one.index]) for one in scored]
    heading_paths = view.heading_paths(
        (row.layout_id, ordinal) for row, ordinal in zip(rows, ordinals, strict=True)
    )
    derived = view.derived(zip(rows, ordinals, strict=True))
    standings = view.standings(rows)
    found = zip(scored, heading_paths, derived, rows, strict=True)
    for place, (one, path, made, row) in enumerate(found, start=1):
        terms = ranking.lexical.terms_of(one.index) if explain and ranking.lexical else ()
        standing = standings[row.id].as_fields(now_us)
        told = {"rank": place, "score": one.score, "heading_path": path, "terms": terms}
        told |= {"derived": made, **standing}
        start, end = int(places.starts[one.index]), int(places.ends[one.index])
        yield _Found(row, start, end, {**told, "legs": ranking.legs[one.index]})


def _hits_of(view: View, found: Sequence[_Found]) -> Iterator[Hit]:
    """The chunks found in one document, as hits."""
    row = found[0].row
    text = text_of(view, row.revision_id, row.content_type)
    passages = [text.characters[one.start : one.end] for one in found]
    changed_at = _changed_at(view, row, text, passages)
    for one, passage in zip(found, passages, strict=True):
        yield Hit(
            document=row.document,
            revision=row.sha256,
            start=one.start,
            end=one.end,
            start_line=text.line_of(one.start),
            end_line=text.line_of(max(one.start, one.end - 1)),
            text=passage,
            citation=Citation.of(row.document, row.sha256, one.start, one.end),
            changed_at=changed_at[passage],
            **one.told,
        )


def _changed_at(
    view: View, row: ManifestRow, text: Text, passages: Sequence[str]
) -> dict[str, str]:
    """When each passage's text came to be as it is: the oldest publish of an unbroken run of
    revisions that all hold it. Outer white space and the kind of line ends are no change.
    """
    dates = dict.fromkeys(passages, view.generation.created_at)
    wanted = {passage: render("", passage) for passage in dates}
    for revision_id, published_at in view.earlier_revisions(row):
        if revision_id != row.revision_id:
            text = text_of(view, revision_id, row.content_type)
        characters = render("", text.characters)
        wanted = {one: rendered for one, rendered in wanted.items() if rendered in characters}
        if not wanted:
            break
        dates.update(dict.fromkeys(wanted, published_at))
    return dates
