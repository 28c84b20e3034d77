"""Cases of the area files, by id."""

import os
import time
import unicodedata
from pathlib import Path

from workbench import Bench, document


def test_FIL_01_links_that_lead_back_up_neither_loop_nor_leave_the_root(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One"), "deep/b.md": document("Two")})
    outside = tmp_path / "outside.md"
    outside.write_text("outside words")
    for name, goal in (("self", "."), ("up", ".."), ("root", "/"), ("deep/up", "../..")):
        (bench.root / name).symlink_to(goal)
    os.link(bench.root / "a.md", bench.root / "hard.md")
    started = time.perf_counter()
    report, asked = bench.sync()
    assert time.perf_counter() - started < 5
    assert set(bench.stored().documents) == {"docs:a.md", "docs:deep/b.md", "docs:hard.md"}
    assert len(asked) == 2
    assert {str(one.document) for one in report.skipped} >= {"docs:self", "docs:up", "docs:root"}


def test_FIL_02_a_link_out_of_the_root_is_skipped_and_said_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    secret = tmp_path / "secret.md"
    secret.write_text("os-7781")
    bench.write({"a.md": "inside"})
    (bench.root / "link.md").symlink_to(secret)
    report, _ = bench.sync()
    assert "docs:link.md" in {str(one.document) for one in report.skipped}
    with bench.open() as index:
        assert not any("os-7781" in hit.text for hit in index.search("os-7781").hits)


def test_FIL_03_a_name_respelled_is_one_document_that_embeds_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    composed = unicodedata.normalize("NFC", "é.md")
    decomposed = unicodedata.normalize("NFD", "é.md")
    bench.write({composed: document("One")})
    assert bench.sync()[0].documents.added == 1
    (bench.root / composed).rename(bench.root / decomposed)
    report, asked = bench.sync()
    assert asked == []
    assert len(bench.stored().documents) == 1
    assert report.inputs.retire == 0
    bench.remove(decomposed)
    bench.sync(allow_empty=True)
    assert bench.stored().documents == {}


def test_FIL_04_a_picture_by_a_text_s_name_is_skipped_with_a_reason(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"good{n}.md": document(f"G{n}") for n in range(5)})
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
    bench.write({"note.md": picture, "note2.md": b"", "note3.md": b" \n\t\n"})
    report, asked = bench.sync()
    assert len(asked) == 5
    assert [(str(one.document), one.reason) for one in report.skipped] == [
        ("docs:note.md", "binary")
    ]
    documents = bench.stored().documents
    assert len(documents) == 7
    assert documents["docs:note2.md"].chunks == documents["docs:note3.md"].chunks == ()
