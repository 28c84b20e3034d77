"""Why a question did not bring back a passage: which stage of a real index lost it.

The stages are taken in the order in which they can lose it: the revision must be read (parsing), be
the one that the generation shows (version), be allowed (permission), stand whole in chunks (split),
come before the others (ranking) and fit the budget (packing).
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from variorum.chunking import render
from variorum.formats import decode, parse
from variorum.records.errors import InputError, NotFoundError
from variorum.records.names import Citation, DocumentName
from variorum.records.protocols import Embedder
from variorum.records.text import Revision, Span, Text
from variorum.retrieval.dense import search_dense
from variorum.retrieval.ranking import Scored, chunks_of
from variorum.retrieval.refusing import require_askable
from variorum.store.manifests import ManifestRow
from variorum.store.view import View

StageName = Literal["parsing", "version", "permission", "split", "ranking", "packing"]
State = Literal["passed", "lost", "not-checked", "not-reached"]

STAGES: tuple[StageName, ...] = (
    "parsing",
    "version",
    "permission",
    "split",
    "ranking",
    "packing",
)


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage did with the passage, in words."""

    stage: StageName
    state: State
    found: str

    def as_fields(self) -> dict[str, object]:
        """The stage as JSON fields."""
        return {"stage": self.stage, "state": self.state, "found": self.found}


@dataclass(frozen=True, slots=True)
class PassageChunk:
    """A chunk that holds some of the passage: its place, rank (1-based), score and tokens."""

    start: int
    end: int
    rank: int
    score: float
    tokens: int
    is_packed: bool

    def as_fields(self) -> dict[str, object]:
        """The chunk as JSON fields."""
        return {
            "start": self.start,
            "end": self.end,
            "rank": self.rank,
            "score": self.score,
            "tokens": self.tokens,
            "packed": self.is_packed,
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Every stage, and the chunks that hold the passage where it came so far."""

    generation: int
    stages: tuple[Stage, ...]
    chunks: tuple[PassageChunk, ...] = ()

    @property
    def lost_at(self) -> StageName | None:
        """The stage that lost the passage; None where it is returned."""
        return next((one.stage for one in self.stages if one.state == "lost"), None)

    def as_fields(self) -> dict[str, object]:
        """The diagnosis as JSON fields."""
        return {
            "generation": self.generation,
            "lost_at": self.lost_at,
            "stages": [one.as_fields() for one in self.stages],
            "chunks": [one.as_fields() for one in self.chunks],
        }


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search may return: chunks of the first `candidates` ranks within `budget` tokens."""

    candidates: int = 100
    budget: int = 2048


class _LostError(Exception):
    """The passage went no further than a stage."""

    def __init__(self, stage: StageName, found: str) -> None:
        super().__init__(found)
        self.stage = stage


def diagnose(
    view: View,
    embedder: Embedder,
    question: str,
    expected: Citation,
    limits: Limits = Limits(),
    allowed: Set[int] | None = None,
) -> Diagnosis:
    """Follow the passage that `expected` cites through one generation, as its owner sees it.

    `allowed` are the manifest rows that the asker may see; None where no rights are checked.

    Raises:
        InputError: a blank question, or a citation of nothing but blanks.
        NotFoundError: no kept generation ever held what is cited.
        UnsupportedError: the generation was embedded by another model than `embedder`.
    """
    require_askable(view, embedder, question)
    passed: list[Stage] = []
    chunks: tuple[PassageChunk, ...] = ()
    try:
        cited = _parsed(view, expected, passed)
        row, span = _current(view, expected, cited, passed)
        _permit(row, allowed, passed)
        places = _chunks_of(view, row, span)
        vector = embedder.embed([question], "query")[0]
        chosen = chunks_of(view.places, allowed)
        ranked = list(search_dense(view, vector, chosen, chosen.size))
        chunks = _weighed(view, embedder, ranked, places, limits)
        passed += _judged(view, ranked, chunks, limits)
    except _LostError as lost:
        passed.append(Stage(lost.stage, "lost", str(lost)))
    rest = STAGES[len(passed) :]
    stages = [*passed, *(Stage(name, "not-reached", "") for name in rest)]
    return Diagnosis(view.generation.number, tuple(stages), chunks)


def _parsed(view: View, expected: Citation, passed: list[Stage]) -> str:
    """The cited characters, from the stored revision."""
    try:
        row = view.find_revision(expected)
    except NotFoundError:
        _explain_held(view, expected.document)
        raise
    text = _text_of(view, row)
    cited = text.characters[expected.start : expected.end]
    if expected.end > len(text.characters) or not cited.strip():
        raise InputError(
            "the citation holds no text",
            kind="bad-citation",
            subject=str(expected),
            expected=f"a range with text within 0 to {len(text.characters)}",
            found=repr(cited),
            remedy="copy the citation as `variorum search` printed it, in quotes",
        )
    fallback = parse(text, row.content_type).fallback
    words = f"read by a simpler parser: {fallback}" if fallback else f"read as {row.content_type}"
    passed.append(Stage("parsing", "passed", words))
    return cited


def _explain_held(view: View, document: DocumentName) -> None:
    held = view.generation.report.get("held", ())
    for one in held if isinstance(held, Sequence) else ():
        if one["document"] == str(document):
            raise _LostError("parsing", f"the document is held: {one['kind']}, {one['message']}")


def _current(
    view: View, expected: Citation, cited: str, passed: list[Stage]
) -> tuple[ManifestRow, Span]:
    """The document as the generation shows it, and where the passage stands there."""
    rows = list(view.documents.values())
    row = next((one for one in rows if one.document == expected.document), None)
    renamed = next((one for one in rows if one.sha256.startswith(expected.revision)), None)
    if row is None and renamed is None:
        raise _LostError("version", "the generation no longer has the document")
    row = row or renamed
    assert row is not None
    note = "" if row.document == expected.document else f", as {row.document}"
    if row.sha256.startswith(expected.revision):
        passed.append(Stage("version", "passed", f"this very revision is shown{note}"))
        return row, Span(expected.start, expected.end)
    content = view.content(row.revision_id)
    text = decode(Revision(content, row.content_type, row.sha256))
    span = _nearest(text.characters, cited, expected.start)
    if span is None:
        raise _LostError(
            "version",
            f"revision {row.sha256[:16]}, shown since generation {row.from_generation}, "
            "does not hold these characters",
        )
    passed.append(Stage("version", "passed", f"a later revision holds it at {span.start}{note}"))
    return row, span


def _nearest(text: str, cited: str, start: int) -> Span | None:
    """Where the cited characters stand, outer blanks left out, nearest to where they stood."""
    content = cited.strip()
    found = []
    place = text.find(content)
    while place >= 0:
        found.append(Span(place, place + len(content)))
        place = text.find(content, place + 1)
    return min(found, key=lambda one: abs(one.start - start), default=None)


def _permit(row: ManifestRow, allowed: Set[int] | None, passed: list[Stage]) -> None:
    if allowed is None:
        passed.append(Stage("permission", "not-checked", "no rights were asked about"))
    elif row.id in allowed:
        passed.append(Stage("permission", "passed", "the asker may see the document"))
    else:
        raise _LostError("permission", "the asker may not see the document")


def _chunks_of(view: View, row: ManifestRow, span: Span) -> list[int]:
    """The places, in the generation's `Places`, of the chunks that hold some of the passage."""
    text = _text_of(view, row).characters
    places = view.places
    found = []
    for place in (places.manifest_ids == row.id).nonzero()[0]:
        start = max(span.start, int(places.starts[place]))
        end = min(span.end, int(places.ends[place]))
        if text[start:end].strip():
            found.append(int(place))
    if not found:
        raise _LostError("split", "no chunk of the generation's model holds it")
    return found


def _text_of(view: View, row: ManifestRow) -> Text:
    content = view.content(row.revision_id)
    return decode(Revision(content, row.content_type, row.sha256))


def _weighed(
    view: View,
    embedder: Embedder,
    ranked: Sequence[Scored],
    wanted: Sequence[int],
    limits: Limits,
) -> tuple[PassageChunk, ...]:
    """The chunks of the passage with their ranks, and which of them the budget returns."""
    packed = set(_packed(view, embedder, ranked[: limits.candidates], limits.budget))
    ranks = {one.index: (rank, one.score) for rank, one in enumerate(ranked, start=1)}
    places = view.places
    return tuple(
        PassageChunk(
            int(places.starts[place]),
            int(places.ends[place]),
            *ranks[place],
            _tokens(view, embedder, place),
            place in packed,
        )
        for place in wanted
    )


def _packed(view: View, embedder: Embedder, ranked: Sequence[Scored], budget: int) -> Iterator[int]:
    left = budget
    for one in ranked:
        tokens = _tokens(view, embedder, one.index)
        if tokens <= left:
            left -= tokens
            yield one.index


def _tokens(view: View, embedder: Embedder, place: int) -> int:
    places = view.places
    text = _text_of(view, view.documents[int(places.manifest_ids[place])]).characters
    shown = render("", text[int(places.starts[place]) : int(places.ends[place])])
    return embedder.tokenizer.count(shown)


def _judged(
    view: View,
    ranked: Sequence[Scored],
    chunks: Sequence[PassageChunk],
    limits: Limits,
) -> list[Stage]:
    """The last three stages. A passage of which some is returned and some is not, was cut."""
    missing = [one for one in chunks if not one.is_packed]
    count = len(chunks)
    whole = "it lies whole in one chunk" if count == 1 else f"it is cut into {count} chunks"
    ranks = ", ".join(f"{one.rank} (score {one.score:.3f})" for one in chunks)
    words = f"rank {ranks} of {len(ranked):,}"
    if missing and len(missing) < count:
        found = f"{whole}, of which {count - len(missing)} is returned; {words}"
        return [Stage("split", "lost", found)]
    split = Stage("split", "passed", whole)
    if any(one.rank > limits.candidates for one in missing):
        first = _name(view, ranked[0])
        found = f"{words}; {limits.candidates} are looked at, {first} comes first"
        return [split, Stage("ranking", "lost", found)]
    ranking = Stage("ranking", "passed", words)
    if missing:
        sizes = ", ".join(f"{one.tokens} tokens" for one in missing)
        found = f"{sizes}: not left of {limits.budget:,} behind better ones"
        return [split, ranking, Stage("packing", "lost", found)]
    found = f"returned within {limits.budget:,} tokens"
    return [split, ranking, Stage("packing", "passed", found)]


def _name(view: View, one: Scored) -> str:
    places = view.places
    row = view.documents[int(places.manifest_ids[one.index])]
    start, end = int(places.starts[one.index]), int(places.ends[one.index])
    return f"{Citation.of(row.document, row.sha256, start, end)} (score {one.score:.3f})"
