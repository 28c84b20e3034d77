"""Whether the generations of a store follow each other, and hold what each says it holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from variorum.records.layout import Recipe
from variorum.store.costs import ledger_problems
from variorum.store.removals import Kept, kept
from variorum.store.schema import (
    collection,
    document,
    generation,
    head,
    layout,
    manifest,
    model,
    recipe,
    revision,
    source,
)

Problem = tuple[str, str]


class _Link(NamedTuple):
    """A generation as the chain sees it."""

    number: int
    parent: int | None
    kind: str
    report: Mapping[str, Any]

    def expected(self, visible: Mapping[int, int], kept: Kept) -> int:
        """How many documents it holds by its own word, given those of the ones before."""
        if self.number == kept.oldest and kept.documents is not None:
            return kept.documents
        if self.kind.startswith("restore of "):
            restored = int(self.kind.removeprefix("restore of "))
            if restored >= kept.oldest:
                return visible.get(restored, -1)
        return visible.get(self.number - 1, 0) + self._count("added") - self._count("removed")

    def _count(self, action: str) -> int:
        """Documents that the publish did this to and that were not erased since."""
        erased = self.report.get("erased", {})
        return int(self.report["documents"][action]) - int(erased.get(action, 0))


def chain_problems(connection: Connection) -> Iterator[Problem]:
    """Heads, parents, intervals and counts that contradict each other. Linear in the manifest."""
    query = select(collection.c.id, head.c.generation).outerjoin(
        head, head.c.collection_id == collection.c.id
    )
    for identifier, pointed in connection.execute(query).all():
        links = _links(connection, identifier)
        newest = links[-1].number if links else None
        if pointed != newest:
            yield f"head collection_id={identifier}", f"at {pointed}, the newest is {newest}"
        yield from _broken_links(connection, identifier, links)
    yield from _interval_problems(connection)
    yield from _stray_rows(connection)
    yield from _recipe_problems(connection)
    yield from ledger_problems(connection)


def _links(connection: Connection, collection_id: int) -> list[_Link]:
    query = (
        select(generation.c.number, generation.c.parent, generation.c.kind, generation.c.report)
        .where(generation.c.collection_id == collection_id)
        .order_by(generation.c.number)
    )
    return [_Link(*row) for row in connection.execute(query)]


def _broken_links(
    connection: Connection, collection_id: int, links: Sequence[_Link]
) -> Iterator[Problem]:
    visible = _visible(connection, collection_id, links)
    pruned_to = kept(connection, collection_id)
    for place, link in enumerate(links, start=1):
        row = f"generation collection_id={collection_id} number={link.number}"
        if link.number != place:
            yield row, f"follows {place - 1}: a generation between is missing"
            return
        if link.parent != (place - 1 or None):
            yield f"{row} parent", f"is {link.parent}"
        if link.report.get("generation") != link.number:
            yield f"{row} report", f"speaks of generation {link.report.get('generation')}"
        if link.number < pruned_to.oldest:
            continue
        expected = link.expected(visible, pruned_to)
        if visible[link.number] != expected:
            found = f"holds {visible[link.number]} documents, by its own report {expected}"
            yield row, f"{found}: a row of manifest is missing or too many"


def _visible(
    connection: Connection, collection_id: int, links: Sequence[_Link]
) -> Mapping[int, int]:
    """How many documents each generation holds."""
    changes: dict[int, int] = {}
    for column, sign in ((manifest.c.from_generation, 1), (manifest.c.to_generation, -1)):
        query = (
            select(column, func.count())
            .where(manifest.c.collection_id == collection_id, column.is_not(None))
            .group_by(column)
        )
        for number, count in connection.execute(query):
            changes[number] = changes.get(number, 0) + sign * count
    visible, total = {}, 0
    for link in links:
        total += changes.get(link.number, 0)
        visible[link.number] = total
    return visible


def _interval_problems(connection: Connection) -> Iterator[Problem]:
    newest = (
        select(func.max(generation.c.number))
        .where(generation.c.collection_id == manifest.c.collection_id)
        .scalar_subquery()
    )
    last = func.coalesce(manifest.c.to_generation, manifest.c.from_generation + 1)
    query = select(manifest.c.id).where(
        (last <= manifest.c.from_generation)
        | (manifest.c.from_generation < 1)
        | (manifest.c.from_generation > newest)
        | (func.coalesce(manifest.c.to_generation, 0) > newest)
    )
    for (identifier,) in connection.execute(query):
        yield f"manifest id={identifier}", "its generations are none that were published"
    other = manifest.alias("other")
    overlapping = select(manifest.c.id, other.c.id).where(
        manifest.c.document_id == other.c.document_id,
        manifest.c.id < other.c.id,
        manifest.c.from_generation < func.coalesce(other.c.to_generation, 1 << 60),
        other.c.from_generation < func.coalesce(manifest.c.to_generation, 1 << 60),
    )
    for first, second in connection.execute(overlapping):
        yield f"manifest id={first}", f"visible together with {second}, of the same document"


def _stray_rows(connection: Connection) -> Iterator[Problem]:
    """Rows of one collection or revision that a manifest row joins with those of another."""
    query = (
        select(manifest.c.id)
        .select_from(
            manifest.join(document, document.c.id == manifest.c.document_id)
            .join(layout, layout.c.id == manifest.c.layout_id)
            .join(revision, revision.c.id == manifest.c.revision_id)
            .join(collection, collection.c.id == manifest.c.collection_id)
        )
        .where(
            (document.c.collection_id != manifest.c.collection_id)
            | (layout.c.revision_id != manifest.c.revision_id)
            | (revision.c.tenant != collection.c.tenant)
        )
    )
    for (identifier,) in connection.execute(query):
        yield f"manifest id={identifier}", "joins rows that do not belong together"
    unlisted = (
        select(document.c.id, document.c.source)
        .outerjoin(
            source,
            (source.c.collection_id == document.c.collection_id)
            & (source.c.name == document.c.source),
        )
        .where(source.c.name.is_(None))
    )
    for identifier, name in connection.execute(unlisted):
        yield f"document id={identifier} source", f"{name!r} has no row in source"


def _recipe_problems(connection: Connection) -> Iterator[Problem]:
    for identifier, fingerprint, settings in connection.execute(
        select(recipe.c.id, recipe.c.fingerprint, recipe.c.settings)
    ).all():
        if Recipe(**settings).fingerprint != fingerprint:
            yield f"recipe id={identifier}", "its settings do not hash to its fingerprint"
    query = (
        select(generation.c.number, model.c.fingerprint, recipe.c.settings)
        .join(model, model.c.id == generation.c.model_id)
        .join(recipe, recipe.c.id == generation.c.recipe_id)
    )
    for number, fingerprint, settings in connection.execute(query):
        if settings.get("model") != fingerprint:
            yield f"generation number={number}", "its recipe names another model than its own"
