"""What the sources still have of a store: names of documents, and bytes by their hash."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from variorum.records.errors import VariorumError
from variorum.records.protocols import Listed, Source
from variorum.records.repairs import Mended
from variorum.store.engine import write_transaction
from variorum.store.lexicon import within
from variorum.store.rewriting import (
    LostContent,
    lost_contents,
    mend_documents,
    put_content_back,
    twin_content,
    unsound_documents,
)

BY_HASH = "hash"
FROM_TWIN = "another tenant's copy"
FROM_SOURCE = "source"


@dataclass(slots=True)
class Refetching:
    """The sources of a store, listed only where they are needed; `reasons` say what kept them."""

    sources: Callable[[], Sequence[Source]]
    reasons: list[str] = field(default_factory=list)

    def documents(self, connection: Connection) -> list[Mended]:
        """Name damaged documents by what is listed, where their checksum proves it."""
        with within(connection):
            if not unsound_documents(connection):
                return []
        names = [(source.name, entry.path) for source, entry in self._entries()]
        with write_transaction(connection):
            return list(mend_documents(connection, names))

    def revisions(self, connection: Connection) -> Iterator[Mended]:
        """Write the bytes of damaged revisions again, each in a transaction of its own."""
        with within(connection):
            lost = lost_contents(connection)
        wanted = frozenset(one.sha256 for one in lost if one.content is None)
        found = self._contents(wanted) if wanted else {}
        for one in lost:
            with write_transaction(connection):
                made = _put_back(connection, one, found)
            yield from made

    def _contents(self, wanted: frozenset[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for source, entry in self._entries():
            if not wanted - found.keys():
                break
            content = self._read(source, entry)
            sha256 = hashlib.sha256(content).hexdigest()
            if sha256 in wanted:
                found[sha256] = content
        return found

    def _entries(self) -> Iterator[tuple[Source, Listed]]:
        try:
            sources = self.sources()
        except VariorumError as error:
            self.reasons.append(error.message)
            return
        for source in sources:
            try:
                for entry in source.list():
                    if isinstance(entry, Listed):
                        yield source, entry
            except VariorumError as error:
                self.reasons.append(error.message)

    def _read(self, source: Source, entry: Listed) -> bytes:
        try:
            return source.read(entry)
        except VariorumError as error:
            self.reasons.append(error.message)
            return b""


def _put_back(connection: Connection, lost: LostContent, found: dict[str, bytes]) -> list[Mended]:
    ways = (
        (BY_HASH, lost.content),
        (FROM_TWIN, twin_content(connection, lost.sha256)),
        (FROM_SOURCE, found.get(lost.sha256)),
    )
    for how, content in ways:
        if content is not None:
            return list(put_content_back(connection, lost, content, how))
    return []
