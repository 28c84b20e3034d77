"""The published states of a collection."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from variorum.store.schema import generation, model, recipe
from variorum.store.seals import require_sound, unsound

RULES = "rules"
"""Where a generation's report says by what rules each source was listed last."""


@dataclass(frozen=True, slots=True)
class GenerationRow:
    """One published state: its number, parent, time (ISO 8601 UTC), model and report."""

    number: int
    parent: int | None
    kind: str
    created_at: str
    model_id: int
    model_name: str
    model_fingerprint: str
    model_spec: str
    dimensions: int
    recipe_fingerprint: str
    recipe: Mapping[str, object]
    report: Mapping[str, object]
    is_pruned: bool = False

    @property
    def counts(self) -> Mapping[str, int]:
        """Documents by what the publish did to them."""
        counts = self.report.get("documents")
        return counts if isinstance(counts, Mapping) else {}

    @property
    def embedded(self) -> int | None:
        """How many inputs the publish embedded, where that is told."""
        inputs = self.report.get("inputs")
        return int(inputs["embed"]) if isinstance(inputs, Mapping) else None

    @property
    def recompute_fraction(self) -> float | None:
        """The publish's recompute fraction, where a document changed."""
        fraction = self.report.get("recompute_fraction")
        return fraction if isinstance(fraction, float) else None

    def without_counts(self) -> "GenerationRow":
        """The same, without a word about what the publish did."""
        return replace(self, report={})

    def as_fields(self) -> dict[str, object]:
        """The generation as JSON fields."""
        return {
            "generation": self.number,
            "parent": self.parent,
            "kind": self.kind,
            "created_at": self.created_at,
            "model": self.model_spec,
            "chunker": self.recipe["chunker"],
            "documents": dict(self.counts),
            "inputs_embedded": self.embedded,
            "recompute_fraction": self.recompute_fraction,
            "pruned": self.is_pruned,
        }


def generations(
    connection: Connection, collection_id: int, number: int | None = None
) -> list[GenerationRow]:
    """The published generations of a collection, oldest first; only `number` where it is given.

    Raises:
        DamagedError: a row is not as it was written.
    """
    query = (
        select(
            generation.c.number,
            generation.c.parent,
            generation.c.kind,
            generation.c.created_at,
            model.c.id,
            model.c.name,
            model.c.fingerprint,
            model.c.spec,
            model.c.dimensions,
            recipe.c.fingerprint,
            recipe.c.settings,
            generation.c.report,
            *unsound(generation, model, recipe),
        )
        .select_from(
            generation.join(model, model.c.id == generation.c.model_id).join(
                recipe, recipe.c.id == generation.c.recipe_id
            )
        )
        .where(generation.c.collection_id == collection_id)
        .order_by(generation.c.number)
    )
    if number is not None:
        query = query.where(generation.c.number == number)
    return [GenerationRow(*require_sound(row, 3)) for row in connection.execute(query)]


def newest_rules(connection: Connection, collection_id: int) -> Mapping[str, str]:
    """By what rules each source was listed last, as the newest sync wrote it down."""
    newest = select(func.max(generation.c.number)).where(
        generation.c.collection_id == collection_id
    )
    # One row at a time: a result that is left half read keeps the log from being emptied.
    for number in range(connection.execute(newest).scalar() or 0, 0, -1):
        query = select(generation.c.report, *unsound(generation)).where(
            generation.c.collection_id == collection_id, generation.c.number == number
        )
        row = connection.execute(query).first()
        found = None if row is None else require_sound(row, 1)[0].get(RULES)
        if isinstance(found, Mapping):
            return found
    return {}
