"""One source's listing against what the parent generation holds of it."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from variorum.formats import parser_of
from variorum.records.errors import ConflictError, UnavailableError
from variorum.records.names import DocumentName
from variorum.records.protocols import Listed, Skipped, Source
from variorum.records.reports import Held, SkippedPath
from variorum.records.text import Revision
from variorum.sources.beneath import VANISHED
from variorum.sources.folder import FolderSource
from variorum.store.denials import NO_DENIALS, Denials
from variorum.store.manifests import ManifestRow, same_metadata

SHRINK_SHARE = 0.5
SHRINK_DOCUMENTS = 10
ERASED = "erased"
"""Why a listed document is skipped that must not come back."""

_HELD_WHEN_SKIPPED = frozenset({"too-large", VANISHED})


def is_laid_out(row: ManifestRow, recipe_id: int | None) -> bool:
    """Whether a row's layout is under a recipe, and by the parser of today."""
    return row.recipe_id == recipe_id and row.parser == parser_of(row.content_type)


@dataclass(frozen=True, slots=True)
class Found:
    """A listed document whose content or metadata the parent generation does not hold.

    Or, `unchanged`, one that it does hold, where every document is wanted.
    """

    document: DocumentName
    revision: Revision
    metadata: Mapping[str, object]
    row: ManifestRow | None
    unchanged: bool = False


@dataclass(slots=True)
class Comparison:
    """What became of one source's listing; complete once `changes` is exhausted.

    Where a list of changes is enough, `only` are the paths to look at, `rows` those of the same
    paths, and `others` counts the rows that stay unseen as they are.
    """

    source: Source
    rows: dict[bytes, ManifestRow]
    recipe_id: int | None
    everything: bool = False
    denials: Denials = NO_DENIALS
    only: frozenset[bytes] | None = None
    others: int = 0
    unchanged: int = 0
    listed: int = 0
    held: list[Held] = field(default_factory=list)
    held_rows: list[ManifestRow] = field(default_factory=list)
    skipped: list[SkippedPath] = field(default_factory=list)
    removed: list[ManifestRow] = field(default_factory=list)

    def changes(self) -> Iterator[Found]:
        """List and read the source; yield what is new or different, then settle the removals.

        With `everything`, what is unchanged is yielded too, and counted by who asked for it.
        A listing that breaks off raises before any removal is settled (invariant 7).
        """
        seen: set[bytes] = set()
        self.unchanged = self.listed = self.others
        for entry in self._entries():
            if isinstance(entry, Skipped):
                self._note_skipped(entry, seen)
                continue
            if self.denials and self._is_denied(entry):
                continue
            seen.add(entry.path)
            self.listed += 1
            found = self._compare(entry)
            if found is not None:
                yield found
        self.removed = [row for path, row in self.rows.items() if path not in seen]

    def _entries(self) -> Iterator[Listed | Skipped]:
        if self.only is not None and isinstance(self.source, FolderSource):
            return self.source.look(self.only)
        return self.source.list()

    def _is_denied(self, entry: Listed) -> bool:
        """Skip a document that was erased, before its bytes are read."""
        denied = self._name(entry) in self.denials
        if denied:
            detail = "`variorum erase --lift` lets it come back"
            self.skipped.append(SkippedPath(self._name(entry), ERASED, detail))
        return denied

    def _note_skipped(self, entry: Skipped, seen: set[bytes]) -> None:
        rows = self._held_by(entry) if entry.reason in _HELD_WHEN_SKIPPED else []
        for row in rows:
            seen.add(row.document.path)
            self.listed += 1
            self.hold(Held(row.document, entry.reason, message=entry.detail), row)
        if not rows:
            name = DocumentName(self.source.name, entry.path)
            self.skipped.append(SkippedPath(name, entry.reason, entry.detail))

    def _held_by(self, entry: Skipped) -> list[ManifestRow]:
        """The known documents that a skipped path stands for: of a folder, all below it."""
        if entry.path.endswith(b"/"):
            return [row for path, row in self.rows.items() if path.startswith(entry.path)]
        row = self.rows.get(entry.path)
        return [] if row is None else [row]

    def _compare(self, entry: Listed) -> Found | None:
        row = self.rows.get(entry.path)
        try:
            content = self.source.read(entry)
        except UnavailableError as error:
            self._note_unread(entry, row, error)
            return None
        sha256 = hashlib.sha256(content).hexdigest()
        unchanged = row is not None and self._same(row, sha256, entry)
        if unchanged and not self.everything:
            self.unchanged += 1
            return None
        revision = Revision(content, entry.content_type, sha256)
        return Found(self._name(entry), revision, entry.metadata, row, unchanged)

    def _note_unread(self, entry: Listed, row: ManifestRow | None, error: UnavailableError) -> None:
        """Hold what cannot be read; a new file that is gone again was never a document."""
        if row is None and error.kind == VANISHED:
            self.skipped.append(SkippedPath(self._name(entry), error.kind, error.found))
        else:
            self.hold(Held(self._name(entry), error.kind, message=error.message), row)

    def _name(self, entry: Listed) -> DocumentName:
        return DocumentName(self.source.name, entry.path)

    def _same(self, row: ManifestRow, sha256: str, entry: Listed) -> bool:
        return (
            row.sha256 == sha256
            and row.content_type == entry.content_type
            and is_laid_out(row, self.recipe_id)
            and same_metadata(row.metadata.get("source", {}), entry.metadata)
        )

    def hold(self, held: Held, row: ManifestRow | None) -> None:
        """Note a document that stays at its last good revision, if it has one."""
        self.held.append(held)
        if row is not None:
            self.held_rows.append(row)

    def require_consent(self, *, empty: bool, shrink: bool) -> None:
        """Refuse a listing that lost more than an accident should be able to take away.

        Raises:
            ConflictError: the source became empty, or much smaller, without an explicit yes.
        """
        before = len(self.rows) + self.others
        lost = before - self.listed
        if before and not self.listed and not empty:
            raise self._refusal("source-empty", "lists no document any more", "--allow-empty")
        large = lost >= SHRINK_DOCUMENTS and lost > SHRINK_SHARE * before
        if large and self.listed and not shrink:
            raise self._refusal("source-shrunk", f"lists {lost} fewer documents", "--allow-shrink")

    def _refusal(self, kind: str, what: str, flag: str) -> ConflictError:
        return ConflictError(
            f"source {self.source.name} {what}; nothing was removed",
            kind=kind,
            subject=self.source.name,
            expected=f"most of its {len(self.rows) + self.others} documents at {self.source.root}",
            found=f"{self.listed} documents",
            remedy=f"check that it is mounted and complete; if they are really gone, pass {flag}",
        )
