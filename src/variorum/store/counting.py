"""What a staged plan comes to, counted by the engine over its staged rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    Select,
    and_,
    bindparam,
    case,
    func,
    literal,
    select,
)

from variorum.records.names import DocumentName
from variorum.records.reports import InputCounts, PlannedDocument, TokenCounts
from variorum.store.schema import chunk, input_, manifest
from variorum.store.staged import CLOSING, staged_chunk, staged_document, staged_input
from variorum.store.staging import Staging


@dataclass(frozen=True, slots=True)
class Counts:
    """The inputs and tokens of a plan; `recomputed` and `revised` are tokens over documents."""

    inputs: InputCounts
    tokens: TokenCounts
    recomputed_tokens: int
    revised_tokens: int

    @property
    def recompute_fraction(self) -> float | None:
        """Recomputed tokens over all tokens of the changed documents' distinct inputs."""
        return self.recomputed_tokens / self.revised_tokens if self.revised_tokens else None

    @property
    def embedded_fraction(self) -> float | None:
        """Tokens to embed over all tokens of the added and changed documents."""
        return self.tokens.embed / self.tokens.total if self.tokens.total else None


def count_plan(staging: Staging, collection_id: int | None) -> Counts:
    """Count the staged plan. Cost follows the staged documents, not the collection."""
    if staging.is_empty:
        return Counts(InputCounts(), TokenCounts(), 0, 0)
    to_embed = staged_input.c.text.is_not(None)
    query = select(
        func.count().filter(to_embed),
        func.count().filter(~to_embed),
        func.coalesce(func.sum(staged_input.c.tokens).filter(to_embed), 0),
        func.coalesce(func.sum(staged_input.c.tokens).filter(~to_embed), 0),
    ).select_from(staged_input)
    with staging.connection.begin():
        embed, reuse, embed_tokens, reuse_tokens = staging.connection.execute(query).one()
        mine = {"collection": collection_id}
        retire = staging.connection.execute(_retired(), mine).scalar_one()
        recomputed, revised = staging.connection.execute(_recomputed()).one()
    return Counts(
        InputCounts(embed, reuse, retire),
        TokenCounts(embed_tokens, reuse_tokens, embed_tokens + reuse_tokens),
        recomputed or 0,
        revised or 0,
    )


@cache
def _retired() -> Select[Any]:
    """Distinct inputs of closing rows that nothing staged or staying open still holds."""
    # Distinct first: an input that fills a document is looked up once, not once a chunk. The sum
    # keeps SQLite off the index of inputs: it would walk through those of the whole collection.
    ending = (
        select((chunk.c.input_id + 0).label("input_id"))
        .select_from(
            staged_document.join(manifest, manifest.c.id == staged_document.c.closes).join(
                chunk, chunk.c.layout_id == manifest.c.layout_id
            )
        )
        .distinct()
        .subquery()
    )
    other_chunk, other = chunk.alias("other_chunk"), manifest.alias("other")
    # The sum keeps SQLite off the index of open rows: it would visit the whole collection for
    # every chunk, where the other chunks of one input are few.
    other_collection = other.c.collection_id + 0
    still_open = (
        select(literal(1))
        .select_from(other_chunk.join(other, other.c.layout_id == other_chunk.c.layout_id))
        .where(
            other_chunk.c.input_id == ending.c.input_id,
            other_collection == bindparam("collection"),
            other.c.to_generation.is_(None),
            other.c.id.not_in(CLOSING),
        )
    )
    staged = (
        select(literal(1))
        .select_from(input_.join(staged_input, staged_input.c.key == input_.c.key))
        .where(input_.c.id == ending.c.input_id)
    )
    return select(func.count()).select_from(ending).where(~still_open.exists(), ~staged.exists())


@cache
def _recomputed() -> Select[Any]:
    """(tokens not in the previous revision's inputs, all tokens), summed over changed documents."""
    one = select(staged_chunk.c.document_id, staged_chunk.c.key).distinct().subquery()
    # The sum keeps SQLite off the index of inputs: an input that many documents share has a chunk
    # in each of them, and all would be visited for every one.
    known = (
        select(literal(1))
        .select_from(chunk.join(input_, input_.c.id == chunk.c.input_id + 0))
        .where(input_.c.key == one.c.key, chunk.c.layout_id == manifest.c.layout_id)
    )
    new_tokens = case((known.exists(), 0), else_=staged_input.c.tokens)
    return (
        select(func.sum(new_tokens), func.sum(staged_input.c.tokens))
        .select_from(
            one.join(staged_document, staged_document.c.id == one.c.document_id)
            .join(manifest, manifest.c.id == staged_document.c.closes)
            .join(staged_input, staged_input.c.key == one.c.key)
        )
        .where(staged_document.c.action == "changed")
    )


def planned_documents(staging: Staging) -> Iterator[PlannedDocument]:
    """Every staged document with what it costs, in the order of the plan.

    An input that several documents share is embedded for the first that brings it.
    """
    distinct = (
        select(
            staged_chunk.c.document_id,
            staged_chunk.c.key,
            func.count().label("places"),
        )
        .group_by(staged_chunk.c.document_id, staged_chunk.c.key)
        .subquery()
    )
    embeds = and_(
        staged_input.c.text.is_not(None), staged_input.c.document_id == distinct.c.document_id
    )
    query = (
        select(
            staged_document.c.source,
            staged_document.c.path,
            staged_document.c.action,
            func.coalesce(func.sum(distinct.c.places), 0),
            func.count(distinct.c.key).filter(embeds),
            func.count(distinct.c.key).filter(~embeds),
            func.coalesce(func.sum(staged_input.c.tokens).filter(embeds), 0),
            func.coalesce(func.sum(staged_input.c.tokens), 0),
        )
        .select_from(
            staged_document.outerjoin(
                distinct, distinct.c.document_id == staged_document.c.id
            ).outerjoin(staged_input, staged_input.c.key == distinct.c.key)
        )
        .group_by(staged_document.c.id)
        .order_by(staged_document.c.id)
    )
    with staging.connection.begin():
        for source, path, *rest in staging.connection.execute(query):
            yield PlannedDocument(DocumentName(source, path), *rest)
