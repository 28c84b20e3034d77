"""What each publish did to each document, in inputs and tokens: the rows of the ledger."""

from dataclasses import dataclass
from enum import StrEnum

from variorum.records.names import DocumentName


class Event(StrEnum):
    """What happened to a document in a publish.

    `rebuild`: its words are those of before, but recipe or layout are others.
    """

    INGEST = "ingest"
    UPDATE = "update"
    REBUILD = "rebuild"


@dataclass(frozen=True, slots=True)
class DocumentCost:
    """What one document's new layout cost.

    `embedded`: inputs that had no vector. `changed`: those among them in which an atom was added,
    replaced or removed against the previous revision, by comparing the texts, so that no cache can
    hide it. `edited_tokens`: tokens of the embedded inputs that are themselves new or replaced.
    `floor_tokens`: the least that this edit could embed, given the previous layout.
    `total_*`: the whole document, what a first ingest would embed. `embed_s`: its share of the
    run's embedding time.
    """

    document: DocumentName
    event: Event
    embedded_inputs: int
    changed_inputs: int
    total_inputs: int
    embedded_tokens: int
    changed_tokens: int
    edited_tokens: int
    floor_tokens: int
    total_tokens: int
    embed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CostEntry:
    """A `DocumentCost` and the publish that it belongs to; `at` is ISO 8601 in UTC."""

    generation: int
    at: str
    cost: DocumentCost


@dataclass(frozen=True, slots=True)
class UnpublishedCost:
    """What a run embedded that published nothing. Its vectors are kept for the next."""

    at: str
    inputs: int
    tokens: int
    embed_s: float
    kind: str
