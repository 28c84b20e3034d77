"""Making a store: whole under another name, then given its own, so that none is ever half made."""

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from variorum.records.errors import UnavailableError
from variorum.store.durable import make_folders, name_finished
from variorum.store.engine import bring_up_to_date, open_engine
from variorum.store.file import not_writable


def make_folder(folder: Path) -> None:
    """Make the store's folder where there is none.

    Raises:
        UnavailableError: it cannot be made.
    """
    try:
        make_folders(folder)
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
        with suppress(FileExistsError):
            name_finished(new, path)
    except OSError as error:
        raise not_writable(path, error.strerror or str(error)) from error
    finally:
        for left in path.parent.glob(f"{new.name}*"):
            left.unlink(missing_ok=True)
