"""The explanations of a plan's documents: what `explaining` compares, read from the plan."""

from collections.abc import Iterator
from dataclasses import asdict

from variorum.formats import decode
from variorum.records.errors import NotFoundError
from variorum.records.names import DocumentName
from variorum.records.reports import Explanation, PlannedDocument
from variorum.records.text import Revision
from variorum.store.staged_layouts import (
    StagedDocument,
    model_name,
    read_row,
    read_settings,
    read_staged,
)
from variorum.sync.explaining import Side, explain
from variorum.sync.planning import Plan


def explained(plan: Plan, document: DocumentName) -> tuple[Explanation, ...]:
    """Why each input that a document brings would be embedded. Reads both its revisions."""
    staged = read_staged(plan.staging, document)
    if staged is None or not staged.embedded:
        return ()
    return explain(_old_side(plan, staged), _new_side(plan, staged), staged.embedded)


def explain_document(
    plan: Plan, document: DocumentName | None
) -> tuple[PlannedDocument | None, tuple[Explanation, ...]]:
    """A document's line of the plan (None where it stays as it is), and its explanations.

    Raises:
        NotFoundError: kind `no-such-document`: neither the plan nor its parent has one by the name.
    """
    if document is None:
        return None, ()
    planned = next((one for one in plan.documents() if one.document == document), None)
    if planned is None:
        _require_known(plan, document)
        return None, ()
    explanations = explained(plan, document)
    return planned.with_reasons(explanations), explanations


def _require_known(plan: Plan, document: DocumentName) -> None:
    known = plan.store.known_rows(plan.staging.connection, plan.collection_id)
    rows = plan.staging.open_rows(plan.collection_id, known)
    if any(row.document == document for row in rows.values()):
        return
    if any(held.document == document for held in plan.held):
        return
    raise NotFoundError(
        f"no document is named {document}",
        kind="no-such-document",
        subject=str(document),
        expected="a document of the collection, or one that the plan adds",
        found="none by that name",
        remedy="`variorum plan -v` names the documents that change",
    )


def with_reasons(plan: Plan) -> Iterator[PlannedDocument]:
    """The plan's documents, each with its tokens to embed by reason."""
    for planned in list(plan.documents()):
        yield planned.with_reasons(explained(plan, planned.document))


def _new_side(plan: Plan, staged: StagedDocument) -> Side:
    settings = plan.target.settings
    recipe = asdict(settings.recipe)
    recipe["model"] = f"{settings.embedder.identity.name} {recipe['model'][:12]}"
    text = decode(Revision(staged.content, staged.content_type))
    recipe["parser"] = staged.parser
    return Side(text.characters, staged.chunks, recipe, _overhead(plan))


def _old_side(plan: Plan, staged: StagedDocument) -> Side | None:
    if staged.closes is None or plan.collection_id is None:
        return None
    row = read_row(plan.staging, plan.collection_id, staged.closes)
    content = plan.staging.content(row.revision_id)
    text = decode(Revision(content, row.content_type, row.sha256))
    recipe = dict(read_settings(plan.staging, row.recipe_id))
    fingerprint = str(recipe["model"])
    recipe["model"] = f"{model_name(plan.staging, fingerprint)} {fingerprint[:12]}"
    chunks = plan.staging.chunks(row.layout_id)
    recipe["parser"] = row.parser
    return Side(text.characters, chunks, recipe, _overhead(plan))


def _overhead(plan: Plan) -> int:
    return plan.target.settings.embedder.count([""])[0]
