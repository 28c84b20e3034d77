"""Every promise of the `Source` protocol, for every source."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from repositories import commit_all
from variorum.records.errors import VariorumError
from variorum.records.names import DocumentName
from variorum.records.protocols import Listed, Skipped, Source
from variorum.sources import FolderSource, GitSource, JsonLinesSource

Build = Callable[[Path, Mapping[str, str]], Source]

DOCUMENTS = {
    "b.md": "# B\r\n\r\nbody\r\n",
    "a/deep/er.md": "deep",
    "a.md": "\N{GRINNING FACE} NUL \0 end",
    "a b [1].txt": "spaces and brackets",
    "é.md": "",
    "文/档.txt": "中文\n",
    "percent%41.md": "p",
    "new\nline.txt": "n",
}


def folder(root: Path, documents: Mapping[str, str]) -> Source:
    for name, content in documents.items():
        path = root / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return FolderSource("s", root / "files")


def json_lines(root: Path, documents: Mapping[str, str]) -> Source:
    lines = [json.dumps({"id": name, "text": content}) for name, content in documents.items()]
    (root / "docs.jsonl").write_text("\n".join(lines))
    return JsonLinesSource("s", root / "docs.jsonl")


def json_lines_of_files(root: Path, documents: Mapping[str, str]) -> Source:
    folder(root, documents)
    lines = [json.dumps({"id": name, "path": f"files/{name}"}) for name in documents]
    (root / "docs.jsonl").write_text("\n".join(lines))
    return JsonLinesSource("s", root / "docs.jsonl")


def git(root: Path, documents: Mapping[str, str]) -> Source:
    folder(root, documents)
    commit_all(root / "files")
    return GitSource("s", root / "files")


@pytest.fixture(params=[folder, json_lines, json_lines_of_files, git])
def build(request: pytest.FixtureRequest) -> Build:
    chosen: Build = request.param
    return chosen


def test_it_is_a_source_with_a_name_and_an_absolute_root(build: Build, tmp_path: Path) -> None:
    source = build(tmp_path, DOCUMENTS)
    assert isinstance(source, Source)
    assert source.name == "s"
    assert os.path.isabs(source.root)


def test_a_listing_is_complete_and_sorted_by_path_bytes(build: Build, tmp_path: Path) -> None:
    found = [item.path for item in build(tmp_path, DOCUMENTS).list()]
    assert found == sorted(name.encode() for name in DOCUMENTS)


def test_what_is_skipped_stands_in_order_too(build: Build, tmp_path: Path) -> None:
    source = build(tmp_path, {**DOCUMENTS, "huge.md": "x" * 10_000_001})
    found = list(source.list())
    assert [item.path for item in found] == sorted(item.path for item in found)
    assert [item.path for item in found if isinstance(item, Skipped)] == [b"huge.md"]


def test_two_listings_of_one_state_are_equal(build: Build, tmp_path: Path) -> None:
    source = build(tmp_path, DOCUMENTS)
    assert list(source.list()) == list(source.list())


def test_reading_gives_the_exact_bytes_of_the_listed_size(build: Build, tmp_path: Path) -> None:
    source = build(tmp_path, DOCUMENTS)
    for item in source.list():
        assert isinstance(item, Listed)
        content = source.read(item)
        assert content == DOCUMENTS[item.path.decode()].encode()
        assert len(content) == item.size_bytes


def test_every_listed_name_survives_printing(build: Build, tmp_path: Path) -> None:
    for item in build(tmp_path, DOCUMENTS).list():
        name = DocumentName("s", item.path)
        assert DocumentName.parse(str(name)) == name


def test_an_empty_source_lists_nothing(build: Build, tmp_path: Path) -> None:
    source = build(tmp_path, {"a.md": "x"})
    (tmp_path / "files/a.md").unlink(missing_ok=True)
    if os.path.isfile(source.root):
        Path(source.root).write_bytes(b"")
    if os.path.isdir(os.path.join(source.root, ".git")):
        commit_all(Path(source.root))
    assert list(source.list()) == []


def test_a_root_that_went_away_raises_and_lists_nothing(build: Build, tmp_path: Path) -> None:
    source = build(tmp_path, DOCUMENTS)
    os.rename(source.root, source.root + ".moved")
    with pytest.raises(VariorumError):
        next(source.list())


@pytest.mark.parametrize("make", [FolderSource, GitSource])
def test_a_name_that_is_not_utf_8_is_listed_and_read(
    make: type[FolderSource | GitSource], tmp_path: Path
) -> None:
    """Not JSON Lines: JSON has no such strings."""
    name = b"caf\xe9 \xff.md"
    with open(os.path.join(os.fsencode(tmp_path), name), "wb") as stream:
        stream.write(b"x")
    commit_all(tmp_path)
    source = make("s", tmp_path)
    (item,) = source.list()
    assert isinstance(item, Listed)
    assert item.path == name
    assert source.read(item) == b"x"
