"""What is published, and how large it is."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from variorum.store.snapshot import Snapshot
from variorum.store.store import Store


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source that the collection has listed: where, and whether a restore holds it."""

    name: str
    root: str
    held_by_restore: bool
    documents: int


@dataclass(frozen=True, slots=True)
class Status:
    """The newest generation of a collection and its size. Sizes in bytes on disk."""

    generation: int
    created_at: str
    documents: int
    chunks: int
    inputs: int
    model: str
    chunker: str
    planner: bool
    sources: tuple[SourceStatus, ...]
    store: str
    store_bytes: int
    held: tuple[Mapping[str, object], ...]

    def as_fields(self) -> dict[str, object]:
        """The status as JSON fields."""
        return {
            "generation": self.generation,
            "created_at": self.created_at,
            "documents": self.documents,
            "chunks": self.chunks,
            "inputs": self.inputs,
            "model": self.model,
            "chunker": self.chunker,
            "planner": self.planner,
            "sources": [
                {
                    "name": source.name,
                    "root": source.root,
                    "held_by_restore": source.held_by_restore,
                    "documents": source.documents,
                }
                for source in self.sources
            ],
            "store": self.store,
            "store_bytes": self.store_bytes,
            "held": list(self.held),
        }


def status(store: Store, snapshot: Snapshot) -> Status:
    """Describe a snapshot and the store it lies in."""
    row = snapshot.generation
    held = row.report.get("held")
    names = [manifest.document.source for manifest in snapshot.documents.values()]
    sources = tuple(
        SourceStatus(name, root, is_held, names.count(name))
        for name, (root, is_held) in sorted(store.sources(snapshot.collection_id).items())
    )
    return Status(
        generation=row.number,
        created_at=row.created_at,
        documents=len(snapshot.documents),
        chunks=int(snapshot.places.input_ids.size),
        inputs=int(np.unique(snapshot.places.input_ids).size),
        model=row.model_spec,
        chunker=str(row.recipe["chunker"]),
        planner=bool(row.recipe["planner"]),
        sources=sources,
        store=str(store.folder),
        store_bytes=store.size_bytes(),
        held=tuple(held) if isinstance(held, list) else (),
    )
