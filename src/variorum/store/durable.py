"""Names of files and folders that are still there after the power went."""

import os
from contextlib import suppress
from pathlib import Path


def make_folders(folder: Path) -> None:
    """Make a folder, and those above it, where they are missing.

    Raises:
        OSError: one cannot be made.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing:
        with suppress(PermissionError):  # A folder that may be written but not read.
            sync_names(made.parent)


def name_finished(file: Path, path: Path) -> None:
    """Give a finished file its name, unless that is taken by now; then both stay as they are.

    Raises:
        FileExistsError: the name is taken.
        OSError: the file cannot be written out or named.
    """
    with file.open("rb") as finished:
        os.fsync(finished.fileno())
    try:
        os.link(file, path)
    except FileExistsError:
        raise
    except OSError:  # A file system without links.
        file.rename(path)
    sync_names(path.parent)


def sync_names(folder: Path) -> None:
    """Return when the names in a folder are on the disk.

    Raises:
        OSError: the folder cannot be read or written out.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
