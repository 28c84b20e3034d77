"""What is seen and gone a moment later, and what is no regular file any more."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import variorum.door.choosing as door
from variorum.records.errors import ConflictError, UnavailableError
from variorum.records.protocols import Listed, Skipped
from variorum.records.reports import Report
from variorum.sources import FolderSource
from variorum.sources import folder as folder_module
from variorum.sources.beneath import Beneath
from workbench import Bench, document

FILES = {"a.md": document("A"), "d/b.md": document("B"), "d/c.md": document("C")}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write(FILES)
    bench.sync()
    return bench


def names(bench: Bench) -> set[str]:
    return {name.removeprefix("docs:") for name in bench.stored().documents}


def held(report: Report) -> dict[str, str]:
    return {str(one.document).removeprefix("docs:"): one.kind for one in report.held}


def skipped(report: Report) -> dict[str, str]:
    return {str(one.document).removeprefix("docs:"): one.reason for one in report.skipped}


def before_reading(monkeypatch: pytest.MonkeyPatch, path: bytes, act: Callable[[], None]) -> None:
    """`act` happens once, after `path` was listed and before it is read."""
    acts = [act]

    class Unsteady(FolderSource):
        def read(self, listed: Listed) -> bytes:
            if listed.path == path and acts:
                acts.pop()()
            return super().read(listed)

    monkeypatch.setattr(door, "FolderSource", Unsteady)


def while_listing(monkeypatch: pytest.MonkeyPatch, folder: Path, act: Callable[[], None]) -> None:
    """`act` happens once, when the entries of `folder` were taken and none was looked at."""
    scandir, acts = os.scandir, [act]

    class Scan:
        def __init__(self, place: bytes) -> None:
            self.place = place

        def __enter__(self) -> Iterator[os.DirEntry[bytes]]:
            with scandir(self.place) as scan:
                entries = list(scan)
            if Path(os.fsdecode(self.place)) == folder and acts:
                acts.pop()()
            return iter(entries)

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(folder_module.os, "scandir", Scan)


def moved_away(folder: Path) -> None:
    folder.rename(folder.parent.parent / f"{folder.name} away")


def check_held_then_gone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, gone: set[str], new: str = "z.md"
) -> None:
    """The run holds what vanished and publishes the rest; the next listing removes it."""
    bench.write({new: document("New")})
    report, _ = bench.sync()
    assert held(report) == dict.fromkeys(gone, "vanished")
    assert (report.documents.added, report.documents.removed) == (1, 0)
    assert names(bench) == {*FILES, new}
    monkeypatch.undo()
    report, _ = bench.sync()
    assert (report.held, report.documents.removed) == ((), len(gone))
    assert names(bench) == {*FILES, new} - gone


def test_a_file_gone_before_it_is_read_is_held_for_that_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_reading(monkeypatch, b"a.md", lambda: bench.remove("a.md"))
    check_held_then_gone(bench, monkeypatch, {"a.md"})


def test_a_file_gone_before_its_size_is_asked_is_held_for_that_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    while_listing(monkeypatch, bench.root, lambda: bench.remove("a.md"))
    check_held_then_gone(bench, monkeypatch, {"a.md"})


def test_a_folder_gone_before_it_is_entered_holds_all_below_it_for_that_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    while_listing(monkeypatch, bench.root, lambda: moved_away(bench.root / "d"))
    check_held_then_gone(bench, monkeypatch, {"d/b.md", "d/c.md"})


def test_a_file_that_comes_back_is_no_deletion(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_reading(monkeypatch, b"a.md", lambda: bench.remove("a.md"))
    bench.sync()
    monkeypatch.undo()
    bench.write({"a.md": FILES["a.md"]})
    report, asked = bench.sync()
    assert (report.generation, report.held, asked) == (None, (), [])


@pytest.mark.parametrize("when", [before_reading, while_listing])
def test_a_new_file_that_vanishes_is_skipped(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, when: Callable[..., None]
) -> None:
    bench.write({"new.md": document("New")})
    place: object = b"new.md" if when is before_reading else bench.root
    when(monkeypatch, place, lambda: bench.remove("new.md"))
    report, _ = bench.sync()
    assert (report.held, skipped(report)) == ((), {"new.md": "vanished"})
    assert names(bench) == set(FILES)


def test_a_root_that_goes_away_while_it_is_listed_removes_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    while_listing(monkeypatch, bench.root, lambda: moved_away(bench.root))
    report, _ = bench.sync()
    assert held(report) == dict.fromkeys(FILES, "vanished")
    assert names(bench) == set(FILES)


def test_an_ignore_file_that_vanishes_is_looked_for_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it ignored must not be taken in because it was away for a moment."""
    bench.write({".gitignore": "secret.md\n", "secret.md": document("Secret")})
    ignore, away, read = bench.root / ".gitignore", bench.home / "away", Beneath.read

    def reading(files: Beneath, path: bytes, max_bytes: int) -> bytes:
        try:
            return read(files, path, max_bytes)
        except UnavailableError:
            away.rename(ignore)
            raise

    monkeypatch.setattr(Beneath, "read", reading)
    while_listing(monkeypatch, bench.root, lambda: ignore.rename(away))  # type: ignore[arg-type]
    listed = list(FolderSource("docs", bench.root).list())
    assert Skipped(b"secret.md", "ignored", ".gitignore") in listed


def a_symlink(path: Path) -> None:
    path.symlink_to(path.parent / "d/b.md")


def a_dangling_symlink(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        before = Path.cwd()
        os.chdir(path.parent)  # A socket's path may not be long.
        try:
            one.bind(path.name)
        finally:
            os.chdir(before)


REPLACEMENTS = {
    a_symlink: "symlink",
    a_dangling_symlink: "symlink",
    os.mkfifo: "special-file",
    a_socket: "special-file",
    Path.mkdir: None,
}


def replace(bench: Bench, make: Callable[[Path], None]) -> None:
    bench.remove("a.md")
    make(bench.root / "a.md")


@pytest.mark.parametrize(("make", "reason"), REPLACEMENTS.items())
def test_a_document_replaced_by_anything_but_a_file_is_removed_as_if_deleted(
    bench: Bench, make: Callable[[Path], None], reason: str | None
) -> None:
    replace(bench, make)
    report, _ = bench.sync()
    assert (report.documents.removed, report.held) == (1, ())
    assert skipped(report) == ({} if reason is None else {"a.md": reason})
    assert names(bench) == set(FILES) - {"a.md"}


def test_a_folder_in_a_documents_place_brings_its_own_documents(bench: Bench) -> None:
    replace(bench, Path.mkdir)
    bench.write({"a.md/inside.md": document("A")})
    report, asked = bench.sync()
    assert (report.documents.added, report.documents.removed, asked) == (1, 1, [])


@pytest.mark.parametrize(("make", "reason"), REPLACEMENTS.items())
def test_one_replaced_between_listing_and_reading_is_held_until_the_next_listing(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None],
    reason: str | None,
) -> None:
    before_reading(monkeypatch, b"a.md", lambda: replace(bench, make))
    report, _ = bench.sync()
    assert held(report) == {"a.md": reason or "special-file"}
    assert names(bench) == set(FILES)
    monkeypatch.undo()
    assert bench.sync()[0].documents.removed == 1


def test_the_guards_count_what_was_replaced_as_lost(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{n}.md": document(f"T{n}") for n in range(12)})
    bench.sync()
    for n in range(12):
        bench.remove(f"{n}.md")
        a_dangling_symlink(bench.root / f"{n}.md")
    with bench.open() as index, pytest.raises(ConflictError) as refused:
        index.sync()
    assert refused.value.kind == "source-empty"
