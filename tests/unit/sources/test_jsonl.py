import json
import os
from pathlib import Path

import pytest

from variorum.records.errors import InputError, NotFoundError, UnavailableError
from variorum.records.protocols import Listed, Skipped
from variorum.sources import JsonLinesSource


def source_of(folder: Path, *lines: object, max_bytes: int = 10_000_000) -> JsonLinesSource:
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    (folder / "docs.jsonl").write_bytes(b"\n".join(raw))
    return JsonLinesSource("s", folder / "docs.jsonl", max_bytes=max_bytes)


def contents(source: JsonLinesSource) -> dict[bytes, bytes]:
    return {i.path: source.read(i) for i in source.list() if isinstance(i, Listed)}


def test_lines_become_documents_named_by_id(tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n/a.md").write_bytes(b"# A\r\n\xff")
    source = source_of(
        tmp_path,
        {"id": "z", "text": "zé\r\n"},
        {"id": "é [1]", "path": "n/a.md", "metadata": {"year": 2024, "draft": False}},
        b"",
        {"id": "b", "text": "# B", "content_type": "text/markdown"},
    )
    assert list(source.list()) == [
        Listed(b"b", "text/markdown", 3),
        Listed(b"z", "text/plain", 5),
        Listed("é [1]".encode(), "text/markdown", 6, {"year": 2024, "draft": False}),
    ]
    assert contents(source) == {
        b"b": b"# B",
        b"z": "zé\r\n".encode(),
        "é [1]".encode(): b"# A\r\n\xff",
    }


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"{", "the whole line"),
        (b"\xff", "the whole line"),
        (b"[" * 100_000, "the whole line"),
        (b'{"id": "a", "id": "b", "text": ""}', "the whole line"),
        (b'{"id": "a", "text": "x", "metadata": {"n": NaN}}', "the whole line"),
        (b'{"id": "a", "text": "x", "metadata": {"n": 1e999}}', "'metadata', key 'n'"),
        (b'{"id": "a", "text": "\\ud800"}', "'text'"),
        ([], "the whole line"),
        ({"text": "x"}, "'id'"),
        ({"id": 7, "text": "x"}, "'id'"),
        ({"id": "", "text": "x"}, "'id'"),
        ({"id": "a"}, "'text'"),
        ({"id": "a", "text": None}, "'text'"),
        ({"id": "a", "text": "x", "path": "y"}, "'text'"),
        ({"id": "a", "text": "x", "metadata": []}, "'metadata'"),
        ({"id": "a", "text": "x", "metadata": {"k": ["v"]}}, "'metadata', key 'k'"),
        ({"id": "a", "text": "x", "metadata": {"k": 2**63}}, "'metadata', key 'k'"),
        ({"id": "a", "text": "x", "metadata": {"k": "\ud800"}}, "'metadata', key 'k'"),
        ({"id": "a", "text": "x", "content_type": "image/png"}, "'content_type'"),
        ({"id": "a", "text": "x", "meta": {}}, "'meta'"),
        ({"id": "good", "text": "x"}, "'id'"),
        ({"id": "a", "path": "../x"}, "'path'"),
        ({"id": "a", "path": "/etc/passwd"}, "'path'"),
        ({"id": "a", "path": "link"}, "'path'"),
        ({"id": "a", "path": "missing.md"}, "'path'"),
    ],
)
def test_a_bad_line_fails_the_listing_and_is_named(
    tmp_path: Path, line: object, field: str
) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    source = source_of(tmp_path, {"id": "good", "text": "x"}, line)
    with pytest.raises(InputError) as caught:
        next(source.list())
    assert caught.value.kind == "bad-line"
    assert caught.value.subject == f"{os.path.basename(source.root)}, line 2, {field}"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"id": ', "Expecting value at character 7"),
        (b'{"id": "\xff"}', "a byte that is not UTF-8 at byte 8"),
        (b"[" * 200_000, "values too deep within each other"),
        (b'{"id": "a", "text": "\\ud800"}', "half of a surrogate pair at character 0"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_to_people(
    tmp_path: Path, line: bytes, found: str
) -> None:
    with pytest.raises(InputError) as caught:
        next(source_of(tmp_path, line).list())
    assert caught.value.found == found


def test_a_text_over_the_limit_is_skipped(tmp_path: Path) -> None:
    source = source_of(tmp_path, {"id": "a", "text": "x" * 11}, max_bytes=10)
    assert list(source.list()) == [Skipped(b"a", "too-large", "11 bytes, over 10")]


def test_an_endless_line_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    source = source_of(tmp_path, b"x" * 1_000_100, max_bytes=10)
    with pytest.raises(InputError, match="line 1"):
        list(source.list())


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    source = source_of(tmp_path, b'\xef\xbb\xbf{"id": "a", "text": "x"}')
    assert contents(source) == {b"a": b"x"}


def test_a_file_changed_since_its_listing_is_not_misread(tmp_path: Path) -> None:
    source = source_of(tmp_path, {"id": "a", "text": "x"}, {"id": "b", "text": "y"})
    found = list(source.list())
    source_of(tmp_path, {"id": "new", "text": "longer than before"})
    for item in found:
        assert isinstance(item, Listed)
        with pytest.raises(UnavailableError) as caught:
            source.read(item)
        assert caught.value.kind == "changed-source"


def test_a_document_can_be_read_without_listing_first(tmp_path: Path) -> None:
    source = source_of(tmp_path, {"id": "a", "text": "x"})
    assert source.read(Listed(b"a", "text/plain", 1)) == b"x"


def test_a_root_that_is_missing_or_a_folder_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        list(JsonLinesSource("s", tmp_path / "none.jsonl").list())
    with pytest.raises(InputError) as caught:
        list(JsonLinesSource("s", tmp_path).list())
    assert caught.value.kind == "not-a-file"


def test_a_named_file_swapped_for_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    source = source_of(tmp_path, {"id": "a", "path": "a.txt"})
    (item,) = source.list()
    assert isinstance(item, Listed)
    os.remove(tmp_path / "a.txt")
    (tmp_path / "a.txt").symlink_to("/etc/hostname")
    with pytest.raises(UnavailableError) as caught:
        source.read(item)
    assert caught.value.kind == "symlink"
