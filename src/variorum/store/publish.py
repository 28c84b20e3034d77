"""Publishing: one transaction that inserts, closes and moves one pointer (invariant 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import (
    Connection,
    bindparam,
    select,
    update,
)

from variorum.records.costs import DocumentCost
from variorum.records.errors import ConflictError
from variorum.records.layout import Recipe
from variorum.records.protocols import ModelIdentity
from variorum.records.reports import Held
from variorum.store import schema
from variorum.store.bringing import (
    add_documents,
    add_layouts,
    add_revisions,
    close_rows,
    open_rows,
)
from variorum.store.costs import record_costs
from variorum.store.engine import write_transaction
from variorum.store.granting import (
    grant_new_documents,
    narrow_opened_rows,
    newest_document,
    newest_row,
)
from variorum.store.removals import require_nothing_removed
from variorum.store.seals import (
    damaged_row,
    insert_rows,
    name_of,
    resealed,
)
from variorum.store.staged_derived import add_derived
from variorum.store.staged_terms import add_terms
from variorum.store.staging import Staging
from variorum.store.standing import forget_sources, record_held


@dataclass(frozen=True, slots=True)
class Publication:
    """What a generation is published with. `created_at` is ISO 8601 in UTC.

    `sources` maps each source that was listed to its root, `held` are the documents that those
    listings hold, `dropped` the sources that are to be listed no more. `removal` is the last one
    that the plan knows of: rows that a later one took out may be among those it builds on.
    """

    collection_id: int
    parent: int | None
    kind: str
    created_at: str
    model_id: int
    recipe_id: int
    report: Mapping[str, object]
    sources: Mapping[str, str]
    held: Sequence[Held] = ()
    dropped: Sequence[str] = ()
    costs: Sequence[DocumentCost] = ()
    removal: int = 0


def publish(staging: Staging, publication: Publication, analyzer: str) -> int:
    """Make the staged plan the collection's next generation, and return its number.

    `analyzer` is what made the staged terms.

    Writes rows in proportion to the staged documents, never to the collection.

    Raises:
        ConflictError: another writer published since the plan was made; nothing is written.
    """
    connection = staging.connection
    with write_transaction(connection):
        number = advance_head(connection, publication)
        add_terms(staging, analyzer)
        known, known_row = newest_document(connection), newest_row(connection)
        add_documents(connection, publication.collection_id)
        add_revisions(connection)
        add_layouts(connection, publication.recipe_id)
        add_derived(connection, publication.recipe_id)
        close_rows(connection, number)
        open_rows(connection, publication.collection_id, publication.recipe_id, number)
        grant_new_documents(connection, publication.collection_id, known)
        narrow_opened_rows(connection, publication.collection_id, known_row, publication.sources)
        record_sources(connection, publication)
        record_held(connection, publication.collection_id, publication.sources, publication.held)
        forget_sources(connection, publication.collection_id, publication.dropped)
        record_costs(
            connection,
            publication.collection_id,
            number,
            publication.created_at,
            publication.costs,
        )
    return number


def advance_head(connection: Connection, publication: Publication) -> int:
    """Insert the next generation and move the head to it, by compare-and-swap on the parent.

    Raises:
        ConflictError: the head is not at the publication's parent any more, or something was
            removed from the store meanwhile.
    """
    require_nothing_removed(connection, publication.removal)
    number = (publication.parent or 0) + 1
    if publication.parent is None:
        first = {"collection_id": publication.collection_id, "generation": number}
        changed = insert_rows(connection, schema.head, [first])
    else:
        changed = connection.execute(
            update(schema.head)
            .where(
                schema.head.c.collection_id == publication.collection_id,
                schema.head.c.generation == publication.parent,
            )
            .values(resealed(schema.head, generation=number))
        ).rowcount
    if changed != 1:
        raise ConflictError(
            "another writer published while this plan was being carried out",
            kind="generation-conflict",
            subject=f"generation {number}",
            expected=f"generation {publication.parent or 0} as the newest",
            found="a newer one",
            remedy="run the command again: it plans from the new state; vectors are kept",
        )
    row = {
        "collection_id": publication.collection_id,
        "number": number,
        "parent": publication.parent,
        "kind": publication.kind,
        "created_at": publication.created_at,
        "model_id": publication.model_id,
        "recipe_id": publication.recipe_id,
        "report": {**publication.report, "generation": number},
    }
    if insert_rows(connection, schema.generation, [row]) != 1:
        raise damaged_row(name_of(schema.generation, (publication.collection_id, number)))
    return number


_HEARD_SOURCE = (
    update(schema.source)
    .where(
        schema.source.c.collection_id == bindparam("of_collection"),
        schema.source.c.name == bindparam("of_source"),
    )
    .values(
        resealed(schema.source, root=bindparam("new_root"), held_by_restore=False, dropped=False)
    )
)


def record_sources(connection: Connection, publication: Publication) -> None:
    """Remember the root of every source that was listed, and that nothing holds or drops it."""
    for name, root in publication.sources.items():
        row = {
            "collection_id": publication.collection_id,
            "name": name,
            "root": root,
            "held_by_restore": False,
            "dropped": False,
        }
        if insert_rows(connection, schema.source, [row]):
            continue
        heard = {"of_collection": publication.collection_id, "of_source": name, "new_root": root}
        connection.execute(_HEARD_SOURCE, heard)


def release_sources(connection: Connection, collection_id: int, names: Sequence[str]) -> None:
    """Let sources speak again that a restore holds, without a publish."""
    with write_transaction(connection):
        connection.execute(
            update(schema.source)
            .where(schema.source.c.collection_id == collection_id, schema.source.c.name.in_(names))
            .values(resealed(schema.source, held_by_restore=False))
        )


def register_recipe(
    connection: Connection, recipe: Recipe, identity: ModelIdentity, spec: str
) -> tuple[int, int]:
    """The ids of a recipe and a model, inserted where they are new. (recipe id, model id)."""
    known = find_recipe(connection, recipe.fingerprint, identity.fingerprint)
    if -1 not in known:
        return known
    with write_transaction(connection):
        settings = {"fingerprint": recipe.fingerprint, "settings": asdict(recipe)}
        insert_rows(connection, schema.recipe, [settings])
        model = {
            "fingerprint": identity.fingerprint,
            "name": identity.name,
            "spec": spec,
            "dimensions": identity.dimensions,
        }
        insert_rows(connection, schema.model, [model])
    return find_recipe(connection, recipe.fingerprint, identity.fingerprint)


def find_recipe(
    connection: Connection, recipe_fingerprint: str, model_fingerprint: str
) -> tuple[int, int]:
    """The ids of a registered recipe and model; -1 for one that is not registered."""
    recipes = select(schema.recipe.c.id).where(schema.recipe.c.fingerprint == recipe_fingerprint)
    models = select(schema.model.c.id).where(schema.model.c.fingerprint == model_fingerprint)
    with connection.begin():
        recipe_id = connection.execute(recipes).scalar()
        model_id = connection.execute(models).scalar()
    return (-1 if recipe_id is None else recipe_id, -1 if model_id is None else model_id)


def register_collection(connection: Connection, tenant: str, name: str) -> int:
    """The id of a tenant's collection, inserted where it is new."""
    known = find_collection(connection, tenant, name)
    if known is not None:
        return known
    with write_transaction(connection):
        insert_rows(
            connection, schema.collection, [{"tenant": tenant, "name": name, "readings": 0}]
        )
    found = find_collection(connection, tenant, name)
    assert found is not None
    return found


def find_collection(connection: Connection, tenant: str, name: str) -> int | None:
    """The id of a tenant's collection, or None where it was never published."""
    query = select(schema.collection.c.id).where(
        schema.collection.c.tenant == tenant, schema.collection.c.name == name
    )
    with connection.begin():
        found: int | None = connection.execute(query).scalar()
    return found
