"""What a sync refuses without an explicit yes, and what it holds."""

from pathlib import Path

import pytest

from variorum.records.errors import ConflictError, InputError, NotFoundError, UnavailableError
from workbench import Bench, document, json_lines, promise, vectors_stored

UNDECODABLE = b"caf\xe9"


def many(home: Path, count: int) -> Bench:
    bench = Bench(home)
    bench.write({f"{n:02}.md": f"document number {n}" for n in range(count)})
    bench.sync()
    return bench


def refusal(bench: Bench, **named: object) -> str:
    """The kind of the conflict that plan and sync both raise; nothing was published."""
    before = bench.stored()
    kinds = set()
    with bench.open() as index:
        for run in (index.plan, index.sync):
            with pytest.raises(ConflictError) as refused:
                run(**named)  # type: ignore[operator]
            kinds.add(refused.value.kind)
    assert bench.stored() == before
    (kind,) = kinds
    return kind


def test_an_empty_listing_needs_a_yes(tmp_path: Path) -> None:
    bench = many(tmp_path, 2)
    bench.remove("00.md", "01.md")
    assert refusal(bench) == "source-empty"
    assert refusal(bench, allow_shrink=True) == "source-empty"
    report, _ = bench.sync(allow_empty=True)
    assert report.documents.removed == 2
    assert bench.stored().documents == {}
    assert bench.found("document") == []


def test_a_first_sync_of_an_empty_folder_needs_no_yes(tmp_path: Path) -> None:
    report, _ = Bench(tmp_path).sync()
    assert report.generation is None


@pytest.mark.parametrize(
    ("before", "gone", "refused"),
    [
        (20, 10, False),
        (20, 11, True),
        (30, 16, True),
        (12, 9, False),
        (9, 8, False),
        (19, 10, True),
    ],
)
def test_losing_most_of_a_source_needs_a_yes(
    tmp_path: Path, before: int, gone: int, refused: bool
) -> None:
    bench = many(tmp_path, before)
    bench.remove(*(f"{n:02}.md" for n in range(gone)))
    if refused:
        assert refusal(bench) == "source-shrunk"
        assert refusal(bench, allow_empty=True) == "source-shrunk"
    report, _ = bench.sync(allow_shrink=refused)
    assert report.documents.removed == gone


def test_held_documents_do_not_hide_a_shrink(tmp_path: Path) -> None:
    bench = many(tmp_path, 40)
    bench.remove(*(f"{n:02}.md" for n in range(22)))
    bench.write({f"{n:02}.md": UNDECODABLE for n in range(28, 38)})
    assert refusal(bench) == "source-shrunk"


def test_documents_that_are_too_large_now_are_held_and_not_lost(tmp_path: Path) -> None:
    bench = Bench(tmp_path, collections="max_bytes = 100\n")
    bench.write({f"{n:02}.md": f"document number {n}" for n in range(12)})
    bench.sync()
    bench.write({f"{n:02}.md": "x" * 101 for n in range(12)})
    report, _ = bench.sync()
    assert (report.generation, report.documents.held, report.documents.removed) == (None, 12, 0)
    assert {one.kind for one in report.held} == {"too-large"}
    assert len(bench.stored().documents) == 12


def test_renaming_everything_is_no_shrink(tmp_path: Path) -> None:
    bench = many(tmp_path, 30)
    for path in list(bench.root.iterdir()):
        path.rename(path.with_suffix(".txt"))
    report, asked = bench.sync()
    counts = report.documents
    assert (counts.added, counts.removed, len(asked)) == (30, 30, 0)


def test_a_root_that_is_away_removes_nothing(tmp_path: Path) -> None:
    bench = many(tmp_path, 3)
    bench.root.rename(tmp_path / "elsewhere")
    before = bench.stored()
    with bench.open() as index:
        for consent in ({}, {"allow_empty": True}):
            with pytest.raises(NotFoundError):
                index.sync(**consent)  # type: ignore[arg-type]
    assert bench.stored() == before


@pytest.mark.parametrize("bad", [b"{", b'{"id": 1}', b'{"id": "x", "text": "y", "z": 1}'])
def test_a_bad_line_of_a_listing_removes_nothing(tmp_path: Path, bad: bytes) -> None:
    notes = '[sources.notes]\nkind = "jsonl"\nroot = "notes.jsonl"\n'
    bench = Bench(tmp_path, collections=notes)
    file = tmp_path / "notes.jsonl"
    file.write_text(json_lines([{"id": "a", "text": "one"}, {"id": "b", "text": "two"}]))
    bench.sync()
    before = bench.stored()
    file.write_bytes(b'{"id": "a", "text": "new"}\n' + bad + b"\n")
    with bench.open() as index, pytest.raises((InputError, UnavailableError)):
        index.sync()
    assert bench.stored() == before
    assert len(vectors_stored(bench.store)) == 2


def test_an_undecodable_document_is_held_while_the_rest_is_published(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One"), "b.md": document("Two")})
    bench.sync()
    good = bench.stored().documents["docs:a.md"]
    bench.write({"a.md": UNDECODABLE, "b.md": document("Three"), "new.md": UNDECODABLE})
    report, _ = bench.sync()
    assert [(str(one.document), one.kind, one.position) for one in report.held] == [
        ("docs:a.md", "undecodable", 3),
        ("docs:new.md", "undecodable", 3),
    ]
    assert (report.documents.changed, report.documents.held) == (1, 2)
    assert bench.stored().documents["docs:a.md"] == good
    assert "docs:new.md" not in bench.stored().documents
    bench.write({"a.md": document("One", "Mended")})
    report, asked = bench.sync()
    assert (report.documents.changed, len(asked)) == (1, 1)


def test_a_held_document_that_is_deleted_goes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": "text", "b.md": "more"})
    bench.sync()
    bench.write({"a.md": UNDECODABLE})
    bench.sync()
    bench.remove("a.md")
    report, _ = bench.sync()
    assert report.documents.removed == 1
    assert set(bench.stored().documents) == {"docs:b.md"}


def test_a_change_of_recipe_lays_a_held_document_out_again_from_the_store(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two"), "b.md": "fine"})
    bench.sync()
    bench.write({"a.md": UNDECODABLE})
    bench.configure('[chunking]\nchunker = "anchored(max_tokens=200, min_tokens=40)"\n')
    report, _ = bench.sync()
    assert (report.documents.changed, report.documents.held) == (1, 1)
    held = bench.stored().documents["docs:a.md"]
    assert (held.text, len(held.chunks)) == (document("One", "Two"), 1)


@pytest.mark.parametrize("allowed", [0, 21, 1000])
def test_a_budget_is_kept_before_a_token_is_spent(tmp_path: Path, allowed: int) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One")})
    needed = bench.plan().tokens.embed
    if allowed < needed:
        with bench.open() as index, pytest.raises(ConflictError) as refused:
            index.sync(max_tokens=allowed)
        assert refused.value.kind == "over-budget"
        assert bench.embedder.taken() == []
    report, _ = bench.sync(max_tokens=needed)
    assert report.tokens.embed == needed


def test_a_sync_that_reuses_everything_fits_a_budget_of_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two")})
    bench.sync()
    bench.write({"b.md": document("One", "Two")})
    assert bench.sync(max_tokens=0)[0].documents.added == 1


def test_a_plan_writes_nothing_and_promises_what_the_sync_does(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two"), "bad.md": UNDECODABLE, "pic.png": b"\x89PNG"})
    first = bench.plan()
    assert not bench.store.exists()
    assert promise(first) == promise(bench.sync()[0])
    bench.write({"a.md": document("Two", "Three"), "b.md": document("One")})
    before = {path: path.read_bytes() for path in bench.store.iterdir()}
    planned = bench.plan()
    assert {path: path.read_bytes() for path in bench.store.iterdir()} == before
    assert promise(planned) == promise(bench.sync()[0])
    assert (planned.inputs.embed, planned.inputs.reuse, planned.inputs.retire) == (1, 2, 0)


def test_each_planned_document_is_priced_and_the_prices_add_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two"), "gone.md": document("Gone")})
    bench.sync()
    bench.write({"a.md": document("One", "New"), "b.md": document("New", "Newer")})
    bench.remove("gone.md")
    with bench.open() as index:
        view = index.plan(usd_per_mtok=2.0)
    lines = {str(one.document): one for one in view.documents}
    assert {
        name: (one.action, one.chunks, one.embed, one.reuse) for name, one in lines.items()
    } == {
        "docs:a.md": ("changed", 2, 1, 1),
        "docs:b.md": ("added", 2, 1, 1),
        "docs:gone.md": ("removed", 0, 0, 0),
    }
    report = view.report
    assert sum(one.embed for one in view.documents) == report.inputs.embed == 2
    assert sum(one.embed_tokens for one in view.documents) == report.tokens.embed
    assert report.estimate["usd"] == round(report.tokens.embed * 2e-6, 6)


def test_the_listing_of_one_source_says_nothing_about_another(tmp_path: Path) -> None:
    notes = '[sources.notes]\nkind = "jsonl"\nroot = "notes.jsonl"\n'
    bench = Bench(tmp_path, collections=notes)
    file = tmp_path / "notes.jsonl"
    file.write_text(json_lines([{"id": "a.md", "text": "a note"}]))
    bench.write({"a.md": "a document"})
    bench.sync()
    file.write_text("")
    report, _ = bench.sync(source="docs")
    assert report.generation is None
    bench.remove("a.md")
    bench.sync(source="docs", allow_empty=True)
    assert set(bench.stored().documents) == {"notes:a.md"}
