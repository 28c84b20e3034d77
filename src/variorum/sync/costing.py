"""What a plan costs each document, against what its words really changed."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from variorum.chunking.floor import reusable_tokens
from variorum.formats import decode
from variorum.records.costs import DocumentCost, Event
from variorum.records.layout import Chunk
from variorum.records.protocols import Tokenizer
from variorum.records.reports import PlannedDocument
from variorum.records.text import Revision
from variorum.store.manifests import ManifestRow
from variorum.store.staged_layouts import StagedDocument, read_row, read_staged
from variorum.sync.changes import Change, Changes
from variorum.sync.planning import Plan, previous_layout


def document_costs(plan: Plan, embed_s: float) -> list[DocumentCost]:
    """The cost of every document that the plan adds or lays out; texts are compared only where a
    changed one embeds something. `embed_s` is shared out by tokens.
    """
    costs = [_cost(plan, one) for one in list(plan.documents()) if one.action != "removed"]
    total = sum(one.embedded_tokens for one in costs)
    rate = embed_s / total if total else 0.0
    return [replace(one, embed_s=rate * one.embedded_tokens) for one in costs]


def _cost(plan: Plan, planned: PlannedDocument) -> DocumentCost:
    plain = _plain(planned)
    if planned.action == "added" or plan.collection_id is None:
        return plain
    staged = read_staged(plan.staging, planned.document)
    if staged is None or staged.closes is None:
        return plain
    row = read_row(plan.staging, plan.collection_id, staged.closes)
    event = Event.UPDATE if _is_update(plan, staged, row) else Event.REBUILD
    if not staged.embedded:
        return replace(plain, event=event, floor_tokens=0)
    return _compared(plan, replace(plain, event=event), staged, row)


def _plain(planned: PlannedDocument) -> DocumentCost:
    """A document none of whose inputs were there before: whatever it embeds is new."""
    return DocumentCost(
        document=planned.document,
        event=Event.INGEST,
        embedded_inputs=planned.embed,
        changed_inputs=planned.embed,
        total_inputs=planned.embed + planned.reuse,
        embedded_tokens=planned.embed_tokens,
        changed_tokens=planned.embed_tokens,
        edited_tokens=planned.embed_tokens,
        floor_tokens=planned.embed_tokens,
        total_tokens=planned.total_tokens,
    )


def _is_update(plan: Plan, staged: StagedDocument, row: ManifestRow) -> bool:
    """Whether the words are other ones, under the recipe of before."""
    same = hashlib.sha256(staged.content).hexdigest() == row.sha256
    return not same and row.recipe_id == plan.staging.recipe_id


def _compared(
    plan: Plan, plain: DocumentCost, staged: StagedDocument, row: ManifestRow
) -> DocumentCost:
    new = decode(Revision(staged.content, staged.content_type)).characters
    previous = previous_layout(plan.staging, row)
    if previous is None:
        return plain
    edits = list(Changes(previous.characters, new).of_words())
    prefixes = {chunk.prefix for chunk in previous.layout.chunks}
    embedded = [staged.chunks[number] for number in staged.embedded]
    changed = [one for one in embedded if one.prefix not in prefixes or _is_touched(one, edits)]
    tokenizer = plan.target.settings.embedder.tokenizer
    least = sum(chunk.tokens for chunk in staged.chunks) - reusable_tokens(previous, new)
    return replace(
        plain,
        changed_inputs=len(changed),
        changed_tokens=sum(one.tokens for one in changed),
        edited_tokens=sum(_edited_tokens(one, new, edits, tokenizer) for one in changed),
        floor_tokens=max(0, min(least, plain.total_tokens)),
    )


def _is_touched(chunk: Chunk, edits: list[Change]) -> bool:
    """Whether something was added or replaced in the chunk, or removed in it or at its ends."""
    return any(
        edit.new_start < chunk.end and chunk.start < edit.new_end
        if edit.new_start < edit.new_end
        else chunk.start <= edit.new_start <= chunk.end
        for edit in edits
    )


def _edited_tokens(chunk: Chunk, new: str, edits: list[Change], tokenizer: Tokenizer) -> int:
    inside = list(_within(chunk, edits))
    if not inside:
        return 0
    starts = tokenizer.starts(new[chunk.start : chunk.end])
    places = [chunk.start + start for start in starts]
    return sum(any(first <= place < last for first, last in inside) for place in places)


def _within(chunk: Chunk, edits: list[Change]) -> Iterator[tuple[int, int]]:
    for edit in edits:
        first, last = max(edit.new_start, chunk.start), min(edit.new_end, chunk.end)
        if first < last:
            yield first, last
