"""Reading a git repository through `git` itself: trees, blobs and first-parent changes, as bytes.

Every name goes in and comes out separated by NUL, so no name is quoted, escaped or guessed at, and
nothing of the work tree, the index, or the network is touched.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, NoReturn, cast

from variorum.records.errors import (
    NotFoundError,
    UnavailableError,
    UnsupportedError,
    VariorumError,
)

SYMLINK = "120000"
SUBMODULE = "160000"
POINTER_BYTES = 1_024
"""A pointer of Git LFS is smaller, by its specification."""

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v\d+\n"
    rb"(?:ext-\d[^\n]*\n)*oid sha256:[0-9a-f]{64}\nsize \d+\n?(?:[a-z0-9.-]+ [^\n]*\n)*"
)
_FLAGS = ("--no-replace-objects", "--literal-pathspecs", "-c", "core.quotePath=false")
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree: its path from the repository's root, mode, object and size.

    `size_bytes` is -1 where the object is not there (or no blob).
    """

    path: bytes
    mode: str
    oid: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit did to a path, against its first parent.

    `status` is A, M, D, T (its kind changed) or R (`path` was `old_path`).
    """

    status: str
    path: bytes
    old_path: bytes
    mode: str
    oid: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the first-parent history, its parent or an empty string, and its time."""

    oid: str
    parent: str
    time_s: int


def is_lfs_pointer(content: bytes) -> bool:
    """Whether the whole content is a pointer to a large file; a page that quotes one is not."""
    return len(content) < POINTER_BYTES and _POINTER.fullmatch(content) is not None


class Repository:
    """A local repository, bare or not."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(path)

    def commit(self, revision: str) -> str:
        """The commit that a revision names.

        Raises:
            NotFoundError: no such repository (`no-such-repository`) or revision
                (`no-such-revision`).
            UnavailableError: git refuses the repository (`git-refused`).
            UnsupportedError: git is not installed (`no-git`).
        """
        if not os.path.isdir(self.path):
            _refuse_repository(self.path)
        wanted = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        done = self._run(wanted)
        if done.returncode == 0:
            return done.stdout.decode().strip()
        if self._run(("rev-parse", "--git-dir")).returncode:
            self._refuse(self._run(("rev-parse", "--git-dir")).stderr)
        raise NotFoundError(
            f"{self.path} has no revision {revision!r}",
            kind="no-such-revision",
            subject=revision,
            expected="a branch, a tag or a commit",
            found="none of that name",
            remedy="see `git log` there, or `git branch --all`",
        )

    def tree(self, commit: str, path: bytes = b"") -> Iterator[Entry]:
        """Every file below `path`, sorted by path bytes.

        Raises:
            UnavailableError: git cannot read the tree (`git-refused`).
        """
        where = ("--", path) if path else ()
        listing = self._output(("ls-tree", "-r", "-z", "-l", "--full-tree", commit, *where))
        for line in listing.split(b"\0")[:-1]:
            described, _, name = line.partition(b"\t")
            mode, _, oid, size = described.decode().split()
            yield Entry(name, mode, oid, int(size) if size.isdecimal() else -1)

    def blobs(self, oids: Sequence[str]) -> Iterator[bytes | None]:
        """The content of each object, in order; None where it is not there."""
        with self._process(("cat-file", "--batch")) as process:
            asked, answered = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
            for oid in oids:
                asked.write(oid.encode() + b"\n")
                asked.flush()
                yield _blob(answered)
            asked.close()

    def history(
        self, tip: str, *, last: int | None = None, since: str | None = None
    ) -> list[Commit]:
        """The first-parent history that ends at a commit, oldest first.

        `last` takes so many commits, `since` those not before a date that git understands.
        """
        limits = [f"--max-count={last}"] if last is not None else []
        limits += [f"--since={since}"] if since is not None else []
        wanted = ("rev-list", "--first-parent", "--parents", "--timestamp", *limits, tip)
        rows = [line.split() for line in self._output(wanted).decode().splitlines()]
        found = [Commit(row[1], row[2] if len(row) > 2 else "", int(row[0])) for row in rows]
        return found[::-1]

    def changes(self, commits: Sequence[Commit]) -> Iterator[tuple[Commit, list[Change]]]:
        """What each commit did against its first parent, renames found as git finds them."""
        flags = ("--stdin", "-z", "-r", "-M", "-l2000", "--raw", "--root", "--no-abbrev")
        asked = "".join(f"{one.oid} {one.parent}".strip() + "\n" for one in commits)
        found = self._output(("diff-tree", *flags), asked.encode())
        by_oid = _by_commit(found)
        for one in commits:
            yield one, by_oid.get(one.oid, [])

    def _output(self, arguments: Sequence[str | bytes], given: bytes = b"") -> bytes:
        done = self._run(arguments, given)
        if done.returncode:
            self._refuse(done.stderr)
        return done.stdout

    def _run(
        self, arguments: Sequence[str | bytes], given: bytes = b""
    ) -> "subprocess.CompletedProcess[bytes]":
        try:
            return subprocess.run(
                self._command(arguments),
                input=given,
                capture_output=True,
                env=_environment(),
                check=False,
            )
        except FileNotFoundError as error:
            raise _no_git() from error

    def _process(self, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                self._command(arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
        except FileNotFoundError as error:
            raise _no_git() from error

    def _command(self, arguments: Sequence[str | bytes]) -> list[str | bytes]:
        return ["git", "-C", self.path, *_FLAGS, *arguments]

    def _refuse(self, words: bytes) -> NoReturn:
        said = words.decode("utf-8", "replace").strip()
        if "not a git repository" in said:
            _refuse_repository(self.path)
        raise UnavailableError(
            f"git refuses {self.path}: {said}",
            kind="git-refused",
            subject=self.path,
            expected="a repository that this user may read",
            found=said,
            remedy="run `git -C REPOSITORY status` and do what git says",
        )


def _environment() -> Mapping[str, str]:
    """The user's own without what a hook or a script may have set to another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, **_ENVIRONMENT}


def _blob(stream: IO[bytes]) -> bytes | None:
    header = stream.readline().split()
    if len(header) != 3:
        return None
    content = stream.read(int(header[2]))
    stream.read(1)
    return content


def _by_commit(found: bytes) -> dict[str, list[Change]]:
    """The changes of each commit in the output of `diff-tree --stdin -z`."""
    by_commit: dict[str, list[Change]] = {}
    changes: list[Change] = []
    fields = iter(found.split(b"\0")[:-1])
    for one in fields:
        if not one.startswith(b":"):
            changes = by_commit.setdefault(one.decode().split()[0], [])
            continue
        _, mode, _, oid, status = one[1:].decode().split()
        old = next(fields)
        path = next(fields) if status[0] in "RC" else old
        changes.append(Change(status[0], path, old, mode, oid))
    return by_commit


def _refuse_repository(path: str) -> NoReturn:
    raise NotFoundError(
        f"there is no git repository at {path}",
        kind="no-such-repository",
        subject=path,
        expected="a local git repository",
        found="none",
        remedy="clone it first, then name the folder",
    )


def _no_git() -> VariorumError:
    return UnsupportedError(
        "reading a repository needs git",
        kind="no-git",
        subject="git",
        expected="the command git on the PATH",
        found="none",
        remedy="install git",
    )
