"""What is published, and how large it is."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from variorum.store.store import Store
from variorum.store.view import View


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source that the collection has listed: where, and whether a restore holds it."""

    name: str
    root: str
    held_by_restore: bool
    documents: int


@dataclass(frozen=True, slots=True)
class Status:
    """The newest generation of a collection and its size. Sizes in bytes on disk.

    Where the store lies and how large it is (None) is told to the owner alone.
    """

    generation: int
    created_at: str
    documents: int
    chunks: int
    inputs: int
    model: str
    chunker: str
    planner: bool
    sources: tuple[SourceStatus, ...]
    store: str | None
    store_bytes: int | None
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


def status(store: Store, view: View) -> Status:
    """Describe a view and the store it lies in."""
    row = view.generation
    names = [manifest.document.source for manifest in view.documents.values()]
    sources = tuple(
        SourceStatus(name, root if view.is_owner else "", is_held, names.count(name))
        for name, (root, is_held) in sorted(store.sources(view.collection_id).items())
        if view.is_owner or name in names
    )
    return Status(
        generation=row.number,
        created_at=row.created_at,
        documents=len(view.documents),
        chunks=int(view.places.input_ids.size),
        inputs=int(np.unique(view.places.input_ids).size),
        model=row.model_spec,
        chunker=str(row.recipe["chunker"]),
        planner=bool(row.recipe["planner"]),
        sources=sources,
        store=str(store.folder) if view.is_owner else None,
        store_bytes=store.size_bytes() if view.is_owner else None,
        held=_held(view),
    )


def _held(view: View) -> tuple[Mapping[str, object], ...]:
    """What the generation's own sync held, of the documents that pass."""
    held = view.generation.report.get("held")
    if not isinstance(held, list):
        return ()
    passing = {str(row.document) for row in view.documents.values()}
    return tuple(one for one in held if view.is_owner or one["document"] in passing)
