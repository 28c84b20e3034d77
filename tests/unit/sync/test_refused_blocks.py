"""A recipe that refuses a block holds the block's document, and nothing else."""

from pathlib import Path

from workbench import Bench, words

REJECT = '[chunking]\nchunker = "structural(max_tokens=40, min_tokens=4, oversize=reject)"\n'
LONG = words("long", 60)
SHORT = words("short", 20)


def test_a_new_document_with_a_block_too_large_is_held(tmp_path: Path) -> None:
    bench = Bench(tmp_path, REJECT)
    bench.write({"long.md": LONG, "short.md": SHORT})
    report, _ = bench.sync()
    assert [(str(held.document), held.kind) for held in report.held] == [
        ("docs:long.md", "block-too-large")
    ]
    assert report.documents.added == 1
    assert bench.found(SHORT) == ["docs:short.md"]


def test_a_change_to_a_recipe_that_refuses_keeps_the_layout_there_is(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"long.md": LONG, "short.md": SHORT})
    bench.sync()
    bench.configure(REJECT)
    report, _ = bench.sync()
    assert [held.kind for held in report.held] == ["block-too-large"]
    assert (report.documents.changed, report.documents.held) == (1, 1)
    assert bench.found(LONG)[0] == "docs:long.md"
    again, asked = bench.sync()
    assert (again.generation, again.documents.held, asked) == (None, 1, [])
    with bench.open() as index:
        assert index.verify() == []


def test_a_refusal_in_a_source_that_is_not_listed_holds_its_document_too(tmp_path: Path) -> None:
    other = '\n[sources.other]\nroot = "other"\n'
    bench = Bench(tmp_path, collections=other)
    bench.write({"short.md": SHORT, "../other/long.md": LONG})
    bench.sync()
    bench.configure(REJECT, other)
    with bench.open() as index:
        report = index.sync("docs")
    assert [str(held.document) for held in report.held] == ["other:long.md"]
