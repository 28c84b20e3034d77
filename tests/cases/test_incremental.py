"""Cases of the area incremental, by id."""

import os
from pathlib import Path

import numpy as np
import pytest

from workbench import Bench, document, section, vectors_stored, words

OFF = '[chunking]\nchunker = "{}"\nplanner = false\n'
ON = '[chunking]\nchunker = "{}"\n'
SECTIONS = "anchored(max_tokens=40, min_tokens=10)"


def audit(bench: Bench) -> int:
    """Chunks whose stored vector is not that of their own input."""
    stored = vectors_stored(bench.store)
    wrong = 0
    for one in bench.stored().documents.values():
        for chunk, text in zip(one.chunks, one.slices, strict=True):
            expected = bench.embedder.inner.embed([text.strip()])[0]
            found = np.frombuffer(stored[chunk.key], np.float32)
            wrong += int(np.abs(found - expected).max() >= 1e-6)
    return wrong


def test_INC_01_a_second_run_over_more_chunks_than_a_batch_does_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document(*[f"T{n}" for n in range(250)])})
    report, asked = bench.sync()
    assert (len(asked), report.inputs.embed) == (250, 250)
    before = bench.stored()
    report, asked = bench.sync()
    counts = report.documents
    assert (len(asked), counts.added, counts.changed, counts.removed) == (0, 0, 0, 0)
    assert report.generation is None
    assert bench.stored() == before


def test_INC_02_a_touch_changes_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{n}.md": document(f"T{n}") for n in range(5)})
    bench.sync()
    for path in bench.root.iterdir():
        os.utime(path, (1, 1))
    report, asked = bench.sync()
    assert (report.generation, report.documents.unchanged, asked) == (None, 5, [])


def test_INC_04_a_renamed_file_keeps_its_vectors(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"notes/a.md": document("One", "Two")})
    bench.sync()
    (bench.root / "archive").mkdir()
    (bench.root / "notes/a.md").rename(bench.root / "archive/b.md")
    _, asked = bench.sync()
    assert asked == []
    with bench.open() as index:
        hits = index.search("one two", 100).hits
        assert {str(hit.document) for hit in hits} == {"docs:archive/b.md"}
        assert len(hits) == 2
        assert all(index.show(hit.citation).text == hit.text for hit in hits)
    assert audit(bench) == 0


@pytest.mark.parametrize("settings", [OFF, ON])
def test_INC_05_a_renamed_top_heading_embeds_the_inputs_that_it_is_part_of(
    tmp_path: Path, settings: str
) -> None:
    bench = Bench(tmp_path, settings.format(SECTIONS) + "heading_depth = 2\n")
    body = "\n".join(section(f"T{n}") for n in range(20))
    bench.write({"a.md": "# Setup\n\n" + body})
    _, first = bench.sync()
    bench.write({"a.md": "# Install\n\n" + body})
    report, asked = bench.sync()
    assert len(asked) == report.inputs.embed == len(first)
    assert all("Install" in text.splitlines()[0] for text in asked)
    with bench.open() as index:
        assert index.verify() == []


def test_INC_05_without_prefixes_a_renamed_heading_embeds_its_own_chunk(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    body = "\n".join(section(f"T{n}") for n in range(20))
    bench.write({"a.md": "# Setup\n\n" + body})
    bench.sync()
    bench.write({"a.md": "# Install\n\n" + body})
    assert len(bench.sync()[1]) == 1
    assert audit(bench) == 0


def test_INC_06_a_file_in_two_collections_is_embedded_once(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    tables = """
        [sources.mine]
        root = "mine"
        [collections.p]
        sources = ["mine"]
        [collections.q]
        sources = ["docs"]
    """
    bench = Bench(tmp_path, collections=tables)
    (tmp_path / "mine" / "a.md").write_text(document("One", "Two"))
    bench.write({"a.md": document("One", "Two")})
    with bench.open(collection="p") as p, bench.open(collection="q") as q:
        assert p.sync().inputs.embed == 2
        bench.embedder.taken()
        assert (q.sync().inputs.reuse, bench.embedder.taken()) == (2, [])
        before = q.search("one").hits
        (tmp_path / "mine" / "a.md").unlink()
        p.sync(allow_empty=True)
        assert p.search("one").hits == ()
        assert q.search("one").hits == before


@pytest.mark.parametrize("settings", [OFF, ON])
def test_INC_08_another_chunk_size_cuts_every_document_anew(tmp_path: Path, settings: str) -> None:
    small, large = (f"anchored(max_tokens={size}, min_tokens=20)" for size in (60, 160))
    bench = Bench(tmp_path, settings.format(small))
    bench.write({f"{n}.md": document(*[f"D{n}T{m}" for m in range(9)]) for n in range(4)})
    bench.sync()
    bench.configure(settings.format(large))
    report, _ = bench.sync()
    assert report.documents.changed == 4
    fingerprints = bench.sql(
        "SELECT DISTINCT json_extract(r.settings, '$.chunker') FROM manifest m"
        " JOIN layout l ON l.id = m.layout_id JOIN recipe r ON r.id = l.recipe_id"
        " WHERE m.to_generation IS NULL"
    )
    assert fingerprints == [(large,)]
    fresh = Bench(tmp_path / "fresh", settings.format(large))
    fresh.write({path.name: path.read_bytes() for path in bench.root.iterdir()})
    fresh.sync()
    assert bench.stored().slices == fresh.stored().slices
    with bench.open() as index:
        assert index.log()[-1].as_fields()["chunker"] == large


def test_INC_09_after_an_edit_every_vector_is_that_of_its_own_text(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    titles = [f"T{n}" for n in range(40)]
    bench.write({"a.md": document(*titles)})
    bench.sync()
    text = document(*titles)
    for number in range(0, 40, 4):
        first = words(f"t{number}").split()[2]
        text = text.replace(f" {first} ", " edited ")
    bench.write({"a.md": text})
    _, asked = bench.sync()
    assert len(asked) == 10
    assert audit(bench) == 0


def test_INC_10_a_key_is_that_of_the_exact_text_sent(tmp_path: Path) -> None:
    bench = Bench(tmp_path, OFF.format("fixed(max_tokens=16, overlap_tokens=4)"))
    x = words("x", 16)
    bench.write({"a.txt": f"{words('p', 16)}\n\n{x}\n\n{words('q', 16)}\n\n{x}"})
    _, asked = bench.sync()
    one = bench.stored().documents["docs:a.txt"]
    assert len({chunk.key for chunk in one.chunks}) == len(set(asked)) == len(asked)
    assert {text.strip() for text in one.slices} == set(asked)
    assert bench.sync()[1] == []
    with bench.open() as index:
        assert index.verify() == []


@pytest.mark.parametrize("settings", [OFF, ON])
def test_INC_11_a_date_in_the_front_matter_embeds_at_most_one_chunk(
    tmp_path: Path, settings: str
) -> None:
    bench = Bench(tmp_path, settings.format(SECTIONS))
    note = "---\ntitle: note\nupdated: {}\n---\n\n" + document(*[f"T{n}" for n in range(29)])
    bench.write({"a.md": note.format("2026-01-01")})
    bench.sync()
    bench.write({"a.md": note.format("2026-01-02 08:30")})
    report, asked = bench.sync()
    assert len(asked) <= 1
    assert report.inputs.reuse >= 29
    assert audit(bench) == 0
