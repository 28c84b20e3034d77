"""The first search after an edit reads what the edit changed, and answers as a new reader would."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from bench.effort import Effort, measured_effort
from hypothesis import given, settings
from hypothesis import strategies as st

import variorum
from variorum.embedding.hashing import HashingEmbedder
from variorum.store.snapshot import Snapshot
from variorum.store.store import Store
from workbench import Bench, document

SIZES = (60, 600)
WORDS = ("index", "query", "vector", "chunk", "layout", "store", "索引", "查询", "修订")


def page(number: int) -> str:
    random = Random(number)
    paragraphs = (" ".join(random.choices(WORDS, k=90)) + "." for _ in range(6))
    return f"# Page {number}\n\n" + "\n\n".join(paragraphs) + "\n"


def effort_of_a_search(folder: Path, documents: int) -> tuple[Effort, int]:
    """What the first search after an edit asks of the store, and how many chunks there are."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    for number in range(documents):
        (docs / f"{number:04d}.md").write_text(page(number), encoding="utf-8")
    with variorum.open(folder, embedder=HashingEmbedder(32)) as index:
        index.sync(docs)
        index.search("query", 3)
        (docs / "0007.md").write_text(page(7) + "\nOne more line.\n", encoding="utf-8")
        index.sync(docs)
        with measured_effort(index.store.engine()) as effort:
            index.search("one more line", 3)
        return effort, int(index.view().places.input_ids.size)


def steps(effort: Effort, *parts: str) -> int:
    return sum(
        count
        for statement, count in effort.steps.items()
        if all(part in statement for part in parts)
    )


@pytest.fixture(scope="module")
def efforts(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Effort, int]]:
    folder = tmp_path_factory.mktemp("corpora")
    return [effort_of_a_search(folder / str(size), size) for size in SIZES]


def test_it_runs_the_same_statements_at_any_size(efforts: Sequence[tuple[Effort, int]]) -> None:
    (small, few), (large, many) = efforts
    assert many > 5 * few
    assert small.statements == large.statements


def test_chunks_vectors_and_documents_are_read_as_the_edit_is_large(
    efforts: Sequence[tuple[Effort, int]],
) -> None:
    (small, _), (large, _) = efforts
    for parts in (
        ("FROM manifest JOIN chunk",),
        ("FROM vector",),
        ("JOIN document", "JOIN layout"),
    ):
        assert 0 < steps(large, *parts) == steps(small, *parts)


def test_of_what_stayed_two_numbers_a_document_are_read(
    efforts: Sequence[tuple[Effort, int]],
) -> None:
    (small, _), (large, _) = efforts
    scan = "SELECT manifest.id, manifest.from_generation"
    grown = steps(large, scan) - steps(small, scan)
    assert 0 < grown <= 16 * (SIZES[1] - SIZES[0])
    assert sum(large.steps.values()) - sum(small.steps.values()) == grown


# Whatever was read before, a generation is the same


def held(pinned: Snapshot) -> tuple[Any, ...]:
    rows = {one.id: one for one in pinned.documents.values()}
    return rows, tuple(column.tolist() for column in pinned.places.columns)


NAMES = ("a.md", "b.md", "c.md", "d.md")
writes = st.tuples(st.just("write"), st.sampled_from(NAMES), st.integers(0, 3))
removals = st.tuples(st.just("remove"), st.sampled_from(NAMES), st.just(0))
restores = st.tuples(st.just("restore"), st.just(""), st.integers(1, 9))
reads = st.tuples(st.just("read"), st.sampled_from(("documents", "places")), st.integers(1, 9))
models = st.tuples(st.just("model"), st.just(""), st.sampled_from((64, 32)))
happenings = st.lists(writes | removals | restores | reads | models, min_size=1, max_size=8)


@settings(max_examples=7)
@given(happenings)
def test_it_is_what_a_new_reader_reads(
    tmp_path_factory: pytest.TempPathFactory, happenings: list[tuple[str, str, int]]
) -> None:
    bench = Bench(tmp_path_factory.mktemp("bench"))
    bench.write({name: document(name, "Shared") for name in NAMES})
    bench.sync()
    live = Store(bench.store)
    for kind, name, number in happenings:
        happen(bench, live, kind, name, number)
        for generation in (None, 1):
            new = Store(bench.store)
            mine = live.snapshot("local", "default", generation)
            assert held(mine) == held(new.snapshot("local", "default", generation))
            new.close()
    live.close()


def happen(bench: Bench, live: Store, kind: str, name: str, number: int) -> None:
    newest = live.head("local", "default")[1] or 1
    match kind:
        case "write":
            bench.write({name: document(*("Shared", "Two", "Three", name)[: number + 1])})
            bench.sync(release=True)
        case "remove":
            bench.remove(name) if (bench.root / name).exists() else None
            bench.sync(release=True, allow_shrink=True, allow_empty=True)
        case "restore":
            with bench.open() as index:
                index.restore(min(number, newest))
        case "read":
            getattr(live.snapshot("local", "default", min(number, newest)), name)
        case "model":
            with bench.open(embedder=HashingEmbedder(number)) as index:
                index.sync(release=True)


def test_rows_whose_ids_are_given_again_are_read_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({name: document(name) for name in NAMES})
    bench.sync()
    live = Store(bench.store)
    before = live.snapshot("local", "default")
    assert before.places.input_ids.size
    gone = max(before.documents)
    for table, column in (("cost", "document_id"), ("manifest", "document_id")):
        bench.sql(f"DELETE FROM {table} WHERE {column} = ?", before.documents[gone].document_id)
    bench.write({"a.md": document("New")})
    bench.sync()
    after = live.snapshot("local", "default")
    new = Store(bench.store).snapshot("local", "default")
    assert gone in after.documents
    assert held(after) == held(new)
    assert not np.array_equal(after.places.input_ids, before.places.input_ids)
