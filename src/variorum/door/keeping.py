"""Keeping a store: retention, erasure, copies, checks and costs."""

from pathlib import Path
from random import Random
from typing import cast

from variorum.door import money
from variorum.door.choosing import Sources
from variorum.door.doctor import Check, examine
from variorum.door.moving import export_collection, import_collection
from variorum.door.naming import named_document
from variorum.door.opened import Opened
from variorum.door.repairing import embedder_of, sources_of
from variorum.door.telling import telling_damage
from variorum.ledger.alerts import Alert
from variorum.ledger.measures import By
from variorum.ledger.report import CostReport
from variorum.records.arguments import (
    bad_parameter,
    callback,
    place,
    price,
    switches,
    whole,
)
from variorum.records.moving import BackedUp, Moved
from variorum.records.names import DocumentName
from variorum.records.protocols import Progress
from variorum.records.repairs import Repaired
from variorum.records.retention import Collected, Erased, Pruned
from variorum.store.backup import back_up
from variorum.store.vectors import Precision
from variorum.sync import retaining
from variorum.sync.repairing import Means, repair
from variorum.sync.sampling import Sample
from variorum.sync.target import no_progress
from variorum.sync.verifying import Finding, verify


class Keeping(Opened):
    """What an owner does with a store beside syncing."""

    @telling_damage
    def prune(
        self, *, keep: int | None = None, keep_within: str | None = None, dry_run: bool = False
    ) -> Pruned:
        """Remove the generations before the newest `keep`, or those replaced before `keep_within`.

        An age is such as "90d", "12h" or "4w"; where both are given, what either keeps is kept.
        What a kept generation, another collection or a running sync needs stays, and so do the
        log's lines and the ledger. Then the file is rebuilt: linear in the store, and needs as
        much free space. A dry run counts the same, and writes nothing.

        Raises:
            InputError: neither is given, or one is not sound.
            DeniedError: the principal is not the owner.
            NotFoundError: nothing was published yet.
        """
        self.principal.require_owner("prune")
        count = None if keep is None else whole("keep", keep, 1)
        within = None if keep_within is None else retaining.age("keep_within", keep_within)
        if count is None and within is None:
            raise bad_parameter("keep", "given, or keep_within", None)
        switches(dry_run=dry_run)
        mine = self._snapshot().collection_id
        return retaining.prune(self._store, mine, count, within, dry_run=dry_run, clock=self.clock)

    @telling_damage
    def gc(self, *, older_than: str = "30d", dry_run: bool = False) -> Collected:
        """Remove the vectors that no chunk of any kept generation holds, in the whole store.

        They come of runs that broke off and of the windows of the semantic chunker. `older_than`
        is an age as of `prune`: those alone that are known to be as old. What a running sync is at
        stays.

        Raises:
            InputError: not an age.
            DeniedError: the principal is not the owner.
            NotFoundError: nothing was published yet.
        """
        self.principal.require_owner("collect garbage")
        least = retaining.age("older_than", older_than)
        switches(dry_run=dry_run)
        mine = self._snapshot().collection_id
        return retaining.gc(self._store, mine, least, dry_run=dry_run, clock=self.clock)

    @telling_damage
    def erase(self, document: str | DocumentName) -> Erased:
        """Remove a document from every generation, the log and the ledger, and keep it out.

        No new generation is published: the kept ones go on without it. What another document
        shares with it stays. The deleted bytes are overwritten, the file rebuilt and its log
        emptied; then the files are searched for strings of what went. Interrupted, it can be run
        again. Linear in the store.

        Raises:
            InputError: not a document's name.
            DeniedError: the principal is not the owner.
            NotFoundError: no kept generation holds it.
            BusyError: a sync is embedding.
            UnavailableError: the disk, or a reader, kept its bytes from going.
        """
        self.principal.require_owner("erase")
        name = named_document(document, "document")
        mine = self._snapshot().collection_id
        return retaining.erase(self._store, mine, name, self.clock)

    @telling_damage
    def lift(self, document: str | DocumentName) -> None:
        """Let an erased document be synced again.

        Raises:
            InputError: not a document's name.
            DeniedError: the principal is not the owner.
            NotFoundError: it was not erased.
        """
        self.principal.require_owner("lift an erasure")
        name = named_document(document, "document")
        retaining.lift(self._store, self._snapshot().collection_id, name)

    @telling_damage
    def export(self, file: str | Path) -> Moved:
        """Write the collection, with its history, into a new checksummed file.

        As it stands at one moment; writers go on meanwhile. Linear in the collection.

        Raises:
            DeniedError: the principal is not the owner.
            ConflictError: there is a file already.
            NotFoundError: nothing was published yet.
            UnavailableError: the file cannot be written.
        """
        self.principal.require_owner("export")
        path = Path(place("file", file))
        snapshot = self._snapshot()
        tenant, name = self.collection.tenant, self.collection.name
        return export_collection(self._store, tenant, name, snapshot, path)

    @telling_damage
    def import_(self, file: str | Path) -> Moved:
        """Take an exported collection in, in one transaction; it must not be published here yet.

        The file is checked as a whole first. Linear in it.

        Raises:
            DeniedError: the principal is not the owner.
            ConflictError: the collection has a generation.
            InputError: the file is no export, or one of another tenant.
            NotFoundError: there is no such file.
            UnsupportedError: a newer version wrote it.
            DamagedError: it is not as it was written.
        """
        self.principal.require_owner("import")
        path = Path(place("file", file))
        return import_collection(self._store, self.collection.tenant, self.collection.name, path)

    @telling_damage
    def backup(self, file: str | Path) -> BackedUp:
        """Copy the whole store into a new file while it is in use, and check the copy.

        Linear in the store.

        Raises:
            DeniedError: the principal is not the owner.
            ConflictError: there is a file already.
            NotFoundError: there is no store.
            UnavailableError: the file cannot be written.
        """
        self.principal.require_owner("back up the store")
        path = Path(place("file", file))
        self._store.require()
        return back_up(self._store, path)

    @telling_damage
    def verify(self, progress: Progress = no_progress, *, sample: int = 0) -> list[Finding]:
        """Check every stored promise; an empty list means that all hold.

        Of a `sample` of the newest generation's model's inputs, chosen at random, the vectors are
        made again and compared with the stored ones: it costs as many inputs.

        Raises:
            DeniedError: the principal is not the owner.
            InputError: `progress` is no function, or the sample no count.
            NotFoundError: there is no store; or a sample is asked for and nothing was published.
            UnavailableError: the model that is to embed the sample cannot answer.
        """
        self.principal.require_owner("verify the store")
        callback("progress", progress)
        inputs = whole("sample", sample, 0)
        self._store.require()
        chosen = None
        if inputs:
            newest = self._store.snapshot(self.collection.tenant, self.collection.name).generation
            chosen = Sample(inputs, self._embedder_of(newest), Random())
        return verify(self._store, progress, chosen)

    @telling_damage
    def repair(self, *, dry_run: bool = False, progress: Progress = no_progress) -> Repaired:
        """Write again what is damaged and can be proven, in the whole store; say what is left.

        Bytes come from the sources where these still have them, vectors from the model, all else
        from what stands in the store. Nothing is written that its hash or its checksum does not
        prove. Interrupted, it can be run again. A dry run writes nothing, and asks no model.
        Linear in the store.

        Raises:
            DeniedError: the principal is not the owner.
            InputError: an argument is not sound.
            NotFoundError: there is no store.
            UnavailableError: the store may not be written.
            BusyError: another process kept the write lock.
            DamagedError: the file cannot be opened as a store at all.
        """
        self.principal.require_owner("repair the store")
        callback("progress", progress)
        switches(dry_run=dry_run)
        self._store.require()
        means = Means(
            sources=lambda: sources_of(Sources(self.config, self.collection, self._store)),
            embedder_of=lambda fingerprint: embedder_of(
                self._store, fingerprint, lambda: self.embedder, self._load
            ),
            precision=cast(Precision, self.config.precision),
            clock=self.clock,
        )
        try:
            return repair(self._store, means, dry_run=dry_run, progress=progress)
        finally:
            self.close()  # What was read before may be what is mended now.

    @telling_damage
    def cost(
        self, by: By | None = None, *, usd_per_million_tokens: float | None = None
    ) -> CostReport:
        """What every publish so far cost, also by document, source, day or generation.

        Linear in the publishes' documents. The price is the configured one by default.

        Raises:
            DeniedError: the principal is not the owner.
            InputError: the price is none, or `by` is no way to group.
            NotFoundError: nothing was published yet.
        """
        self.principal.require_owner("see what it costs")
        given = usd_per_million_tokens
        usd = self.usd_per_million_tokens if given is None else price("price", given)
        lines = self.config.thresholds
        return money.cost(self._store, self._snapshot(), self.clock(), by, lines, usd)

    @telling_damage
    def alerts(self) -> list[Alert]:
        """Where updates cost far more than their edits; empty where they do not.

        Raises:
            DeniedError: the principal is not the owner.
            NotFoundError: nothing was published yet.
        """
        self.principal.require_owner("see what it costs")
        lines = self.config.thresholds
        return money.alerts(self._store, self._snapshot(), self.clock(), lines)

    def doctor(self) -> list[Check]:
        """What is missing or wrong on this machine for this index.

        Raises:
            DeniedError: the principal is not the owner.
        """
        self.principal.require_owner("examine the machine")
        return examine(self.config, [(self.collection, lambda: self.embedder)])
