"""What can be done about a finding that a repair leaves."""

from collections.abc import Sequence

from sqlalchemy import Connection

from variorum.records.names import DocumentName
from variorum.store.rewriting import holders, revision_name
from variorum.sync.verifying import Finding

_BACKUP = "restore the store from a backup, or sync into a new one with --store"
_UNSUMMED = "costs that are summed up leave it out; restore a backup to have all of them"
_OF_TABLES = {
    "held": "a `variorum sync` of every source writes it anew",
    "audit": "what is left of the log stands; restore a backup to have all of it",
    "cost": _UNSUMMED,
    "unpublished": _UNSUMMED,
}


def remedy_of(connection: Connection, finding: Finding, reasons: Sequence[str]) -> str:
    """What to do; `reasons` say why a source or a model did not help."""
    table = finding.subject.partition(" ")[0]
    why = f"; {reasons[-1]}" if reasons else ""
    if finding.kind == "revision":
        return _of_revision(connection, finding.subject) + why
    if table == "revision":
        identifier = int(finding.subject.removeprefix("revision id=").partition(" ")[0])
        return _of_revision(connection, revision_name(connection, identifier)) + why
    if finding.kind == "vector" or table == "vector":
        return f"repair again when the model that made it can be asked{why}"
    return _OF_TABLES.get(table, _BACKUP)


def _of_revision(connection: Connection, sha256: str) -> str:
    rows = holders(connection, sha256)
    if not rows:
        return _BACKUP
    names = ", ".join(sorted({str(DocumentName(source, path)) for source, path, _, _ in rows}))
    back = f"put {names} back as it was and repair again, or restore a backup"
    ends = [end for _, _, _, end in rows if end is not None]
    if len(ends) == len(rows):
        return f"{back}; `variorum prune` takes it out once generation {max(ends)} is the oldest"
    return f"{back}; or change it and sync: then only its history is damaged, until it is pruned"
