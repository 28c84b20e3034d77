"""Files that a caller names."""

from pathlib import Path

from variorum.records.errors import InputError, NotFoundError, UnavailableError


def file_bytes(path: Path) -> bytes:
    """The bytes of the file at `path`; a pipe is read to its end.

    Raises:
        InputError: it is a folder.
        NotFoundError: there is none.
        UnavailableError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no file at {path}",
            kind="no-such-file",
            subject=str(path),
            expected="a text file",
            found="nothing",
            remedy="check the path",
        ) from error
    except IsADirectoryError as error:
        raise not_a_file(path, "a folder") from error
    except OSError as error:
        raise UnavailableError(
            f"{path} cannot be read",
            kind="unreadable-file",
            subject=str(path),
            expected="a readable file",
            found=error.strerror or str(error),
            remedy="check its permissions",
        ) from error


def not_a_file(path: Path, found: str) -> InputError:
    """The error about a path that leads to no text file."""
    return InputError(
        f"{path} is {found}",
        kind="not-a-file",
        subject=str(path),
        expected="a text file",
        found=found,
        remedy="name text files; `variorum plan -v` looks at a whole folder",
    )
