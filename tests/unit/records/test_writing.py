"""A file is written whole, and nothing but a file is replaced by one."""

import os
import threading
from pathlib import Path

import pytest

from variorum.records.writing import write_whole


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for content in ("一".encode(), b"two"):
        write_whole(path, content)
        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_pipe_or_a_device_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, b"figures")
    reader.join(10)
    assert read == [b"figures"]
    assert pipe.is_fifo()
    write_whole(Path(os.devnull), b"figures")
    assert Path(os.devnull).is_char_device()


def test_a_link_goes_on_naming_its_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


def test_what_was_there_stays_where_the_new_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="space"):
        write_whole(path, b"new")
    assert os.listdir(tmp_path) == ["a.txt"]
    assert path.read_bytes() == b"old"
