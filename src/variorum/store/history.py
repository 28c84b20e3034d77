"""What changed between two generations."""

from dataclasses import dataclass

from variorum.records.names import DocumentName
from variorum.store.manifests import ManifestRow, same_metadata
from variorum.store.snapshot import Snapshot
from variorum.store.view import View


@dataclass(frozen=True, slots=True)
class DocumentDifference:
    """One document that two generations hold differently.

    `action` is "added", "removed", "changed", "renamed" (from `renamed_from`, content unchanged),
    "metadata" or "layout" (same content, other metadata or another layout).
    """

    document: DocumentName
    action: str
    old_revision: str | None
    new_revision: str | None
    renamed_from: DocumentName | None = None

    def as_fields(self) -> dict[str, object]:
        """The difference as JSON fields."""
        return {
            "document": str(self.document),
            "action": self.action,
            "old_revision": self.old_revision,
            "new_revision": self.new_revision,
            "renamed_from": str(self.renamed_from) if self.renamed_from else None,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """The documents that differ between generations `old` and `new`, by name."""

    old: int
    new: int
    documents: tuple[DocumentDifference, ...]

    def as_fields(self) -> dict[str, object]:
        """The difference as JSON fields."""
        return {
            "old": self.old,
            "new": self.new,
            "documents": [document.as_fields() for document in self.documents],
        }


def difference(old: View | Snapshot, new: View | Snapshot) -> Difference:
    """Compare two generations of one collection, as far as they pass. Linear in their documents."""
    before = {row.document: row for row in old.documents.values()}
    after = {row.document: row for row in new.documents.values()}
    gone = {row.sha256: row for name, row in before.items() if name not in after}
    documents: list[DocumentDifference] = []
    renamed: set[DocumentName] = set()
    for name, row in sorted(after.items()):
        if name not in before:
            origin = gone.pop(row.sha256, None)
            documents.append(_arrival(row, origin))
            renamed |= {origin.document} if origin else set()
        elif action := _action(before[name], row):
            documents.append(DocumentDifference(name, action, before[name].sha256, row.sha256))
    removed = (name for name in sorted(before) if name not in after and name not in renamed)
    documents += [
        DocumentDifference(name, "removed", before[name].sha256, None) for name in removed
    ]
    return Difference(old.generation.number, new.generation.number, tuple(documents))


def _arrival(row: ManifestRow, origin: ManifestRow | None) -> DocumentDifference:
    if origin is None:
        return DocumentDifference(row.document, "added", None, row.sha256)
    return DocumentDifference(
        row.document, "renamed", origin.sha256, row.sha256, renamed_from=origin.document
    )


def _action(old: ManifestRow, new: ManifestRow) -> str:
    if old.sha256 != new.sha256:
        return "changed"
    if old.layout_id != new.layout_id:
        return "layout"
    return "" if same_metadata(old.metadata, new.metadata) else "metadata"
