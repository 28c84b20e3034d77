"""Files that a user names, written whole."""

import os
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write all of a file, or leave what was there.

    What is there and is no file of its own, such as a pipe, a device or a link, is written to: it
    stays what it is.

    Raises:
        OSError: it cannot be written.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_bytes(content)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    finally:
        with suppress(OSError):
            beside.unlink()
