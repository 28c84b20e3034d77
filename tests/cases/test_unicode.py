"""Cases of the area unicode, by id."""

from pathlib import Path

from workbench import Bench, document


def test_UNI_05_a_nul_stops_nothing_and_shifts_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{n}.md": document(f"D{n}") for n in range(20)})
    content = "# He\0ading\n\nabc\0def and more words\n"
    bench.write({"nul.md": content})
    report, _ = bench.sync()
    assert report.documents.added == 21
    with bench.open() as index:
        (hit,) = index.search("abc def", path="nul.md").hits
        assert "abc\0def" in hit.text
        assert content[hit.start : hit.end] == hit.text == index.show(str(hit.citation)).text
        assert index.verify() == []


def test_UNI_08_a_file_that_is_not_utf_8_is_held_by_name(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{n}.md": document(f"D{n}") for n in range(9)})
    bench.write({"bad.md": b"caf\xe9 \x93quote\x94"})
    report, asked = bench.sync()
    assert [(str(one.document), one.kind, one.position) for one in report.held] == [
        ("docs:bad.md", "undecodable", 3)
    ]
    assert len(bench.stored().documents) == 9
    assert not any("\ufffd" in text for text in asked)
