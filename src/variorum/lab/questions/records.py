"""What a question is, and what would answer it: exact ranges of exact texts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

from variorum.records.text import Span

Split = Literal["tune", "held-out"]
"""Settings are chosen on `tune` alone; what is published is measured on `held-out`."""

SPLITS: tuple[Split, ...] = ("tune", "held-out")


class DocumentKey(NamedTuple):
    """One version of one document; the version is empty where a data set has no versions."""

    document: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """One version of a document, as every chunker is given it."""

    key: DocumentKey
    characters: str
    content_type: str


class Place(NamedTuple):
    """A half-open range of code points of one document."""

    document: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """The range alone."""
        return Span(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Passage:
    """One thing that must be read. It stands at one place or at several, any of which will do."""

    places: tuple[Place, ...]


Alternative = tuple[Passage, ...]
"""A sufficient set: all of its passages together answer the question."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one document in one version.

    It is answerable where it has an alternative. `cluster` groups questions whose scores depend on
    each other: they share a document, or a part of one where documents are collections.
    """

    query_id: str
    text: str
    language: str
    document: DocumentKey
    alternatives: tuple[Alternative, ...]
    cluster: str
    split: Split
    kind: str = ""

    @property
    def is_answerable(self) -> bool:
        """Whether its version holds an answer."""
        return bool(self.alternatives)


@dataclass(frozen=True)
class Dataset:
    """Documents and the usable questions about them, in a fixed order.

    `readings` hold every version. A pool takes each document in `base_version`, but the one asked
    about in the version asked about. `excluded` says why a question of the source is not used;
    `files` are the SHA-256 of what was read.
    """

    name: str
    readings: tuple[Reading, ...]
    questions: tuple[Question, ...]
    base_version: str = ""
    excluded: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def characters(self) -> Mapping[DocumentKey, str]:
        """The text of each version of each document."""
        return {one.key: one.characters for one in self.readings}

    def only(self, questions: Iterable[Question]) -> "Dataset":
        """The same documents with fewer questions."""
        return replace(self, questions=tuple(questions))

    def part(self, split: Split | Literal["all"]) -> "Dataset":
        """The same documents with the questions of one split."""
        return self.only(one for one in self.questions if split in ("all", one.split))
