"""A folder, an index over it, an embedder that remembers what it was asked, and what is stored.

What is stored is read with the standard library's `sqlite3`, so that a test does not believe the
code it tests.
"""

import hashlib
import json
import sqlite3
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import variorum
from variorum.embedding import HashingEmbedder
from variorum.records.layout import input_key
from variorum.records.protocols import ModelIdentity, Role, Tokenizer, Vectors
from variorum.records.reports import Report
from variorum.store.policies import Applied

SMALL = "anchored(max_tokens=40, min_tokens=10)"
"""A chunker whose chunks hold a paragraph or two."""

TENANT = "local"


class Recorder:
    """A hashing embedder that remembers every passage it was asked for, in order."""

    def __init__(self, dimensions: int = 64, max_tokens: int = 512) -> None:
        self.inner = HashingEmbedder(dimensions, max_tokens)
        self.passages: list[str] = []
        self.calls = 0

    @property
    def tokenizer(self) -> Tokenizer:
        return self.inner.tokenizer

    @property
    def max_tokens(self) -> int:
        return self.inner.max_tokens

    @property
    def identity(self) -> ModelIdentity:
        return self.inner.identity

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return self.inner.count(inputs, role)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        self.calls += 1
        if role == "passage":
            self.passages.extend(inputs)
        return self.inner.embed(inputs, role)

    def taken(self) -> list[str]:
        """The passages since the last time, which are then forgotten."""
        taken, self.passages = self.passages, []
        return taken


class Unreachable(Recorder):
    """A model that is down."""

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        raise AssertionError("the model was asked to count")

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        raise AssertionError("the model was asked to embed")


@dataclass
class Bench:
    """A folder `docs` of files under `home`, indexed by `index` with a recording embedder."""

    home: Path
    settings: str = f'[chunking]\nchunker = "{SMALL}"\n'
    embedder: Recorder = field(default_factory=Recorder)
    collections: str = ""

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.configure(self.settings)

    @property
    def root(self) -> Path:
        return self.home / "docs"

    @property
    def store(self) -> Path:
        return self.home / ".variorum"

    def configure(self, settings: str, collections: str = "") -> None:
        """Write variorum.toml anew: `settings`, the folder source, `collections`."""
        sources = '\n[sources.docs]\nroot = "docs"\n'
        extra = textwrap.dedent(collections or self.collections)
        (self.home / "variorum.toml").write_text(settings + sources + extra)

    def open(self, **named: object) -> variorum.Index:
        named.setdefault("embedder", self.embedder)
        return variorum.open(self.home, **named)  # type: ignore[arg-type]

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def remove(self, *names: str) -> None:
        for name in names:
            (self.root / name).unlink()

    def sync(self, **named: object) -> tuple[Report, list[str]]:
        """The report of a sync, and the passages it embedded."""
        self.embedder.taken()
        with self.open() as index:
            report = index.sync(**named)  # type: ignore[arg-type]
        return report, self.embedder.taken()

    def plan(self, **named: object) -> Report:
        with self.open() as index:
            report = index.plan(**named).report  # type: ignore[arg-type]
        self.embedder.taken()
        return report

    def found(self, query: str, **named: object) -> list[str]:
        """Documents of the hits of a query, best first."""
        with self.open() as index:
            answer = index.search(query, **named)  # type: ignore[arg-type]
        return [str(hit.document) for hit in answer.hits]

    def apply(self, policy: str, author: str = "Legal") -> Applied:
        """Apply a policy, in an index that has no model to ask."""
        (self.home / "variorum-policy.toml").write_text(policy, encoding="utf-8")
        with self.open(embedder=Unreachable()) as index:
            return index.access.apply(author=author)

    def stored(self, collection: str = "default", as_of: int | None = None) -> "Stored":
        return Stored.read(self.store, collection, as_of)

    def sql(self, query: str, *values: object) -> list[tuple[object, ...]]:
        return sql(self.store, query, *values)


def sql(store: Path, query: str, *values: object) -> list[tuple[object, ...]]:
    """Run one statement on the store's file, in a connection of its own."""
    connection = sqlite3.connect(store / "store.sqlite")
    try:
        rows = connection.execute(query, values).fetchall()
        connection.commit()
        return rows
    finally:
        connection.close()


@dataclass(frozen=True)
class StoredChunk:
    start: int
    end: int
    key: bytes
    tokens: int


@dataclass(frozen=True)
class StoredDocument:
    """One document as a generation holds it, with the row that says so."""

    row: int
    sha256: str
    content: bytes
    content_type: str
    metadata: str
    chunks: tuple[StoredChunk, ...]

    @property
    def text(self) -> str:
        return self.content.decode("utf-8-sig")

    @property
    def slices(self) -> list[str]:
        return [self.text[chunk.start : chunk.end] for chunk in self.chunks]

    @property
    def tokens(self) -> dict[bytes, int]:
        """Tokens of each distinct input."""
        return {chunk.key: chunk.tokens for chunk in self.chunks}


@dataclass(frozen=True)
class Stored:
    """What one generation holds: documents by printed name."""

    generation: int
    documents: Mapping[str, StoredDocument]

    @classmethod
    def read(
        cls, store: Path, collection: str, as_of: int | None, tenant: str = TENANT
    ) -> "Stored":
        connection = sqlite3.connect(store / "store.sqlite")
        try:
            return cls._read(connection, tenant, collection, as_of)
        finally:
            connection.close()

    @classmethod
    def _read(
        cls, connection: sqlite3.Connection, tenant: str, collection: str, as_of: int | None
    ) -> "Stored":
        found = connection.execute(
            "SELECT id, generation FROM collection JOIN head ON collection_id = id"
            " WHERE tenant = ? AND name = ?",
            (tenant, collection),
        ).fetchone()
        if found is None:
            return cls(0, {})
        number = found[1] if as_of is None else as_of
        rows = connection.execute(
            "SELECT m.id, d.source, d.path, r.sha256, r.content, l.content_type, m.metadata,"
            " m.layout_id FROM manifest m JOIN document d ON d.id = m.document_id"
            " JOIN revision r ON r.id = m.revision_id JOIN layout l ON l.id = m.layout_id"
            " WHERE m.collection_id = ? AND m.from_generation <= ?"
            " AND (m.to_generation IS NULL OR m.to_generation > ?)",
            (found[0], number, number),
        ).fetchall()
        documents = {
            f"{source}:{path.decode()}": StoredDocument(
                row, sha, zlib.decompress(content), kind, metadata, _chunks(connection, layout)
            )
            for row, source, path, sha, content, kind, metadata, layout in rows
        }
        assert len(documents) == len(rows), "a document is visible twice"
        return cls(number, documents)

    @property
    def tokens(self) -> dict[bytes, int]:
        """Tokens of each distinct input of the generation."""
        return {key: n for one in self.documents.values() for key, n in one.tokens.items()}

    @property
    def slices(self) -> dict[str, list[str]]:
        return {name: one.slices for name, one in self.documents.items()}

    def plain(self) -> dict[str, tuple[object, ...]]:
        """All that a reader can see of the generation: content, type, metadata, chunks."""
        return {
            name: (one.sha256, one.content, one.content_type, one.metadata, one.chunks)
            for name, one in self.documents.items()
        }


def _chunks(connection: sqlite3.Connection, layout: int) -> tuple[StoredChunk, ...]:
    rows = connection.execute(
        'SELECT c.start, c."end", i.key, i.tokens FROM chunk c JOIN input i ON i.id = c.input_id'
        " WHERE c.layout_id = ? ORDER BY c.ordinal",
        (layout,),
    )
    return tuple(StoredChunk(*row) for row in rows)


def key_of(embedder: Recorder, passage: str, tenant: str = TENANT) -> bytes:
    return input_key(tenant, embedder.identity.fingerprint, "passage", passage)


def promise(report: Report) -> dict[str, object]:
    """What a plan promises and a sync does (invariant 12)."""
    fields = report.as_fields()
    names = ("documents", "held", "inputs", "tokens", "recompute_fraction", "embedded_fraction")
    return {name: fields[name] for name in (*names, "skipped")}


def vectors_stored(store: Path) -> dict[bytes, bytes]:
    """The stored bytes of every vector, by input key."""
    found = sql(store, "SELECT key, data FROM vector JOIN input ON id = input_id")
    return {bytes(key): bytes(data) for key, data in found}  # type: ignore[call-overload]


def words(seed: str, count: int = 20) -> str:
    """`count` words that only this seed gives."""
    digest = hashlib.sha256(seed.encode()).hexdigest()
    return " ".join(f"{seed}{digest[n % 60 : n % 60 + 3]}{n}" for n in range(count)) + "."


def section(title: str, count: int = 20) -> str:
    """A heading and a paragraph that only this title gives."""
    return f"## {title}\n\n{words(title.lower().replace(' ', ''), count)}\n"


def document(*titles: str, count: int = 20) -> str:
    return "\n".join(section(title, count) for title in titles)


def rule(documents: str, *readers: str, **more: str) -> str:
    """A `[[rules]]` table of a policy; values of `more` are TOML."""
    lines = ["[[rules]]", f'documents = ["{documents}"]', f"readers = {json.dumps(readers)}"]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in more.items())]) + "\n"


def json_lines(lines: Sequence[Mapping[str, object]]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)
