"""What of a store belongs to one collection, declared for every table.

An export holds these rows, part by part, in an order in which each row's references come before it.
A table that is in neither mapping below fails the tests.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, MetaData, Select, Table, or_, select, union

from variorum.store.costs import cost, unpublished
from variorum.store.schema import (
    access_grant,
    audit,
    chunk,
    denied,
    derivation,
    derived,
    document,
    generation,
    head,
    held,
    input_,
    layout,
    manifest,
    metadata,
    model,
    output,
    policy,
    reader,
    reader_set,
    recipe,
    removal,
    revision,
    source,
    vector,
)

Chosen = Callable[[int], ColumnElement[bool]]
"""From a collection's id, the condition on a table's rows."""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one table that belong to a collection."""

    table: Table
    chosen: Chosen

    @property
    def columns(self) -> list[Column[Any]]:
        """All but the seal, which is made anew."""
        return [column for column in self.table.c if column.name != "seal"]


def _own(table: Table) -> Part:
    return Part(table, lambda collection: table.c.collection_id == collection)


def _of_manifest(collection: int, column: Column[Any]) -> Select[Any]:
    return select(column).where(manifest.c.collection_id == collection)


def _layouts(collection: int) -> Select[Any]:
    return _of_manifest(collection, manifest.c.layout_id)


def _inputs(collection: int) -> Select[Any]:
    return select(chunk.c.input_id).where(chunk.c.layout_id.in_(_layouts(collection)))


def _of_generations(collection: int, column: Column[Any]) -> Select[Any]:
    return select(column).where(generation.c.collection_id == collection)


def _models(collection: int) -> ColumnElement[bool]:
    of_inputs = select(input_.c.model_id).where(input_.c.id.in_(_inputs(collection)))
    made = _of_generations(collection, generation.c.model_id)
    return or_(model.c.id.in_(made), model.c.id.in_(of_inputs))


def _recipes(collection: int) -> ColumnElement[bool]:
    of_layouts = select(layout.c.recipe_id).where(layout.c.id.in_(_layouts(collection)))
    made = _of_generations(collection, generation.c.recipe_id)
    return or_(recipe.c.id.in_(made), recipe.c.id.in_(of_layouts))


def _sets(collection: int) -> Select[Any]:
    """The reader sets that a collection's rows refer to."""
    referring = (document, manifest, access_grant)
    chosen = [
        select(table.c.reader_set_id).where(
            table.c.collection_id == collection, table.c.reader_set_id.is_not(None)
        )
        for table in referring
    ]
    return select(union(*chosen).subquery().c[0])


def _derived(collection: int, column: Column[Any]) -> Select[Any]:
    return select(column).where(derived.c.layout_id.in_(_layouts(collection)))


def _derivations(collection: int) -> ColumnElement[bool]:
    return derivation.c.id.in_(_derived(collection, derived.c.derivation_id))


PARTS: Mapping[str, Part] = {
    part.table.name: part
    for part in (
        Part(model, _models),
        Part(recipe, _recipes),
        _own(source),
        Part(reader_set, lambda one: reader_set.c.id.in_(_sets(one))),
        Part(reader, lambda one: reader.c.set_id.in_(_sets(one))),
        _own(document),
        Part(revision, lambda one: revision.c.id.in_(_of_manifest(one, manifest.c.revision_id))),
        Part(layout, lambda one: layout.c.id.in_(_layouts(one))),
        Part(input_, lambda one: input_.c.id.in_(_inputs(one))),
        Part(vector, lambda one: vector.c.input_id.in_(_inputs(one))),
        Part(chunk, lambda one: chunk.c.layout_id.in_(_layouts(one))),
        Part(derivation, _derivations),
        Part(output, lambda one: output.c.id.in_(_derived(one, derived.c.output_id))),
        Part(derived, lambda one: derived.c.layout_id.in_(_layouts(one))),
        _own(generation),
        _own(manifest),
        _own(head),
        _own(held),
        _own(removal),
        _own(denied),
        _own(policy),
        _own(access_grant),
        _own(audit),
        _own(cost),
        _own(unpublished),
    )
}
"""The tables that an export holds rows of."""

LEFT_OUT: Mapping[str, str] = {
    "collection": "named in the first line; an import has an id of its own",
    "lexicon": "an import makes the terms of its inputs itself",
    "indexed": "an import makes the terms of its inputs itself",
    "posting": "an import makes the terms of its inputs itself",
    "lease": "says who is at work on a store",
}
"""The tables that no export holds, and why nothing is lost by it."""


def undeclared(tables: MetaData = metadata) -> list[str]:
    """Tables that nobody said how to export: there must be none."""
    return [name for name in tables.tables if (name in PARTS) == (name in LEFT_OUT)]
