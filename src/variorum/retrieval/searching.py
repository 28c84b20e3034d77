"""From a query to cited hits."""

from collections.abc import Iterator, Sequence

from variorum.chunking import render
from variorum.formats import decode
from variorum.records.arguments import whole, words
from variorum.records.errors import InputError, UnsupportedError
from variorum.records.hits import Answer, Hit
from variorum.records.names import Citation
from variorum.records.protocols import Embedder
from variorum.records.text import Revision, Text
from variorum.retrieval.dense import Scored, search_dense
from variorum.retrieval.filters import Filter
from variorum.store.manifests import ManifestRow
from variorum.store.snapshot import Snapshot

MAX_K = 1000


def search(
    snapshot: Snapshot, embedder: Embedder, query: str, k: int = 10, within: Filter | None = None
) -> Answer:
    """The `k` passages of the generation that are nearest in meaning to `query`.

    Raises:
        InputError: a blank query, a `k` out of range, an unknown metadata key, or a query longer
            than the model takes.
        UnsupportedError: the generation was embedded by another model than `embedder`.
    """
    require_sound(query, k)
    _require_same_model(snapshot, embedder)
    filter_ = within or Filter()
    allowed = None if filter_.passes_all else filter_.documents(snapshot)
    if not snapshot.places.input_ids.size:
        return Answer(snapshot.generation.number, query, ())
    vector = embedder.embed([query], "query")[0]
    scored = search_dense(snapshot, vector, allowed, k)
    return Answer(snapshot.generation.number, query, tuple(_hits(snapshot, scored)))


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


def _require_same_model(snapshot: Snapshot, embedder: Embedder) -> None:
    if snapshot.generation.model_fingerprint != embedder.identity.fingerprint:
        raise UnsupportedError(
            f"generation {snapshot.generation.number} was embedded by another model",
            kind="model-mismatch",
            subject=snapshot.generation.model_spec,
            expected=snapshot.generation.model_fingerprint,
            found=embedder.identity.fingerprint,
            remedy="search a newer generation, or install the model that it names",
        )


def _hits(snapshot: Snapshot, scored: Sequence[Scored]) -> Iterator[Hit]:
    places, documents = snapshot.places, snapshot.documents
    heading_paths = snapshot.heading_paths(
        (documents[int(places.manifest_ids[one.index])].layout_id, int(places.ordinals[one.index]))
        for one in scored
    )
    for rank, (one, path) in enumerate(zip(scored, heading_paths, strict=True), start=1):
        yield _hit(snapshot, rank, one, path)


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
        citation=Citation.of(row.document, row.sha256, start, end),
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
