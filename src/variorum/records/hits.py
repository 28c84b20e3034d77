"""What a search answers with. Field names are stable: `--json` prints them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from variorum.records.names import Citation, DocumentName


@dataclass(frozen=True, slots=True)
class LegScore:
    """What one leg of a search gave a hit: its rank and score there, and its share of the final
    score.
    """

    leg: str
    rank: int
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class TermScore:
    """What one term of the query gave a hit's lexical score.

    `term` ends with `*` where any term that begins so counts. `occurrences` are in the hit,
    `chunks` are the allowed chunks that hold the term.
    """

    term: str
    occurrences: int
    chunks: int
    share: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage of one revision. `text` is `revision_text[start:end]`, exactly (invariant 1).

    `score` decides the rank; compare it within one answer only. `legs` say where it comes from, and
    `terms`, where the search was to explain itself, which words found it. Lines are 1-based and
    inclusive. `changed_at` is when this passage's text last changed, ISO 8601 in UTC. `standing`
    tells what is current from what is `draft`, `future`, `expired`, `superseded` or `withdrawn`
    today; `status` is what the policy says, by whom and when, and the effective dates are ISO 8601
    in UTC. `derived` is what the configured functions made of the text, by name, as the generation
    was published with them.
    """

    rank: int
    score: float
    document: DocumentName
    revision: str
    start: int
    end: int
    start_line: int
    end_line: int
    heading_path: tuple[str, ...]
    text: str
    citation: Citation
    changed_at: str
    standing: str | None
    status: str | None
    status_by: str | None
    status_at: str | None
    effective_from: str | None
    effective_until: str | None
    legs: tuple[LegScore, ...]
    terms: tuple[TermScore, ...]
    derived: Mapping[str, str] = field(default_factory=dict)

    def as_fields(self) -> dict[str, object]:
        """The hit as JSON fields."""
        return {
            "rank": self.rank,
            "score": self.score,
            "document": str(self.document),
            "revision": self.revision,
            "start": self.start,
            "end": self.end,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "heading_path": list(self.heading_path),
            "text": self.text,
            "citation": str(self.citation),
            "changed_at": self.changed_at,
            "standing": self.standing,
            "status": self.status,
            "status_by": self.status_by,
            "status_at": self.status_at,
            "effective_from": self.effective_from,
            "effective_until": self.effective_until,
            "legs": [asdict(leg) for leg in self.legs],
            "terms": [asdict(term) for term in self.terms],
            "derived": dict(self.derived),
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one query in one generation, best first.

    `effective` is the instant that was asked about, ISO 8601 in UTC, or `now` or `any`. `mode` is
    how the hits were found; where that is not how they were to be, `fallback` says why.
    """

    generation: int
    query: str
    effective: str
    hits: tuple[Hit, ...]
    mode: str
    fallback: str | None = None

    def as_fields(self) -> dict[str, object]:
        """The answer as JSON fields."""
        return {
            "generation": self.generation,
            "query": self.query,
            "effective": self.effective,
            "mode": self.mode,
            "fallback": self.fallback,
            "hits": [hit.as_fields() for hit in self.hits],
        }


@dataclass(frozen=True, slots=True)
class CitedText:
    """A citation opened: the cited characters within their section, from the stored revision.

    `section` spans `section_start` to `section_end` of the revision's text and holds the cited
    range. `is_current` says whether the newest generation still shows this revision; `standing` and
    what follows are as in a `Hit`.
    """

    citation: Citation
    revision: str
    text: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    byte_start: int
    byte_end: int
    section: str
    section_start: int
    section_end: int
    is_current: bool
    standing: str | None
    status: str | None
    status_by: str | None
    status_at: str | None
    effective_from: str | None
    effective_until: str | None

    def as_fields(self) -> dict[str, object]:
        """The opened citation as JSON fields."""
        return {
            "citation": str(self.citation),
            "document": str(self.citation.document),
            "revision": self.revision,
            "start": self.citation.start,
            "end": self.citation.end,
            "text": self.text,
            "heading_path": list(self.heading_path),
            "start_line": self.start_line,
            "end_line": self.end_line,
            "byte_start": self.byte_start,
            "byte_end": self.byte_end,
            "section": self.section,
            "section_start": self.section_start,
            "section_end": self.section_end,
            "is_current": self.is_current,
            "standing": self.standing,
            "status": self.status,
            "status_by": self.status_by,
            "status_at": self.status_at,
            "effective_from": self.effective_from,
            "effective_until": self.effective_until,
        }
