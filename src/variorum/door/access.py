"""The owner's side of access: apply a policy, ask what it comes to, and read the logs."""

import getpass
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from variorum.access.grants import Grant
from variorum.access.policy import parse_policy
from variorum.access.principals import Principal, acting_as
from variorum.access.standing import Standing
from variorum.door.access_answers import DocumentAccess, Readable, SectionAccess, Verdict, reasons
from variorum.door.config import CollectionConfig
from variorum.door.naming import named_document
from variorum.door.telling import telling_damage
from variorum.records.errors import InputError, NotFoundError, UnavailableError
from variorum.records.names import DocumentName
from variorum.retrieval.asking import Asked, asked_at
from variorum.store.granting import apply_to_all
from variorum.store.policies import Applied, PolicyRow, grant_of, policy_rows, readers_of
from variorum.store.publish import register_collection
from variorum.store.reading_log import AuditEntry, readings
from variorum.store.store import Store
from variorum.store.view import View
from variorum.store.views import Views


@dataclass(frozen=True, slots=True)
class Access:
    """The policy of one collection, as its owner handles it."""

    _store: Store
    _views: Views
    collection: CollectionConfig
    clock: Callable[[], datetime]

    @telling_damage
    def apply(self, file: str | Path | None = None, *, author: str | None = None) -> Applied:
        """Make a policy file the collection's policy: at once, for every generation.

        Nothing is synced or embedded. `file` is the configured one by default, `author` whoever
        runs the process. Linear in the documents that the collection ever held.

        Raises:
            InputError: the file is no policy, or the author has no name.
            NotFoundError: there is no such file.
            BusyError: another process kept the write lock.
        """
        policy = parse_policy(_read(Path(file) if file else self.collection.policy))
        named = getpass.getuser() if author is None else author.strip()
        if not named:
            raise InputError(
                "the author has no name",
                kind="bad-parameter",
                subject="author",
                expected="who sets the policy",
                found=repr(author),
                remedy="name somebody with --author",
            )
        applied_at = self.clock().isoformat(timespec="milliseconds")
        with self._store.connection(create=True) as connection:
            tenant, name = self.collection.tenant, self.collection.name
            collection_id = register_collection(connection, tenant, name)
            return apply_to_all(connection, collection_id, policy, named, applied_at)

    @telling_damage
    def check(
        self,
        principal: str | Principal,
        document: str | DocumentName,
        *,
        effective: date | str | None = None,
    ) -> Verdict:
        """Whether a principal may read a document, and why.

        Raises:
            InputError: no principal, no document's name, or no date.
            NotFoundError: the collection never held the document.
        """
        name = named_document(document, "document")
        who, asked = self._principal(principal), self._asked(effective)
        view = self._view(who, asked)
        found = self.who(name)
        identifier = view.document_id(name)
        row = next((one for one in view.documents.values() if one.document == name), None)
        passes = row is not None or (
            not found.is_published and view.decision.passes_document(identifier)
        )
        kept_back = tuple(
            one.heading for one in found.sections if not one.open_to(view.decision.filter)
        )
        why = reasons(found, view.decision.filter, passes=passes)
        return Verdict(str(who), name, passes, why, asked.effective, kept_back if passes else ())

    @telling_damage
    def who(self, document: str | DocumentName) -> DocumentAccess:
        """Who may read a document, when, and by which rules.

        Raises:
            InputError: not a document's name.
            NotFoundError: the collection never held the document.
        """
        name = named_document(document, "document")
        view = self._view(None, Asked(None, 0))
        identifier = view.document_id(name)
        row = next((one for one in view.documents.values() if one.document == name), None)
        with self._store.reading() as connection:
            grant = grant_of(connection, identifier)
            narrowed_to = readers_of(connection, view.narrowed_to(identifier))
        standing = Standing(grant.authority, grant.interval) if grant else Standing()
        if row is not None:
            standing = view.standings([row])[row.id]
        return DocumentAccess(
            document=name,
            has_policy=bool(view.decision.filter.policy_version),
            is_published=row is not None,
            readers=_sorted(grant.readers) if grant else None,
            narrowed_to=None if narrowed_to is None else _sorted(narrowed_to),
            standing=standing,
            rules=grant.rules if grant else (),
            sections=_sections(grant),
            now_us=self._asked(None).now_us,
        )

    @telling_damage
    def what(
        self,
        principal: str | Principal,
        *,
        as_of: int | None = None,
        effective: date | str | None = None,
    ) -> Readable:
        """Which documents of a generation a principal may read, wholly or in part.

        Raises:
            InputError: no principal, or no date.
            NotFoundError: the collection was never published, or not that generation.
        """
        who, asked = self._principal(principal), self._asked(effective)
        view = self._view(who, asked, as_of)
        parts = {row: bool(spans) for row, spans in view.kept_back.items()}
        documents = sorted(
            (row.document, identifier in parts) for identifier, row in view.documents.items()
        )
        return Readable(str(who), view.generation.number, asked.effective, tuple(documents))

    @telling_damage
    def log(self) -> list[PolicyRow]:
        """Every policy that was applied, oldest first."""
        with self._store.reading() as connection:
            return policy_rows(connection, self._collection_id())

    @telling_damage
    def readings(self) -> list[AuditEntry]:
        """Every reading that was logged, oldest first."""
        with self._store.reading() as connection:
            return readings(connection, self._collection_id())

    def _collection_id(self) -> int:
        return self._store.head(self.collection.tenant, self.collection.name)[0] or 0

    def _principal(self, principal: str | Principal) -> Principal:
        if isinstance(principal, Principal):
            return principal
        return acting_as(self.collection.tenant, principal)

    def _asked(self, effective: date | str | None) -> Asked:
        state = self._store.state(self.collection.tenant, self.collection.name)
        policy = self._views.policy(state)
        return asked_at(effective, self.clock(), policy.zone if policy else UTC)

    def _view(self, principal: Principal | None, asked: Asked, as_of: int | None = None) -> View:
        tenant, name = self.collection.tenant, self.collection.name
        self._store.require()
        return self._views.view(tenant, name, principal, asked.at_us, as_of)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no policy at {file}",
            kind="no-policy-file",
            subject=str(file),
            expected="a policy file",
            found="nothing",
            remedy="write one as docs/access.md shows, or name another file",
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file} is not UTF-8",
            kind="bad-policy",
            subject=str(file),
            expected="TOML in UTF-8",
            found=str(error),
            remedy="save the file as UTF-8",
        ) from error
    except OSError as error:
        raise UnavailableError(
            f"{file} cannot be read",
            kind="policy-not-readable",
            subject=str(file),
            expected="a file that this user may read",
            found=error.strerror or str(error),
            remedy="check its permissions",
        ) from error


def _sorted(readers: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(readers))


def _sections(grant: Grant | None) -> tuple[SectionAccess, ...]:
    return tuple(SectionAccess.of(one) for one in (grant.sections if grant else ()))
