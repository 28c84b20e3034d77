"""Making a store: whole under another name, then given its own, so that none is ever half made."""

import os
from pathlib import Path
from secrets import token_hex

from variorum.records.errors import UnavailableError
from variorum.store.engine import bring_up_to_date, open_engine
from variorum.store.file import not_writable


def make_folder(folder: Path) -> None:
    """Make the store's folder where there is none.

    Raises:
        UnavailableError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(
            "the store's folder cannot be made",
            kind="store-not-writable",
            subject=str(folder),
            expected="a folder that this user may write",
            found=error.strerror or str(error),
            remedy="check the permissions, or name another folder with --store",
        ) from error


def create_store(path: Path) -> None:
    """Make an empty store at `path`; one that another process made meanwhile stays.

    Raises:
        UnavailableError: the folder may not be written.
    """
    new = path.with_name(f"new-{os.getpid()}-{token_hex(4)}.sqlite")
    try:
        new.touch(exist_ok=False)
        engine = open_engine(new)
        try:
            bring_up_to_date(engine, path)
        finally:
            engine.dispose()
        _name(new, path)
    except OSError as error:
        raise not_writable(path, error.strerror or str(error)) from error
    finally:
        for left in path.parent.glob(f"{new.name}*"):
            left.unlink(missing_ok=True)


def _name(new: Path, path: Path) -> None:
    """Give a finished file its name, unless that is taken by now."""
    try:
        os.link(new, path)
    except FileExistsError:
        return
    except OSError:  # A file system without links.
        new.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
