"""While a listing is read from, the directory of the last file stays open."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock

import pytest

from variorum.records.errors import UnavailableError
from variorum.records.protocols import Listed
from variorum.sources import FolderSource
from variorum.sources.beneath import Beneath


def handles() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a.md", "b/c.md", "b/d.md", "b/e/f.md", "g/h.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def documents(source: FolderSource) -> Iterator[Listed]:
    return (one for one in source.list() if isinstance(one, Listed))


def test_every_file_is_read_and_no_handle_is_left(root: Path) -> None:
    before, source = handles(), FolderSource("docs", root)
    assert [source.read(one) for one in documents(source)] == [
        b"a.md",
        b"b/c.md",
        b"b/d.md",
        b"b/e/f.md",
        b"g/h.md",
    ]
    assert handles() == before


def test_no_handle_is_left_by_a_listing_that_is_given_up(root: Path) -> None:
    before, source = handles(), FolderSource("docs", root)
    listing = source.list()
    source.read(next(one for one in listing if isinstance(one, Listed)))
    assert handles() > before
    listing.close()  # type: ignore[attr-defined]
    assert handles() == before


def test_files_of_one_directory_open_it_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    real = os.open

    def opening(path: str | bytes, *rest: object, **named: object) -> int:
        opened.append(path)
        return real(path, *rest, **named)  # type: ignore[arg-type]

    source = FolderSource("docs", root)
    monkeypatch.setattr(os, "open", opening)
    for one in documents(source):
        source.read(one)
    assert opened.count(b"b") == 2  # For its own files, and on the way to those of b/e.
    assert opened.count(b"c.md") == opened.count(b"d.md") == 1


def test_a_symlink_in_the_place_of_a_directory_is_refused_in_the_middle_of_a_listing(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "h.md").write_text("secret")
    source = FolderSource("docs", root)
    with source._files.keeping():
        assert source.read(Listed(b"b/e/f.md", "text/markdown", 8)) == b"b/e/f.md"
        (root / "g").rename(root / "away")
        (root / "g").symlink_to(outside)
        with pytest.raises(UnavailableError) as raised:
            source.read(Listed(b"g/h.md", "text/markdown", 6))
    assert raised.value.kind == "symlink"


def test_a_kept_directory_that_is_replaced_gives_its_own_file_or_none(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "d.md").write_text("secret")
    source = FolderSource("docs", root)
    for one in documents(source):
        if one.path == b"b/d.md":
            (root / "b").rename(root / "away")
            (root / "b").symlink_to(outside)
            assert source.read(one) == b"b/d.md"
            break
        source.read(one)


class _AndThen:
    """A lock; whoever waits for it has its turn as soon as it is let go, once."""

    def __init__(self, lock: Lock, turn: Callable[[], None]) -> None:
        self.lock, self.turn = lock, turn
        self.turns = 0

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()
        self.turns += 1
        if self.turns == 1:
            self.turn()


def test_another_thread_reads_its_own_file_while_a_directory_is_not_there(root: Path) -> None:
    (root / "b" / "a.md").write_text("another file")
    files, read = Beneath(os.fsencode(root)), []
    with files.keeping():
        assert files.read(b"a.md", 100) == b"a.md"
        files._lock = _AndThen(files._lock, lambda: read.append(files.read(b"a.md", 100)))  # type: ignore[assignment]
        with pytest.raises(UnavailableError):
            files.read(b"b/gone/c.md", 100)
    assert read == [b"a.md"]
