"""What a sync works on, and under which settings."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from variorum.chunking.versions import algorithm_of
from variorum.records.changes import Changes
from variorum.records.derivations import Derivation
from variorum.records.layout import Recipe
from variorum.records.protocols import Embedder, Progress, Source
from variorum.store.vectors import Precision

MODEL = "model"
"""The kind of a generation that another model was switched to by."""


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a collection is cut and embedded. `embedder_spec` can build `embedder` again."""

    chunker: str
    planner: bool
    heading_depth: int
    embedder: Embedder
    embedder_spec: str
    precision: Precision = "float32"

    @property
    def recipe(self) -> Recipe:
        """The recipe that these settings amount to."""
        return Recipe(
            chunker=self.chunker,
            planner=self.planner,
            heading_depth=self.heading_depth,
            tokenizer=self.embedder.tokenizer.fingerprint,
            model=self.embedder.identity.fingerprint,
            algorithm=algorithm_of(self.chunker, planner=self.planner),
        )


@dataclass(frozen=True, slots=True)
class Consent:
    """What the user said yes to. A shrink counts documents of one source, renames apart."""

    empty: bool = False
    shrink: bool = False
    release: bool = False
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """The collection of one tenant, and the sources whose listings are heard in this run.

    `roots` is each source's root as recorded in the store. `configured` are all sources that the
    collection has in its configuration; None where there is none, so that every source ever listed
    belongs to it. `dropped` sources are taken out with all of their documents. With `relayout`,
    stored layouts of the listed documents are not used, nor planned from: each is laid out as a
    fresh index would. `kind` is what the log calls the generation. `changes` is a list of what
    changed, its paths relative to `base`; None where every source is to be compared in full.
    `derive` are the functions that are run over the chunks of the generation.
    """

    tenant: str
    collection: str
    settings: Settings
    sources: Sequence[Source]
    roots: dict[str, str] = field(default_factory=dict)
    consent: Consent = field(default_factory=Consent)
    progress: Progress = no_progress
    relayout: bool = False
    configured: frozenset[str] | None = None
    dropped: tuple[str, ...] = ()
    kind: str = "sync"
    changes: Changes | None = None
    derive: tuple[Derivation, ...] = ()
    base: bytes = b"."

    @property
    def heard(self) -> frozenset[str]:
        """The names of the sources that are listed in this run."""
        return frozenset(source.name for source in self.sources)
