"""A one-document edit asks the same of the store, however large the collection is."""

from pathlib import Path
from random import Random

import pytest
from bench.effort import measured_effort, rows_added, table_rows

import variorum
from variorum.embedding.hashing import HashingEmbedder

SIZES = (100, 1_000)
EDITED = 7
WORDS = ("index", "query", "vector", "chunk", "layout", "store", "plan", "索引", "查询", "修订")


def page(number: int) -> str:
    random = Random(number)
    paragraphs = (" ".join(random.choices(WORDS, k=90)) + "." for _ in range(4))
    return f"# Page {number}\n\n" + "\n\n".join(paragraphs) + "\n"


def effort_of_an_edit(folder: Path, documents: int) -> tuple[dict[str, int], list[str], int]:
    """Rows added by table, statements in order, and machine steps but for the manifest scan."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    for number in range(documents):
        (docs / f"{number:04d}.md").write_text(page(number), encoding="utf-8")
    index = variorum.open(folder, store=folder / ".variorum", embedder=HashingEmbedder())
    index.sync(docs)
    edited = docs / f"{EDITED:04d}.md"
    edited.write_text(edited.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
    before = table_rows(index.store.path)
    with measured_effort(index.store.engine()) as effort:
        index.sync(docs)
    added = rows_added(before, table_rows(index.store.path))
    index.close()
    return added, effort.statements, effort.steps_without_scan()


@pytest.fixture(scope="module")
def efforts(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[tuple[dict[str, int], list[str], int]]:
    folder = tmp_path_factory.mktemp("corpora")
    return [effort_of_an_edit(folder / str(size), size) for size in SIZES]


def test_an_edit_writes_the_same_rows_at_any_size(
    efforts: list[tuple[dict[str, int], list[str], int]],
) -> None:
    small, large = (added for added, _, _ in efforts)
    assert small == large
    assert small["generation"] == small["revision"] == small["layout"] == 1
    assert small["manifest"] == small["closed manifest rows"] == 1


def test_an_edit_runs_the_same_statements_at_any_size(
    efforts: list[tuple[dict[str, int], list[str], int]],
) -> None:
    small, large = (statements for _, statements, _ in efforts)
    assert small == large


def test_no_statement_of_an_edit_but_the_manifest_scan_walks_through_the_collection(
    efforts: list[tuple[dict[str, int], list[str], int]],
) -> None:
    small, large = (steps for _, _, steps in efforts)
    assert small == large
