"""What is published, and how large it is."""

from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass

import numpy as np

from variorum.records.reports import Held, SharedRoot
from variorum.store.snapshot import Snapshot
from variorum.store.standing import read_held
from variorum.store.store import Store
from variorum.sync.standing import shared_roots


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source that the collection has listed: where, and whether a restore holds it.

    `orphaned`: it has documents, and no configuration names it any more.
    """

    name: str
    root: str
    held_by_restore: bool
    documents: int
    orphaned: bool


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
    held: tuple[Held, ...]
    shared_roots: tuple[SharedRoot, ...]

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
            "sources": [asdict(source) for source in self.sources],
            "store": self.store,
            "store_bytes": self.store_bytes,
            "held": [held.as_fields() for held in self.held],
            "shared_roots": [shared.as_fields() for shared in self.shared_roots],
        }


def status(store: Store, snapshot: Snapshot, configured: Collection[str] | None) -> Status:
    """Describe a snapshot and the store it lies in; `configured` are the sources of today."""
    row = snapshot.generation
    sources = _sources(store, snapshot, configured)
    listed = {source.name: source.root for source in sources if source.documents and source.root}
    with store.connection() as connection, connection.begin():
        held = read_held(connection, snapshot.collection_id)
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
        held=tuple(held),
        shared_roots=shared_roots(listed),
    )


def _sources(
    store: Store, snapshot: Snapshot, configured: Collection[str] | None
) -> tuple[SourceStatus, ...]:
    documents = Counter(one.document.source for one in snapshot.documents.values())
    known = store.sources(snapshot.collection_id)
    mine = known if configured is None else configured
    return tuple(
        SourceStatus(
            name,
            *known.get(name, ("", False)),
            documents=documents[name],
            orphaned=bool(documents[name]) and name not in mine,
        )
        for name in sorted({*known, *documents})
    )
