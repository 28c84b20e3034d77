"""Documents in a folder: one file, one document, named by its path below the root.

What a listing takes:

- Files that an `include` glob matches. Names that start with a dot are hidden, as in a shell: a
  glob takes them only where it writes the dot itself (`.github/**/*.md`).
- Not what an `exclude` glob or an ignore file leaves out; see `variorum.sources.ignore`.
- Never a symlink, to a file or a directory, and never a device, a pipe or a socket. The root itself
  may be a symlink.
- Every path of a hard-linked file is a document of its own: they are equal names, and one may be
  rewritten without the other.
- `.git`, `.variorum`, `variorum.toml`, `variorum-policy.toml` and the ignore files are passed over
  without a word.

Everything else that is seen is reported as `Skipped` with one of the `SKIP_REASONS`. A directory
that is left out is reported once, with a final "/", and not entered. What is seen and gone a moment
later is reported as `vanished`: whether it comes back is for the next listing to tell. Unreadable
directories break the listing off, since an incomplete listing proves nothing; an unreadable file is
listed, and reading it fails.
"""

import json
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from variorum.records.errors import InputError, NotFoundError, UnavailableError
from variorum.records.protocols import Listed, Skipped
from variorum.sources.beneath import VANISHED, Beneath
from variorum.sources.globs import Globs
from variorum.sources.ignore import IGNORE_NAMES, Ignores, parse_ignore_file
from variorum.sources.naming import checked_source_name, content_type_of, printed_path

DEFAULT_INCLUDE: Final = (
    *("**/*.md", "**/*.markdown", "**/*.mdx", "**/*.txt", "**/*.text", "**/*.rst"),
    *("**/*.html", "**/*.htm", "**/*.ipynb", "**/*.csv", "**/*.tsv", "**/*.vtt", "**/*.srt"),
)
POLICY_NAME: Final = b"variorum-policy.toml"
CONTROL_NAMES: Final = frozenset(
    {b".git", b".variorum", b"variorum.toml", POLICY_NAME, *IGNORE_NAMES}
)
SKIP_REASONS: Final = (
    "symlink",
    "special-file",
    "excluded",
    "ignored",
    "hidden",
    "not-included",
    VANISHED,
    "too-large",
)
"""In the order asked: the first that holds is the one reported."""

_MAX_IGNORE_FILE_BYTES = 4_000_000
_ATTEMPTS = 3
_GONE = (FileNotFoundError, NotADirectoryError)


@dataclass(frozen=True, slots=True)
class _Directory:
    """A directory being walked; `path` is relative to the root, b"" or ends in "/".

    `place` is where to open it, `hidden` whether a component of its path starts with a dot.
    """

    path: bytes
    place: bytes
    hidden: bool
    ignores: Ignores


_Entry = tuple[_Directory, "os.DirEntry[bytes]"]


def _order(entry: os.DirEntry[bytes]) -> bytes:
    # A directory sorts as its contents will: "a.md" before "a/b.md" before "a0.md".
    return entry.name + b"/" if entry.is_dir(follow_symlinks=False) else entry.name


def _listing_broke(path: bytes, error: OSError) -> UnavailableError:
    printed = printed_path(path)
    return UnavailableError(
        f"the listing broke off at {printed!r}: {error.strerror}",
        kind="incomplete-listing",
        subject=printed,
        expected="every directory readable and unchanged while it is listed",
        found=error.strerror or str(error),
        remedy="restore the permissions or exclude the directory, then run again",
    )


def _checked_root(root: bytes) -> bytes:
    try:
        mode = os.stat(root).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(
            f"the folder {os.fsdecode(root)!r} does not exist",
            kind="no-such-folder",
            subject=os.fsdecode(root),
            expected="a folder",
            found="nothing at that path",
            remedy="check the path, and that the disk it is on is mounted",
        ) from None
    except OSError as error:
        raise _listing_broke(root, error) from None
    if not stat.S_ISDIR(mode):
        raise InputError(
            f"{os.fsdecode(root)!r} is not a folder",
            kind="not-a-folder",
            subject=os.fsdecode(root),
            expected="a folder",
            found="a file",
            remedy="name the folder that holds the file, and include the file by a glob",
        )
    return root


def _ends_of_folders(path: bytes) -> list[int]:
    return [place for place, byte in enumerate(path) if byte == ord("/")]


class FolderSource:
    """The files of a folder, read where they are.

    `include` and `exclude` are globs relative to the root (see `variorum.sources.globs`); exclude
    wins, and its wildcards match hidden names too. Files over `max_bytes` are skipped.
    `use_ignore_files` honours `.gitignore` and `.variorumignore`.

    Raises:
        InputError: a bad name (`bad-source-name`) or a bad pattern (`bad-glob`).
    """

    def __init__(
        self,
        name: str,
        root: str | os.PathLike[str],
        include: Sequence[str] = DEFAULT_INCLUDE,
        exclude: Sequence[str] = (),
        *,
        max_bytes: int = 10_000_000,
        use_ignore_files: bool = True,
    ) -> None:
        self._name = checked_source_name(name)
        self._root = os.path.abspath(os.fsencode(root))
        self._files = Beneath(self._root)
        self._include_patterns, self._exclude_patterns = tuple(include), tuple(exclude)
        self._include = Globs(include)
        self._exclude = Globs(exclude, dots=True) if exclude else None
        self._max_bytes = max_bytes
        self._use_ignore_files = use_ignore_files

    @property
    def name(self) -> str:
        """The configured name, unique in a collection."""
        return self._name

    @property
    def root(self) -> str:
        """The folder's absolute path."""
        return os.fsdecode(self._root)

    def list(self) -> Iterator[Listed | Skipped]:
        """Every document, sorted by path bytes, with what was skipped in between.

        Raises:
            NotFoundError: the root is not there (`no-such-folder`).
            InputError: the root is a file (`not-a-folder`).
            UnavailableError: a directory or an ignore file cannot be read (`incomplete-listing`).
        """
        with self._files.keeping():
            yield from self._walk(_Directory(b"", _checked_root(self._root), False, Ignores()))

    def look(self, paths: Collection[bytes]) -> Iterator[Listed | Skipped]:
        """What `list` says of these paths: it enters no directory but those above them.

        One that is not there is passed over. Linear in the entries of these directories.

        Raises:
            NotFoundError: the root is not there.
            UnavailableError: a directory above one, or its ignore file, cannot be read.
        """
        above = {path[:place] for path in paths for place in _ends_of_folders(path)}
        root = _Directory(b"", _checked_root(self._root), False, Ignores())
        yield from self._walk(root, frozenset(paths) | above)

    @property
    def rules(self) -> str:
        """What a listing takes, apart from ignore files: equal for equal settings."""
        settings = [
            list(self._include_patterns),
            list(self._exclude_patterns),
            self._max_bytes,
            self._use_ignore_files,
        ]
        return json.dumps(settings)

    def read(self, listed: Listed) -> bytes:
        """The file's bytes; a symlink is never followed, at any depth below the root.

        Raises:
            UnavailableError: `vanished`, `unreadable-file`, `symlink`, `special-file`, `too-large`,
                `changing-file` or `outside-root`.
        """
        return self._files.read(listed.path, self._max_bytes)

    def _walk(
        self, root: _Directory, only: Collection[bytes] | None = None
    ) -> Iterator[Listed | Skipped]:
        # A stack of its own: a tree may be deeper than Python's.
        stack = [iter(self._entries(root))]
        while stack:
            for directory, entry in stack[-1]:
                if only is not None and directory.path + entry.name not in only:
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    yield self._file(directory, entry)
                    continue
                entered = self._enter(directory, entry)
                if isinstance(entered, Skipped):
                    yield entered
                    continue
                try:
                    stack.append(iter(self._entries(entered)))
                except _GONE:
                    yield Skipped(entered.path, VANISHED)
                    continue
                break
            else:
                stack.pop()

    def _entries(self, directory: _Directory) -> Sequence[_Entry]:
        """The entries of a directory in order, each with the directory and the rules in force.

        Raises:
            FileNotFoundError, NotADirectoryError: the directory, not the root, is gone.
        """
        for _ in range(_ATTEMPTS):
            try:
                with os.scandir(directory.place) as scan:
                    entries = sorted(scan, key=_order)
                ruled = self._with_ignore_files(directory, entries)
            except _GONE as error:
                if not directory.path:
                    raise _listing_broke(directory.place, error) from None
                raise
            except OSError as error:
                raise _listing_broke(directory.place, error) from None
            if ruled is not None:
                return [(ruled, entry) for entry in entries if entry.name not in CONTROL_NAMES]
        raise _listing_broke(directory.place, OSError(0, "its ignore file comes and goes"))

    def _with_ignore_files(
        self, directory: _Directory, entries: Sequence[os.DirEntry[bytes]]
    ) -> _Directory | None:
        """The directory under its ignore files; None where one vanished and is unknown."""
        for entry in entries if self._use_ignore_files else ():
            if entry.name in IGNORE_NAMES and entry.is_file(follow_symlinks=False):
                path = directory.path + entry.name
                try:
                    content = self._files.read(path, _MAX_IGNORE_FILE_BYTES)
                except UnavailableError as error:
                    if error.kind == VANISHED:
                        return None
                    raise _listing_broke(path, OSError(0, error.found)) from None
                file = parse_ignore_file(content, path, directory.path)
                directory = replace(
                    directory, ignores=directory.ignores.with_file(entry.name, file)
                )
        return directory

    def _enter(self, parent: _Directory, entry: os.DirEntry[bytes]) -> _Directory | Skipped:
        path = parent.path + entry.name
        dotted = entry.name.startswith(b".")
        if self._exclude and self._exclude.covers(path):
            return Skipped(path + b"/", "excluded")
        if parent.ignores and (ignored_by := parent.ignores.ignoring(path, True)):
            return Skipped(path + b"/", "ignored", ignored_by)
        if not self._include.may_hold(path):
            return Skipped(path + b"/", "hidden" if dotted else "not-included")
        return _Directory(path + b"/", entry.path, parent.hidden or dotted, parent.ignores)

    def _file(self, directory: _Directory, entry: os.DirEntry[bytes]) -> Listed | Skipped:
        name = entry.name
        path = directory.path + name
        hidden = directory.hidden or name.startswith(b".")
        if not entry.is_file(follow_symlinks=False):
            return Skipped(path, "symlink" if entry.is_symlink() else "special-file")
        if self._exclude and self._exclude.match(path, name, False):
            return Skipped(path, "excluded")
        if directory.ignores and (ignored_by := directory.ignores.ignoring(path, False)):
            return Skipped(path, "ignored", ignored_by)
        if not self._include.match(path, name, hidden):
            return Skipped(path, "hidden" if name.startswith(b".") else "not-included")
        try:
            size_bytes = entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            return Skipped(path, VANISHED)
        except OSError as error:
            raise _listing_broke(path, error) from None
        if size_bytes > self._max_bytes:
            return Skipped(path, "too-large", f"{size_bytes} bytes, over {self._max_bytes}")
        return Listed(path, content_type_of(name), size_bytes)
