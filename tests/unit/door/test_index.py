"""The door: which sources a call speaks of, what it tells about an index, and moved folders."""

import shutil
from pathlib import Path

import pytest

import variorum
from tiny_models import WIDTH, bert_like
from variorum.records.errors import ConflictError, InputError, NotFoundError
from workbench import Bench, Recorder, document, words


def plain_folder(home: Path) -> Path:
    """A folder without a configuration, with one document in `docs`."""
    (home / "docs").mkdir(parents=True)
    (home / "docs" / "a.md").write_text(document("One"))
    return home


def test_a_folder_can_be_synced_without_a_configuration(tmp_path: Path) -> None:
    home = plain_folder(tmp_path)
    with variorum.open(home, embedder=Recorder()) as index:
        assert index.sync(home / "docs").documents.added == 1
        (home / "docs" / "b.md").write_text("more")
        assert index.sync().documents.added == 1
        assert str(index.search("one", 1).hits[0].document) == "docs:a.md"


def test_without_a_source_there_is_nothing_to_sync(tmp_path: Path) -> None:
    with (
        variorum.open(tmp_path, embedder=Recorder()) as index,
        pytest.raises(InputError) as refused,
    ):
        index.sync()
    assert refused.value.kind == "no-source"


def test_a_folder_of_the_same_name_does_not_take_another_s_place(tmp_path: Path) -> None:
    home = plain_folder(tmp_path)
    (home / "other" / "docs").mkdir(parents=True)
    with variorum.open(home, embedder=Recorder()) as index:
        index.sync(home / "docs")
        with pytest.raises(ConflictError) as refused:
            index.sync(home / "other" / "docs", allow_empty=True)
        assert refused.value.kind == "source-name-taken"
        assert len(index.search("one").hits) == 1


def test_a_configured_name_is_not_taken_by_a_path(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": "text"})
    bench.sync()
    (tmp_path / "elsewhere" / "docs").mkdir(parents=True)
    with bench.open() as index, pytest.raises(ConflictError) as refused:
        index.sync(tmp_path / "elsewhere" / "docs")
    assert refused.value.kind == "source-name-taken"


def test_a_configured_source_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": "text"})
    assert bench.sync(source="docs")[0].generation == 1
    assert bench.sync(source=bench.root)[0].generation is None
    with bench.open() as index, pytest.raises(InputError) as refused:
        index.sync("nowhere")
    assert refused.value.kind == "unknown-source"


@pytest.mark.parametrize("configured", [True, False])
def test_a_moved_checkout_retires_nothing(tmp_path: Path, configured: bool) -> None:
    bench = Bench(tmp_path / "here")
    bench.write({"a.md": document("One"), "deep/b.md": document("Two")})
    if not configured:
        (bench.home / "variorum.toml").unlink()
    with bench.open() as index:
        index.sync(bench.root)
    before = bench.stored()
    shutil.move(bench.home, tmp_path / "there")
    recorder = Recorder()
    with variorum.open(tmp_path / "there", embedder=recorder) as index:
        for source in (None, tmp_path / "there" / "docs"):
            report = index.sync(source)
            assert (report.generation, report.inputs.retire) == (None, 0)
            assert report.documents.unchanged == 2
        assert recorder.taken() == []
        hit = index.search("one", 1).hits[0]
        assert str(hit.document) == "docs:a.md"
    assert before.generation == 1


def test_diff_names_every_change_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write(
        {
            "same.md": "same",
            "edited.md": "old",
            "gone.md": "gone",
            "from.md": document("Moved"),
            "twin1.md": "twin",
        }
    )
    bench.sync()
    bench.write({"edited.md": "new", "added.md": "added", "twin2.md": "twin", "twin3.md": "twin"})
    bench.remove("gone.md", "twin1.md")
    (bench.root / "from.md").rename(bench.root / "to.md")
    bench.sync()
    with bench.open() as index:
        found = {
            str(one.document): (one.action, str(one.renamed_from) if one.renamed_from else None)
            for one in index.diff(1, 2).documents
        }
        backwards = {str(one.document): one.action for one in index.diff(2, 1).documents}
        assert index.diff(2, 2).documents == ()
        with pytest.raises(NotFoundError):
            index.diff(1, 3)
    assert found == {
        "docs:edited.md": ("changed", None),
        "docs:gone.md": ("removed", None),
        "docs:added.md": ("added", None),
        "docs:to.md": ("renamed", "docs:from.md"),
        "docs:twin2.md": ("renamed", "docs:twin1.md"),
        "docs:twin3.md": ("added", None),
    }
    assert backwards["docs:gone.md"] == "added"
    assert backwards["docs:from.md"] == "renamed"


def test_status_counts_what_is_published(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two"), "b.md": document("One"), "bad.md": b"caf\xe9"})
    bench.sync()
    with bench.open() as index:
        status = index.status()
        assert (status.generation, status.documents, status.chunks, status.inputs) == (1, 2, 3, 2)
        (source,) = status.sources
        assert (source.name, source.documents, source.held_by_restore) == ("docs", 2, False)
        assert [str(one.document) for one in status.held] == ["docs:bad.md"]
        assert status.store_bytes == sum(
            f.stat().st_size for f in bench.store.glob("store.sqlite*")
        )
        index.restore(1)
        assert index.status().sources[0].held_by_restore


def test_verify_finds_what_was_tampered_with(tmp_path: Path) -> None:
    tampered = {
        "UPDATE vector SET data = zeroblob(length(data))": "vector",
        "UPDATE vector SET data = x'00'": "vector",
        "DELETE FROM vector": "vector",
        'UPDATE chunk SET "end" = "end" - 5': "input",
        "DELETE FROM chunk WHERE ordinal = 1": "coverage",
        "UPDATE chunk SET start = start + 100000": "range",
        "UPDATE revision SET sha256 = 'x'": "revision",
        "UPDATE head SET generation = 7": "pointer",
        "DELETE FROM head": "pointer",
        "UPDATE manifest SET to_generation = 1": "pointer",
    }
    for number, (statement, kind) in enumerate(tampered.items()):
        bench = Bench(tmp_path / str(number))
        bench.write({"a.md": document("One", "Two")})
        bench.sync()
        bench.sql(statement)
        with bench.open() as index:
            assert kind in {finding.kind for finding in index.verify()}, statement


def test_the_log_tells_what_each_publish_did(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two")})
    bench.sync()
    bench.write({"a.md": document("One", "Three")})
    bench.sync()
    with bench.open() as index:
        first, second = index.log()
    assert (first.number, first.parent, first.embedded, first.recompute_fraction) == (
        1,
        None,
        2,
        None,
    )
    assert (second.number, second.parent, second.embedded) == (2, 1, 1)
    assert second.recompute_fraction == pytest.approx(0.5, abs=0.05)
    assert dict(second.counts)["changed"] == 1


def test_planner_on_and_off_show_the_same_text_over_a_history(tmp_path: Path) -> None:
    """The same revisions either way: coverage and best document agree; on embeds no more."""
    titles = [f"T{n}" for n in range(12)]
    turns = [titles, ["New", *titles], ["New", *titles[:5], *titles[6:]], titles[::-1], titles]
    spent: dict[bool, int] = {}
    texts: dict[bool, list[str]] = {}
    for planner in (True, False):
        settings = (
            f"[chunking]\nchunker = 'anchored(max_tokens=90, min_tokens=20)'\n"
            f"planner = {str(planner).lower()}\n"
        )
        bench = Bench(tmp_path / str(planner), settings)
        spent[planner], texts[planner] = 0, []
        for turn in turns:
            bench.write({"a.md": document(*turn), "b.md": words("beside")})
            _, asked = bench.sync()
            spent[planner] += len(asked)
            texts[planner].append("".join(bench.stored().documents["docs:a.md"].slices))
            for title in turn:
                with bench.open() as index:
                    best = index.search(words(title.lower()), 1).hits[0]
                assert words(title.lower()).split()[0] in best.text
    assert texts[True] == texts[False] == [document(*turn) for turn in turns]
    assert spent[True] <= spent[False]


def test_a_model_named_for_one_run_is_that_of_the_next_where_nothing_is_configured(
    tmp_path: Path,
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# One\n\nSome words.\n")
    spec = "hashing(dimensions=32)"
    with variorum.open(tmp_path, model=spec) as index:
        index.sync(tmp_path / "docs")
    with variorum.open(tmp_path) as index:
        assert index.model_spec == spec
        assert index.sync().generation is None
        assert len(index.search("words").hits) == 1


def test_a_path_in_a_spec_starts_at_the_configuration(tmp_path: Path, monkeypatch) -> None:
    bert_like(tmp_path / "models" / "tiny")
    (tmp_path / "variorum.toml").write_text("[model]\nspec = 'onnx(path=models/tiny)'\n")
    monkeypatch.chdir("/")
    with variorum.open(tmp_path) as index:
        assert index.embedder.embed(["the document"]).shape == (1, WIDTH)
