"""What the studies of kills look at: answers, and the keys that have a vector."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import variorum
from variorum.embedding.hashing import HashingEmbedder
from variorum.records.protocols import Role, Vectors

QUERIES = ("request timeout 请求超时", "database 数据库", "access token 访问令牌")


class SlowEmbedder(HashingEmbedder):
    """The hashing embedder, taking as long for an input as a real model does."""

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if role == "passage":
            time.sleep(0.01 * len(inputs))
        return super().embed(inputs, role)


def answers(index: variorum.Index, as_of: int | None = None) -> list[list[str]]:
    return [
        [f"{hit.citation} {hit.score}" for hit in index.search(query, as_of=as_of).hits]
        for query in QUERIES
    ]


def keys(store: Path) -> set[bytes]:
    """The keys of every input that has a vector."""
    connection = sqlite3.connect(store)
    query = "SELECT input.key FROM input JOIN vector ON vector.input_id = input.id"
    found = {key for (key,) in connection.execute(query)}
    connection.close()
    return found
