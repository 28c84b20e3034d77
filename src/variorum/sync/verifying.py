"""Checking every promise of a store: ranges, hashes, vectors, pointers."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from variorum.formats import decode
from variorum.records.errors import VariorumError
from variorum.records.protocols import Progress
from variorum.records.text import Revision, Text
from variorum.store.ann_audit import ann_problems
from variorum.store.audit import Audit, StoredLayout
from variorum.store.chain import chain_problems
from variorum.store.derived import derivation_problems
from variorum.store.engine import means_damage
from variorum.store.policy_chain import policy_problems
from variorum.store.store import Store
from variorum.store.vectors import unpack
from variorum.sync.sampling import Sample, sample_problems
from variorum.sync.slices import key_of, output_problems, section_problems
from variorum.sync.verifying_terms import term_problems

NORM_TOLERANCE = 2e-3
"""How far from 1 the length of a stored vector may be: float16 loses as much."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken promise: its kind, the row it is about, and what was found."""

    kind: str
    subject: str
    found: str

    def as_fields(self) -> dict[str, object]:
        """The finding as JSON fields."""
        return {"kind": self.kind, "subject": self.subject, "found": self.found}


def verify(store: Store, progress: Progress, sample: Sample | None = None) -> list[Finding]:
    """Every finding about the store; linear in it. Reads only.

    Of a `sample`, the inputs are embedded again and compared with what is stored.

    Raises:
        DamagedError: the file cannot be opened at all.
        BusyError: another process keeps it from being read.
        UnavailableError: the model that is to embed a sample cannot answer.
    """
    with store.connection() as connection:
        findings = findings_of(connection, store, progress)
        if sample is not None:
            check = (Finding("vector", *one) for one in sample_problems(connection, sample))
            _collect(store, "sample", check, findings)
    return findings


def findings_of(connection: Connection, store: Store, progress: Progress) -> list[Finding]:
    """As `verify`, on a connection, within the transaction that it is in."""
    findings: list[Finding] = []
    audit = Audit(connection)
    checks: list[tuple[str, Iterator[Finding]]] = [
        ("file", (Finding("file", *problem) for problem in audit.file_problems())),
        ("rows", (Finding("row", *problem) for problem in audit.row_problems())),
        ("pointers", (Finding("pointer", *one) for one in chain_problems(connection))),
        ("policies", (Finding("policy", *one) for one in policy_problems(connection))),
        ("layouts", _layout_findings(audit, progress)),
        ("vectors", _vector_findings(audit, progress)),
        ("terms", (Finding(*one) for one in term_problems(connection))),
        ("derived", (Finding("derived", *one) for one in derivation_problems(connection))),
        ("indexes", (Finding("ann", *one) for one in ann_problems(connection, store.folder))),
    ]
    for name, check in checks:
        _collect(store, name, check, findings)
    return findings


def _collect(store: Store, name: str, check: Iterator[Finding], findings: list[Finding]) -> None:
    """Run one check; where damage breaks it off, that is a finding, and the next one runs."""
    try:
        findings.extend(check)
    except Exception as error:
        if not means_damage(error, store.path) and not findings:
            raise
        found = f"cannot be checked: {getattr(error, 'orig', None) or error}"
        findings.append(Finding("file", f"store, {name}", found))


def _layout_findings(audit: Audit, progress: Progress) -> Iterator[Finding]:
    total = audit.count_layouts()
    for done, layout in enumerate(audit.layouts(), start=1):
        progress("verify revisions", done, total)
        yield from _check_layout(audit, layout)


def _check_layout(audit: Audit, layout: StoredLayout) -> Iterator[Finding]:
    revision = Revision(layout.content, layout.content_type)
    if len(layout.content) != layout.size_bytes:
        found = f"{len(layout.content)} bytes, not the {layout.size_bytes} that it says"
        yield Finding("revision", layout.sha256, found)
    if revision.sha256 != layout.sha256:
        yield Finding("revision", layout.sha256, f"bytes hash to {revision.sha256}")
        return
    try:
        text = decode(revision)
    except VariorumError as error:
        yield Finding("revision", layout.sha256, error.message)
        return
    previous_end = 0
    for place, chunk in enumerate(layout.chunks):
        subject = f"{layout.sha256[:16]}[{chunk.start}:{chunk.end}]"
        if chunk.ordinal != place:
            found = f"ordinal {chunk.ordinal} where {place} was due: a chunk is missing"
            yield Finding("range", subject, found)
        if not previous_end <= chunk.end <= len(text.characters) or chunk.start >= chunk.end:
            yield Finding("range", subject, "the range is out of order or out of the text")
        elif key_of(layout, chunk, text) != chunk.key:
            yield Finding("input", subject, "the slice does not hash to its input's key")
        previous_end = chunk.end
    if gap := _uncovered(layout, text):
        yield Finding("coverage", layout.sha256, f"no chunk holds {gap!r}")
    yield from (Finding("sections", *one) for one in section_problems(layout, text))
    outputs = output_problems(layout, text, audit.outputs(layout.id))
    yield from (Finding("derived", *one) for one in outputs)


def _uncovered(layout: StoredLayout, text: Text) -> str:
    position = 0
    for chunk in layout.chunks:
        if gap := text.characters[position : chunk.start].strip():
            return gap[:40]
        position = max(position, chunk.end)
    return text.characters[position:].strip()[:40]


def _vector_findings(audit: Audit, progress: Progress) -> Iterator[Finding]:
    for identifier in audit.inputs_without_vector():
        yield Finding("vector", f"input {identifier}", "published without a vector")
    total = audit.count_vectors()
    for done, (identifier, data, dimensions) in enumerate(audit.vectors(), start=1):
        progress("verify vectors", done, total)
        try:
            values = unpack(data, dimensions)
        except VariorumError as error:
            yield Finding("vector", f"input {identifier}", error.found)
            continue
        norm = float(np.linalg.norm(values.astype(np.float64)))
        if not abs(norm - 1.0) <= NORM_TOLERANCE:
            yield Finding("vector", f"input {identifier}", f"length {norm}, not 1")
