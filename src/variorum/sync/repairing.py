"""Repairing a store: what can be proven to be what was written is written again, nothing else.

Every step is a transaction of its own, or several, and finds for itself what is left to do: a
repair that broke off is run again.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from variorum.analysis import ANALYZER
from variorum.records.errors import VariorumError
from variorum.records.protocols import Progress, Source
from variorum.records.repairs import Left, Mended, Repaired
from variorum.store.ann_audit import ann_problems
from variorum.store.engine import means_damage, rehearsal, write_transaction
from variorum.store.lexicon import forget_all_terms, is_ready, within
from variorum.store.mending import mend_rows
from variorum.store.rewriting import (
    MADE_BY_A_SYNC,
    drop_cached,
    drop_leases,
    drop_outputs,
    mend_heads,
    remake_indexes,
    vector_name,
)
from variorum.store.schema import indexed, layout, lexicon, posting
from variorum.store.seals import unsound_rows
from variorum.store.store import Store
from variorum.store.vectors import Precision
from variorum.sync.execution import Clock
from variorum.sync.reembedding import Reembedding
from variorum.sync.refetching import Refetching
from variorum.sync.remaking import EmbedderOf, is_whole, readable, remade
from variorum.sync.remedies import remedy_of
from variorum.sync.target import no_progress
from variorum.sync.terming import index_left, make_ready
from variorum.sync.verifying import Finding, findings_of
from variorum.sync.verifying_terms import term_problems


@dataclass(frozen=True, slots=True)
class Means:
    """What a repair may turn to. `sources` and `embedder_of` are asked only where they are needed:
    for names and bytes of documents, and for vectors and token counts.
    """

    sources: Callable[[], Sequence[Source]]
    embedder_of: EmbedderOf
    precision: Precision
    clock: Clock


def repair(
    store: Store, means: Means, *, dry_run: bool, progress: Progress = no_progress
) -> Repaired:
    """Write again what is proven, and say what is left.

    A dry run does the same in one transaction that is taken back, and asks no model for vectors.

    Raises:
        DamagedError: the file cannot be opened at all.
        UnavailableError: it may not be written.
        BusyError: another process kept the write lock.
    """
    with store.connection(create=True) as connection:
        with connection.begin():
            before = findings_of(connection, store, progress)
        if not before:
            return Repaired(dry_run, 0)
        run = _Repair(
            connection,
            store,
            means,
            progress,
            Refetching(means.sources),
            Reembedding(store, means.embedder_of, means.precision, dry_run),
        )
        if not dry_run:
            return run.report(len(before))
        with rehearsal(connection):
            return run.report(len(before))


@dataclass(slots=True)
class _Repair:
    """One repair, and what it came to so far."""

    connection: Connection
    store: Store
    means: Means
    progress: Progress
    sources: Refetching
    models: Reembedding
    mended: dict[str, Mended] = field(default_factory=dict)

    def report(self, findings: int) -> Repaired:
        """Take every step, then look at all again."""
        steps: tuple[Callable[[], Iterable[Mended]], ...] = (
            self._rows,
            lambda: self.sources.documents(self.connection),
            lambda: self.sources.revisions(self.connection),
            self._layouts,
            lambda: self.models.vectors(self.connection),
            self._terms,
            self._indexes,
        )
        for step in steps:
            with self._going_on():
                for one in step():
                    self.mended.setdefault(one.subject, one)
        return Repaired(
            self.models.dry_run,
            findings,
            tuple(self.mended.values()),
            tuple(self._left()),
            self.models.inputs,
            self.models.tokens,
        )

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """What damage breaks off leaves the next step its turn. That there is some is known, and a
        row may hold anything: an error without a meaning of its own is taken for its work.
        """
        try:
            yield
        except (VariorumError, DBAPIError, sqlite3.Error, OSError) as error:
            if not means_damage(error, self.store.path):
                raise
        except Exception:
            return

    def _left(self) -> Iterator[Left]:
        reasons = [*self.sources.reasons, *self.models.reasons]
        with within(self.connection):
            for one in findings_of(self.connection, self.store, self.progress):
                if not self._would_be_mended(one):
                    remedy = remedy_of(self.connection, one, reasons)
                    yield Left(one.kind, one.subject, one.found, remedy)

    def _indexes(self) -> Iterator[Mended]:
        """Drop approximate indexes that are not what the vectors make of them."""
        with within(self.connection):
            names = [name for name, _ in ann_problems(self.connection, self.store.folder)]
        for name in names:
            if not self.models.dry_run:
                (self.store.folder / name).unlink(missing_ok=True)
            yield Mended(name, MADE_BY_A_SYNC)

    def _would_be_mended(self, one: Finding) -> bool:
        """Whether a dry run would have mended what it is about by embedding or deleting a file."""
        subject = one.subject
        if one.kind == "vector":
            subject = vector_name(int(subject.removeprefix("input ")))
        return self.models.dry_run and subject in self.mended

    def _rows(self) -> list[Mended]:
        """What a row's own checksum proves, what follows from another row, and what lapses."""
        with write_transaction(self.connection):
            return [
                *remake_indexes(self.connection),
                *mend_rows(self.connection),
                *mend_heads(self.connection),
                *drop_leases(self.connection),
                *drop_outputs(self.connection, self.means.clock()),
                *drop_cached(self.connection, self.means.clock()),
            ]

    def _layouts(self) -> Iterator[Mended]:
        with within(self.connection):
            layouts = self.connection.execute(select(layout.c.id)).scalars().all()
        for done, identifier in enumerate(layouts, start=1):
            self.progress("repair layouts", done, len(layouts))
            with self._going_on():
                yield from self._layout(identifier)

    def _layout(self, identifier: int) -> list[Mended]:
        with within(self.connection):
            found = readable(self.connection, identifier)
            if found is None or is_whole(self.connection, *found):
                return []
        with write_transaction(self.connection):
            now = readable(self.connection, identifier)
            return [] if now is None else list(remade(self.connection, *now, self.models.model))

    def _terms(self) -> list[Mended]:
        """Terms of texts that can be read again; every one anew where a list is damaged."""
        with within(self.connection):
            terms = (lexicon, indexed, posting)
            is_damaged = any(name for one in terms for name in unsound_rows(self.connection, one))
            is_complete = not is_damaged and is_ready(self.connection, ANALYZER)
        if is_complete:
            index_left(self.connection)
            with within(self.connection):
                is_damaged = next(term_problems(self.connection), None) is not None
        if not is_damaged:
            return []
        with write_transaction(self.connection):
            forget_all_terms(self.connection, ANALYZER)
        make_ready(self.connection, self.progress)
        return [Mended("terms", "made again from the texts")]
