"""Cases of the area citations, by id."""

from pathlib import Path

from workbench import Bench, document, words


def test_CIT_01_offsets_are_code_points_and_bytes_of_the_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    content = "😀😀 target"
    bench.write({"a.md": content})
    bench.sync()
    with bench.open() as index:
        head, _, _ = str(index.search("target", 1).hits[0].citation).partition("[")
        shown = index.show(f"{head}[3:9]")
    assert shown.text == content[3:9] == "target"
    assert (shown.byte_start, shown.byte_end) == (9, 15)
    assert content.encode()[9:15] == b"target"


def test_CIT_02_of_three_sections_with_one_heading_the_right_one_is_cited(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    parts = [f"## Notes\n\n{words(seed)}\n" for seed in ("first", "second", "third")]
    text = "\n".join(parts)
    bench.write({"a.md": text})
    bench.sync()
    with bench.open() as index:
        hit = index.search(words("third"), 1).hits[0]
        shown = index.show(hit.citation)
    assert hit.heading_path == ("Notes",)
    assert hit.start_line == shown.start_line == 9
    assert shown.section_start == text.index("## Notes\n\nthird")


def test_CIT_04_an_old_citation_never_shows_what_stands_there_now(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("Fact")})
    bench.sync()
    with bench.open() as index:
        old = index.search("fact", 1).hits[0]
    bench.write({"a.md": "line\n" * 10 + "\n" + document("Fact")})
    bench.sync()
    with bench.open() as index:
        shown = index.show(str(old.citation))
        new = index.search(words("fact"), 1).hits[0]
    assert (shown.text, shown.revision, shown.is_current) == (old.text, old.revision, False)
    assert new.revision != old.revision
