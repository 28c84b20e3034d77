"""Four indexes over the files of one folder, each used as its own documentation says.

Each brings an index up to date with the folder, and says what can be found in it by now. All have
the same embedder: it hashes words, takes its time, refuses a call that holds the poisoned word, and
notes each text that it answered.
"""

import hashlib
import os
import sqlite3
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from variorum.embedding.failures import BatchRefusedError
from variorum.embedding.hashing import HashingEmbedder
from variorum.records.errors import InputRejectedError
from variorum.records.protocols import Role, Vectors

DIMENSIONS = 64
POISON = "unembeddable"
LOG, SLOW_S = "BENCH_EMBEDDED", "BENCH_SLOW_S"

Ready = Callable[[], None]
"""Called when everything is loaded and the work begins."""

Visible = dict[str, list[str]]
"""The texts that each document can be found by, sorted."""


class RefusedError(Exception):
    """What a provider's answer 400 comes to."""


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Vectors of a call's texts, or none where one of them is refused."""
    time.sleep(float(os.environ.get(SLOW_S, "0")) * len(texts))
    if any(POISON in text for text in texts):
        raise RefusedError("400: the input is refused")
    vectors: list[list[float]] = HashingEmbedder(DIMENSIONS, 65_536).embed(list(texts)).tolist()
    if LOG in os.environ:
        lines = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}\n" for text in texts)
        with Path(os.environ[LOG]).open("ab", buffering=0) as log:
            log.write(lines.encode())
    return vectors


def grouped(pairs: Sequence[tuple[str, str]]) -> Visible:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for document, text in pairs:
        found[Path(document).name].append(text)
    return {name: sorted(texts) for name, texts in sorted(found.items())}


# Variorum


class _OurModel(HashingEmbedder):
    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if role == "passage":
            try:
                embed(inputs)
            except RefusedError as error:
                if len(inputs) == 1:
                    raise InputRejectedError(str(error), index=0) from error
                raise BatchRefusedError(
                    str(error), kind="batch-refused", subject="model"
                ) from error
        return super().embed(inputs, role)


def sync_variorum(folder: Path, ready: Ready) -> None:
    import variorum

    model = _OurModel(DIMENSIONS)
    with variorum.open(folder, store=folder / "index", embedder=model) as index:
        ready()
        report = index.sync(folder / "docs")
    if report.held:
        raise SystemExit(f"held: {[str(one.document) for one in report.held]}")


def visible_in_variorum(folder: Path) -> Visible:
    connection = sqlite3.connect(folder / "index" / "store.sqlite")
    rows = connection.execute(
        'SELECT d.path, r.content, c.start, c."end" FROM manifest m'
        " JOIN document d ON d.id = m.document_id JOIN revision r ON r.id = m.revision_id"
        " JOIN chunk c ON c.layout_id = m.layout_id WHERE m.to_generation IS NULL"
    )
    return grouped(
        [(path.decode(), zlib.decompress(text).decode()[a:b]) for path, text, a, b in rows]
    )


# LangChain: https://python.langchain.com/docs/how_to/indexing/


def _langchain(folder: Path) -> tuple[Any, Any]:
    from langchain_chroma import Chroma
    from langchain_classic.indexes import SQLRecordManager
    from langchain_core.embeddings import Embeddings

    class Model(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

        def embed_query(self, text: str) -> list[float]:
            return embed([text])[0]

    store = Chroma(
        collection_name="docs",
        embedding_function=Model(),
        persist_directory=str(folder / "index" / "chroma"),
    )
    records = SQLRecordManager(
        "chroma/docs", db_url=f"sqlite:///{folder / 'index' / 'records.sql'}"
    )
    records.create_schema()
    return store, records


def sync_langchain(folder: Path, ready: Ready) -> None:
    from langchain_community.document_loaders import DirectoryLoader, TextLoader
    from langchain_core.indexing import index
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    (folder / "index").mkdir(exist_ok=True)
    store, records = _langchain(folder)
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    loader = DirectoryLoader(
        str(folder / "docs"),
        glob="**/*.txt",
        loader_cls=TextLoader,
        loader_kwargs={"encoding": "utf-8"},
    )
    ready()
    chunks = splitter.split_documents(loader.load())
    index(chunks, records, store, cleanup="full", source_id_key="source", key_encoder="sha256")


def visible_in_langchain(folder: Path) -> Visible:
    store, _ = _langchain(folder)
    found = store.get(include=["documents", "metadatas"])
    sources = [one["source"] for one in found["metadatas"]]
    return grouped(list(zip(sources, found["documents"], strict=True)))


# LlamaIndex: https://developers.llamaindex.ai/python/examples/ingestion/


def _collection(folder: Path) -> Any:
    import chromadb

    client = chromadb.PersistentClient(str(folder / "index" / "chroma"))
    return client.get_or_create_collection("docs")


def sync_llamaindex(folder: Path, ready: Ready) -> None:
    from llama_index.core import SimpleDirectoryReader
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.storage.docstore import SimpleDocumentStore
    from llama_index.vector_stores.chroma import ChromaVectorStore

    class Model(BaseEmbedding):
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

        def _get_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0]

    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(), Model()],
        docstore=SimpleDocumentStore(),
        vector_store=ChromaVectorStore(chroma_collection=_collection(folder)),
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    )
    kept = str(folder / "index" / "pipeline")
    if Path(kept).exists():
        pipeline.load(kept)
    ready()
    documents = SimpleDirectoryReader(str(folder / "docs"), filename_as_id=True).load_data()
    pipeline.run(documents=documents)
    pipeline.persist(kept)


def visible_in_llamaindex(folder: Path) -> Visible:
    found = _collection(folder).get(include=["documents", "metadatas"])
    sources = [one["file_name"] for one in found["metadatas"]]
    return grouped(list(zip(sources, found["documents"], strict=True)))


# Steadlith, by its command

_STEADLITH = """
[embedding]
provider = "hash"
model = "steadlith-hash-256-v1"
dimensions = 64

[store]
cache = "index/cache.sqlite3"

[index]
backend = "sqlite"
database = "index/index.sqlite3"

[sources]
include = ["docs/**/*.txt"]
exclude = []
"""


def sync_steadlith(folder: Path, ready: Ready) -> None:
    from steadlith import cli
    from steadlith.embed.providers.hash import HashEmbeddingProvider
    from steadlith.errors import ProviderError

    def answer(_provider: object, texts: Sequence[str]) -> list[tuple[float, ...]]:
        try:
            return [tuple(vector) for vector in embed(texts)]
        except RefusedError as error:
            raise ProviderError(str(error)) from error

    HashEmbeddingProvider.embed = answer  # type: ignore[method-assign]
    file = folder / "steadlith.toml"
    file.write_text(_STEADLITH)
    ready()
    raise SystemExit(cli.main(["index", "--config", str(file), "--allow-delete"]))


def visible_in_steadlith(folder: Path) -> Visible:
    from steadlith.index.adapters import SQLiteIndex

    with SQLiteIndex(folder / "index" / "index.sqlite3", readonly=True) as index:
        return grouped([(one.document_id, one.text) for one in index.active_records()])


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the packages whose versions say which it was, and what to import before a run."""

    name: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    sync: Callable[[Path, Ready], None]
    visible: Callable[[Path], Visible]


TOOLS = {
    one.name: one
    for one in (
        Tool(
            "Variorum",
            ("variorum",),
            ("variorum.door.index", "variorum.sync.execution"),
            sync_variorum,
            visible_in_variorum,
        ),
        Tool(
            "LangChain index()",
            ("langchain-core", "langchain-classic", "langchain-chroma", "chromadb"),
            (
                "langchain_chroma",
                "langchain_classic.indexes",
                "langchain_community.document_loaders",
                "langchain_core.indexing",
                "langchain_text_splitters",
            ),
            sync_langchain,
            visible_in_langchain,
        ),
        Tool(
            "LlamaIndex pipeline",
            ("llama-index-core", "llama-index-vector-stores-chroma", "chromadb"),
            ("llama_index.core", "llama_index.vector_stores.chroma"),
            sync_llamaindex,
            visible_in_llamaindex,
        ),
        Tool(
            "Steadlith",
            ("steadlith",),
            ("steadlith.cli",),
            sync_steadlith,
            visible_in_steadlith,
        ),
    )
}
