"""Which models a collection has used, and which one it is to be read with."""

from collections.abc import Sequence
from dataclasses import dataclass

from variorum.records.errors import ConflictError
from variorum.records.protocols import Embedder
from variorum.store.generations import GenerationRow
from variorum.store.store import Store
from variorum.store.vectors import Precision, count_vectors
from variorum.sync.target import MODEL, Settings


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A model that made at least one generation, as `Index.models` lists it.

    `generations` are the kept ones that it made; `vectors` are all of its in the store, those of
    other collections too. The current one answers by default.
    """

    spec: str
    name: str
    fingerprint: str
    dimensions: int
    generations: tuple[int, ...]
    vectors: int
    is_current: bool

    def as_fields(self) -> dict[str, object]:
        """The model as JSON fields."""
        return {
            "spec": self.spec,
            "name": self.name,
            "fingerprint": self.fingerprint,
            "dimensions": self.dimensions,
            "generations": list(self.generations),
            "vectors": self.vectors,
            "is_current": self.is_current,
        }


def models(store: Store, rows: Sequence[GenerationRow]) -> list[ModelUse]:
    """Every model of a collection's generations, in the order of their first use."""
    first: dict[int, GenerationRow] = {}
    for row in rows:
        first.setdefault(row.model_id, row)
    with store.connection() as connection, connection.begin():
        counts = count_vectors(connection)
    return [
        ModelUse(
            row.model_spec,
            row.model_name,
            row.model_fingerprint,
            row.dimensions,
            tuple(one.number for one in rows if one.model_id == row.model_id and not one.is_pruned),
            counts.get(row.model_id, 0),
            row.model_id == rows[-1].model_id,
        )
        for row in first.values()
    ]


def settings_of(
    row: GenerationRow, embedder: Embedder, spec: str, precision: Precision
) -> Settings:
    """How a generation was cut, with another model."""
    recipe = row.recipe
    return Settings(
        chunker=str(recipe["chunker"]),
        planner=bool(recipe["planner"]),
        heading_depth=int(str(recipe["heading_depth"])),
        embedder=embedder,
        embedder_spec=spec,
        precision=precision,
    )


def require_model_in_use(rows: Sequence[GenerationRow], configured: Embedder, spec: str) -> None:
    """Refuse a sync that would undo a switch of models only because a file was not edited.

    Raises:
        ConflictError: the newest generations are of a model that was switched to, and the
            configuration names another.
    """
    switched = [row for row in rows if row.kind == MODEL]
    if not switched or switched[-1].model_id != rows[-1].model_id:
        return
    if configured.identity.fingerprint != rows[-1].model_fingerprint:
        used = rows[-1].model_spec
        raise ConflictError(
            f"the collection was switched to {used}, and the configuration names {spec}",
            kind="model-switched",
            subject=spec,
            expected=used,
            found=spec,
            remedy=f"write {used} into variorum.toml, or go back with `variorum model use {spec}`",
        )
