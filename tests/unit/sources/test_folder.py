import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from variorum.records.errors import InputError, NotFoundError, UnavailableError
from variorum.records.protocols import Listed, Skipped
from variorum.sources import SKIP_REASONS, FolderSource
from variorum.sources import beneath as beneath_module


def write(path: Path, content: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def listed(source: FolderSource) -> list[bytes]:
    return [item.path for item in source.list() if isinstance(item, Listed)]


def skipped(source: FolderSource) -> dict[bytes, str]:
    return {item.path: item.reason for item in source.list() if isinstance(item, Skipped)}


def test_files_are_listed_by_path_with_type_and_size(tmp_path: Path) -> None:
    for name in ("b.md", "a/x.txt", "a.md", "a0.mdx", "a/UP.markdown"):
        write(tmp_path / name, "héllo")
    found = list(FolderSource("s", tmp_path).list())
    assert [item.path for item in found] == [
        b"a.md",
        b"a/UP.markdown",
        b"a/x.txt",
        b"a0.mdx",
        b"b.md",
    ]
    assert found[2] == Listed(b"a/x.txt", "text/plain", 6)
    assert {i.content_type for i in found if i != found[2]} == {"text/markdown"}  # type: ignore[union-attr]


def test_what_is_not_taken_is_reported_with_a_reason(tmp_path: Path) -> None:
    write(tmp_path / "image.png")
    write(tmp_path / "big.md", "x" * 11)
    write(tmp_path / ".secret.md")
    write(tmp_path / ".cache/a.md")
    write(tmp_path / "drafts/a.md")
    write(tmp_path / "build/out/a.md")
    write(tmp_path / "gone.md")
    write(tmp_path / ".gitignore", "build/\n")
    write(tmp_path / ".variorumignore", "gone.md\n")
    write(tmp_path / ".git/config.md")
    write(tmp_path / ".variorum/state.md")
    write(tmp_path / "variorum.toml")
    os.mkfifo(tmp_path / "pipe.md")
    source = FolderSource("s", tmp_path, exclude=("drafts/**",), max_bytes=10)
    assert skipped(source) == {
        b"image.png": "not-included",
        b"big.md": "too-large",
        b".secret.md": "hidden",
        b".cache/": "hidden",
        b"drafts/": "excluded",
        b"build/": "ignored",
        b"gone.md": "ignored",
        b"pipe.md": "special-file",
    }
    assert set(skipped(source).values()) < set(SKIP_REASONS)
    assert listed(source) == []


def test_an_ignored_path_names_the_file_that_ignores_it(tmp_path: Path) -> None:
    write(tmp_path / "d/.gitignore", "a.md\n")
    write(tmp_path / "d/a.md")
    assert list(FolderSource("s", tmp_path).list()) == [
        Skipped(b"d/a.md", "ignored", "d/.gitignore")
    ]


def test_hidden_files_are_taken_where_a_glob_writes_the_dot(tmp_path: Path) -> None:
    write(tmp_path / ".github/w/a.md")
    write(tmp_path / ".github/.deep/a.md")
    write(tmp_path / ".b.md")
    source = FolderSource("s", tmp_path, include=(".github/**/*.md", ".*.md"))
    assert listed(source) == [b".b.md", b".github/w/a.md"]
    assert skipped(source) == {b".github/.deep/": "hidden"}


def test_links_are_never_followed_and_the_walk_ends(tmp_path: Path) -> None:
    """FIL-01."""
    root = tmp_path / "root"
    write(root / "a.md")
    os.link(root / "a.md", root / "b.md")
    for name, target in (("self", "."), ("up", ".."), ("root", "/")):
        (root / name).symlink_to(target)
    source = FolderSource("s", root)
    assert listed(source) == [b"a.md", b"b.md"]
    assert skipped(source) == {b"self": "symlink", b"up": "symlink", b"root": "symlink"}


def test_a_link_out_of_the_root_is_refused_by_listing_and_reading_alike(tmp_path: Path) -> None:
    """FIL-02."""
    write(tmp_path / "outside/secret.md", "os-7781")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "linked").symlink_to(tmp_path / "outside")
    source = FolderSource("s", root)
    assert skipped(source) == {b"link.md": "symlink", b"linked": "symlink"}
    for path in (b"link.md", b"linked/secret.md"):
        with pytest.raises(UnavailableError) as caught:
            source.read(Listed(path, "text/markdown", 7))
        assert caught.value.kind == "symlink"


@pytest.mark.parametrize("path", [b"../a.md", b"/etc/passwd", b"a/../../b.md", b"", b"a\0.md"])
def test_reading_never_leaves_the_root(tmp_path: Path, path: bytes) -> None:
    with pytest.raises(UnavailableError) as caught:
        FolderSource("s", tmp_path).read(Listed(path, "text/markdown", 1))
    assert caught.value.kind == "outside-root"


def test_a_pipe_swapped_in_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    with pytest.raises(UnavailableError) as caught:
        FolderSource("s", tmp_path).read(Listed(b"a.md", "text/markdown", 1))
    assert caught.value.kind == "special-file"


def test_a_file_that_grew_over_the_limit_is_not_read(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "x" * 20)
    with pytest.raises(UnavailableError) as caught:
        FolderSource("s", tmp_path, max_bytes=10).read(Listed(b"a.md", "text/markdown", 1))
    assert caught.value.kind == "too-large"


def test_a_missing_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as caught:
        FolderSource("s", tmp_path).read(Listed(b"a.md", "text/markdown", 1))
    assert caught.value.kind == "vanished"


def test_a_file_that_keeps_changing_is_not_read_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.md", "one")
    real_read = os.pread

    def growing(descriptor: int, size: int, offset: int) -> bytes:
        with path.open("a") as stream:
            stream.write("more")
        return real_read(descriptor, size, offset)

    monkeypatch.setattr(beneath_module.os, "pread", growing)
    with pytest.raises(UnavailableError) as caught:
        FolderSource("s", tmp_path).read(Listed(b"a.md", "text/markdown", 3))
    assert caught.value.kind == "changing-file"


def test_a_directory_that_cannot_be_read_breaks_the_listing_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.md")
    write(tmp_path / "locked/b.md")
    real: Callable[[bytes], object] = os.scandir

    def denied(path: bytes) -> object:
        if path.endswith(b"locked"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(UnavailableError, match="locked") as caught:
        list(FolderSource("s", tmp_path).list())
    assert caught.value.kind == "incomplete-listing"


def test_an_ignore_file_that_cannot_be_read_breaks_the_listing_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.md")
    write(tmp_path / ".gitignore", "a.md")

    def denied(descriptor: int, size: int, offset: int) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(beneath_module.os, "pread", denied)
    with pytest.raises(UnavailableError, match="gitignore"):
        list(FolderSource("s", tmp_path).list())


def test_a_root_that_is_missing_or_a_file_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as missing:
        list(FolderSource("s", tmp_path / "none").list())
    assert missing.value.kind == "no-such-folder"
    with pytest.raises(InputError) as a_file:
        list(FolderSource("s", write(tmp_path / "a.md")).list())
    assert a_file.value.kind == "not-a-folder"


@pytest.mark.parametrize("name", ["", "a b", "-a", "a:b", "a\n"])
def test_a_name_that_cannot_be_printed_in_citations_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        FolderSource(name, tmp_path)
    assert caught.value.kind == "bad-source-name"


def test_a_listing_costs_little_more_than_looking(tmp_path: Path) -> None:
    for number in range(400):
        write(tmp_path / f"d{number % 25}/e/f{number}.md")

    def bare() -> float:
        start = time.perf_counter()
        for parent, _, names in os.walk(tmp_path):
            for name in names:
                os.stat(os.path.join(parent, name))
        return time.perf_counter() - start

    def ours() -> float:
        start = time.perf_counter()
        assert len(listed(FolderSource("s", tmp_path))) == 400
        return time.perf_counter() - start

    assert min(ours() for _ in range(5)) < 10 * min(bare() for _ in range(5))


def test_a_very_deep_tree_is_walked(tmp_path: Path) -> None:
    deep = b"d/" * 600
    path = os.fsencode(tmp_path) + b"/" + deep
    os.makedirs(path)
    with open(path + b"a.md", "wb") as stream:
        stream.write(b"x")
    source = FolderSource("s", tmp_path)
    (item,) = source.list()
    assert isinstance(item, Listed)
    assert item.path == deep + b"a.md"
    assert source.read(item) == b"x"
