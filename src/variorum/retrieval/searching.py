"""From a query to cited hits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from variorum.chunking import render
from variorum.formats import decode
from variorum.records.arguments import whole, words
from variorum.records.errors import InputError, UnsupportedError
from variorum.records.hits import Answer, Hit
from variorum.records.names import Citation
from variorum.records.protocols import Embedder
from variorum.records.text import Revision, Text
from variorum.retrieval.asking import Asked
from variorum.retrieval.dense import Scored, search_dense
from variorum.retrieval.filters import Filter
from variorum.store.manifests import ManifestRow
from variorum.store.view import View

MAX_K = 1000


def search(
    view: View,
    embedder: Embedder,
    query: str,
    k: int,
    within: Filter,
    asked: Asked,
) -> Answer:
    """The `k` passages of the view that are nearest in meaning to `query`.

    Raises:
        InputError: a blank query, a `k` out of range, an unknown metadata key, or a query longer
            than the model takes.
        UnsupportedError: the generation was embedded by another model than `embedder`.
    """
    require_sound(query, k)
    _require_same_model(view, embedder)
    allowed = None if within.passes_all else within.documents(view)
    hits: Iterable[Hit] = ()
    if view.places.input_ids.size:
        vector = embedder.embed([query], "query")[0]
        hits = _hits(view, search_dense(view, vector, allowed, k), asked.now_us)
    return Answer(view.generation.number, query, asked.effective, tuple(hits))


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


def _require_same_model(view: View, embedder: Embedder) -> None:
    if view.generation.model_fingerprint != embedder.identity.fingerprint:
        raise UnsupportedError(
            f"generation {view.generation.number} was embedded by another model",
            kind="model-mismatch",
            subject=view.generation.model_spec,
            expected=view.generation.model_fingerprint,
            found=embedder.identity.fingerprint,
            remedy="search a newer generation, or install the model that it names",
        )


def _hits(view: View, scored: Sequence[Scored], now_us: int) -> Iterator[Hit]:
    places, documents = view.places, view.documents
    heading_paths = view.heading_paths(
        (documents[int(places.manifest_ids[one.index])].layout_id, int(places.ordinals[one.index]))
        for one in scored
    )
    rows = [documents[int(places.manifest_ids[one.index])] for one in scored]
    standings = view.standings(rows)
    for rank, (one, path, row) in enumerate(zip(scored, heading_paths, rows, strict=True), start=1):
        standing = standings[row.id].as_fields(now_us)
        yield _hit(view, rank, one, path, row, standing)


def _hit(
    view: View,
    rank: int,
    scored: Scored,
    heading_path: tuple[str, ...],
    row: ManifestRow,
    standing: Mapping[str, str | None],
) -> Hit:
    places = view.places
    start, end = int(places.starts[scored.index]), int(places.ends[scored.index])
    text = text_of(view, row.revision_id, row.content_type)
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
        changed_at=_changed_at(view, row, passage),
        **standing,
    )


def text_of(view: View, revision_id: int, content_type: str) -> Text:
    """The decoded text of a stored revision."""
    return decode(Revision(view.content(revision_id), content_type))


def _changed_at(view: View, row: ManifestRow, passage: str) -> str:
    """When the passage's text came to be as it is: the oldest publish of an unbroken run of
    revisions that all hold it. Outer white space and the kind of line ends are no change.
    """
    changed_at = view.generation.created_at
    wanted = render("", passage)
    for revision_id, published_at in view.earlier_revisions(row):
        characters = text_of(view, revision_id, row.content_type).characters
        if wanted not in render("", characters):
            break
        changed_at = published_at
    return changed_at
