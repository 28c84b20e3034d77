"""What a plan promises and a sync reports. The field names are stable: `--json` prints them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from variorum.records.changes import Compared
from variorum.records.names import DocumentName


@dataclass(frozen=True, slots=True)
class Held:
    """A document kept at its last good revision, and why.

    `position` is the byte (or input) at fault where that is known.
    """

    document: DocumentName
    kind: str
    position: int | None = None
    message: str = ""

    def as_fields(self) -> dict[str, object]:
        """The held document as JSON fields."""
        return {
            "document": str(self.document),
            "kind": self.kind,
            "position": self.position,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class SkippedPath:
    """A path that a source saw and did not list, and why."""

    document: DocumentName
    reason: str
    detail: str = ""

    def as_fields(self) -> dict[str, object]:
        """The skipped path as JSON fields."""
        return {"document": str(self.document), "reason": self.reason, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Fallback:
    """A document that a simpler parser had to read, and why."""

    document: DocumentName
    reason: str

    def as_fields(self) -> dict[str, object]:
        """The fallback as JSON fields."""
        return {"document": str(self.document), "reason": self.reason}


@dataclass(frozen=True, slots=True)
class SourceNote:
    """A source that a run has something to say of, and how many documents the parent has of it.

    `root` is where it was last listed, an empty string where that is not known any more.
    """

    source: str
    root: str
    documents: int


@dataclass(frozen=True, slots=True)
class SharedRoot:
    """A place that is indexed under several sources: its documents are found once for each."""

    root: str
    sources: tuple[str, ...]

    def as_fields(self) -> dict[str, object]:
        """The shared root as JSON fields."""
        return {"root": self.root, "sources": list(self.sources)}


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """Documents by what the plan does to them. Held ones are counted there alone."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    held: int = 0


@dataclass(frozen=True, slots=True)
class InputCounts:
    """Distinct embedding inputs.

    `embed` have no vector yet; `reuse` stand in an added or changed document and have one;
    `retire` were searchable in the parent generation and are not in this one.
    """

    embed: int = 0
    reuse: int = 0
    retire: int = 0


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens as sent, prefix and special tokens included, over distinct inputs of the documents
    added or changed: those to embed, those with a vector already, and both.
    """

    embed: int = 0
    reuse: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class WindowCounts:
    """Windows of sentences that a semantic chunker embedded to find where to cut: `embed` new ones
    of `tokens` tokens, `reuse` from the store. They are spent beside the inputs.
    """

    embed: int = 0
    reuse: int = 0
    tokens: int = 0

    def plus(self, embed: int, reuse: int, tokens: int) -> "WindowCounts":
        """The counts with more added."""
        return WindowCounts(self.embed + embed, self.reuse + reuse, self.tokens + tokens)


@dataclass(frozen=True, slots=True)
class DerivedCounts:
    """Distinct outputs of users' functions that the generation lacks: to `run` for, and to `reuse`
    since a function was run over the same text before. `documents` stay as they are and get some.
    """

    run: int = 0
    reuse: int = 0
    documents: int = 0

    def after(self, made: int, dropped: int) -> "DerivedCounts":
        """The same once a run made so many, some of them for documents that it then held: others
        that were to be made, another writer did.
        """
        return replace(self, run=made, reuse=self.run + self.reuse - (made - dropped))


@dataclass(frozen=True, slots=True)
class Report:
    """A plan's promise, or what a sync did.

    `generation` is the published one, or None where nothing was published. `recompute_fraction` is
    taken over the changed documents' distinct inputs, document by document, against each one's
    previous revision only; None where no document changed. `embedded_fraction` is
    `tokens.embed / tokens.total`, against everything ever embedded; None where the total is 0.
    `dropped` sources go with their documents; `orphaned` ones are configured no more and stay.
    `compared` says, where a list of changes was given, whether it was enough.
    `unnamed` are the documents of the generation that a policy is in force for and no rule of it
    lets anybody read.
    """

    collection: str
    parent: int | None
    generation: int | None
    documents: DocumentCounts
    inputs: InputCounts
    tokens: TokenCounts
    recompute_fraction: float | None
    embedded_fraction: float | None
    held: tuple[Held, ...] = ()
    skipped: tuple[SkippedPath, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    dropped: tuple[SourceNote, ...] = ()
    orphaned: tuple[SourceNote, ...] = ()
    shared_roots: tuple[SharedRoot, ...] = ()
    compared: tuple[Compared, ...] = ()
    windows: WindowCounts = WindowCounts()
    derived: DerivedCounts = DerivedCounts()
    embedder_calls: int = 0
    embed_s: float = 0.0
    elapsed_s: float = 0.0
    estimate: Mapping[str, float] = field(default_factory=dict)
    unnamed: tuple[DocumentName, ...] = ()

    @property
    def changes_nothing(self) -> bool:
        """Whether publishing it would make the same generation again."""
        counts = self.documents
        return not (counts.added or counts.changed or counts.removed or self.derived.documents)

    def with_run(self, **changes: object) -> "Report":
        """The report with what the run measured filled in."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def as_fields(self) -> dict[str, object]:
        """The report as JSON fields."""
        return {
            "collection": self.collection,
            "parent": self.parent,
            "generation": self.generation,
            "documents": asdict(self.documents),
            "held": [held.as_fields() for held in self.held],
            "inputs": asdict(self.inputs),
            "tokens": asdict(self.tokens),
            "windows": asdict(self.windows),
            "derived": asdict(self.derived),
            "recompute_fraction": self.recompute_fraction,
            "embedded_fraction": self.embedded_fraction,
            "embedder_calls": self.embedder_calls,
            "elapsed_s": round(self.elapsed_s, 3),
            "embed_s": round(self.embed_s, 3),
            "skipped": [skipped.as_fields() for skipped in self.skipped],
            "fallbacks": [fallback.as_fields() for fallback in self.fallbacks],
            "dropped": [asdict(note) for note in self.dropped],
            "orphaned": [asdict(note) for note in self.orphaned],
            "shared_roots": [shared.as_fields() for shared in self.shared_roots],
            "compared": [one.as_fields() for one in self.compared],
            "estimate": dict(self.estimate),
            "unnamed": [str(name) for name in self.unnamed],
        }


class Reason(StrEnum):
    """Why an input is embedded."""

    NEW_DOCUMENT = "new-document"
    EDITED = "edited"
    BOUNDARY_MOVED = "boundary-moved"
    HEADING_PATH_CHANGED = "heading-path-changed"
    RECIPE_CHANGED = "recipe-changed"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the input of one chunk `[start, end)` of a document would be embedded.

    `detail` says what changed, in words, where there is something to say.
    """

    start: int
    end: int
    reason: Reason
    detail: str
    tokens: int

    def as_fields(self) -> dict[str, object]:
        """The explanation as JSON fields."""
        return {**asdict(self), "reason": str(self.reason)}


@dataclass(frozen=True, slots=True)
class PlannedDocument:
    """One document of a plan: what happens to it and what that costs.

    `tokens_by_reason` splits the tokens to embed, where that was asked for.
    """

    document: DocumentName
    action: str
    chunks: int
    embed: int
    reuse: int
    embed_tokens: int
    total_tokens: int
    tokens_by_reason: Mapping[Reason, int] | None = None

    def with_reasons(self, explanations: Sequence[Explanation]) -> "PlannedDocument":
        """The same with its tokens to embed by reason."""
        tokens = dict.fromkeys(Reason, 0)
        for one in explanations:
            tokens[one.reason] += one.tokens
        return replace(self, tokens_by_reason={why: n for why, n in tokens.items() if n})

    def as_fields(self) -> dict[str, object]:
        """The planned document as JSON fields."""
        fields = self._counted_fields()
        if self.tokens_by_reason is not None:
            by_reason = self.tokens_by_reason.items()
            fields["tokens_by_reason"] = [{"reason": str(why), "tokens": n} for why, n in by_reason]
        return fields

    def _counted_fields(self) -> dict[str, object]:
        return {
            "document": str(self.document),
            "action": self.action,
            "chunks": self.chunks,
            "inputs": {"embed": self.embed, "reuse": self.reuse},
            "tokens": {"embed": self.embed_tokens, "total": self.total_tokens},
        }
