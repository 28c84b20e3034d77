"""What is published, and how large it is."""

from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass

import numpy as np

from variorum.records.reports import Held, SharedRoot
from variorum.store.standing import read_held
from variorum.store.store import Store
from variorum.store.view import View
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
    """The newest generation of a collection and its size. Sizes in bytes on disk.

    Where the store lies, how large it is, and how many inputs its approximate index holds (None
    without one) is told to the owner alone.
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
    ann_inputs: int | None
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
            "ann_inputs": self.ann_inputs,
            "held": [held.as_fields() for held in self.held],
            "shared_roots": [shared.as_fields() for shared in self.shared_roots],
        }


def status(store: Store, view: View, configured: Collection[str] | None) -> Status:
    """Describe a view and the store it lies in; `configured` are the sources of today."""
    row = view.generation
    sources = _sources(store, view, configured)
    listed = {source.name: source.root for source in sources if source.documents and source.root}
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
        ann_inputs=_ann_inputs(store, view),
        held=_held(store, view),
        shared_roots=shared_roots(listed),
    )


def _ann_inputs(store: Store, view: View) -> int | None:
    found = store.ann(view.collection_id, view.generation) if view.is_owner else None
    return None if found is None else int(found.input_ids.size)


def _sources(
    store: Store, view: View, configured: Collection[str] | None
) -> tuple[SourceStatus, ...]:
    """Every source, with its place; of others than the owner, those that they may read of."""
    documents = Counter(one.document.source for one in view.documents.values())
    known = store.sources(view.collection_id)
    mine = known if configured is None else configured
    told = {*known, *documents} if view.is_owner else set(documents)
    places = known if view.is_owner else {name: ("", known[name][1]) for name in told & {*known}}
    return tuple(
        SourceStatus(
            name,
            *places.get(name, ("", False)),
            documents=documents[name],
            orphaned=bool(documents[name]) and name not in mine,
        )
        for name in sorted(told)
    )


def _held(store: Store, view: View) -> tuple[Held, ...]:
    """What the last listings held, of the documents that pass."""
    with store.reading() as connection:
        held = read_held(connection, view.collection_id)
    passing = {row.document for row in view.documents.values()}
    return tuple(one for one in held if view.is_owner or one.document in passing)
