"""A document of one sentence over and over is planned in steps that follow its length."""

from pathlib import Path

from bench.effort import measured_effort

import variorum
from variorum.embedding.hashing import HashingEmbedder


def steps_of_an_edit(folder: Path, words: int) -> int:
    docs = folder / "docs"
    docs.mkdir(parents=True)
    page = docs / "a.txt"
    page.write_text("w " * words, encoding="utf-8")
    with variorum.open(folder, store=folder / ".variorum", embedder=HashingEmbedder(64)) as index:
        index.sync(docs)
        page.write_text("w " * (words // 2) + "edited " + "w " * (words // 2), encoding="utf-8")
        with measured_effort(index.store.engine()) as effort:
            index.plan(docs)
    return effort.steps_without_scan()


def test_an_input_that_fills_a_document_is_counted_once(tmp_path: Path) -> None:
    small, large = (steps_of_an_edit(tmp_path / str(n), n) for n in (50_000, 200_000))
    assert large < 5 * small
