"""The documents of a repository's first-parent history, each with its contents, oldest first.

A merge counts as one step, the one that its first parent saw. Renames continue a document where git
finds them; a rename that changes nothing is no revision. What was there before the first replayed
commit is the content that the first edit is compared with.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from variorum.formats import decode
from variorum.lab.atoms import ATOM
from variorum.lab.histories import History, Revised
from variorum.records.errors import InputError
from variorum.records.text import Revision
from variorum.sources.git import Selection
from variorum.sources.git_objects import Change, Commit, Repository, is_lfs_pointer
from variorum.sources.git_place import GitPlace
from variorum.sources.naming import content_type_of

_CJK_SHARE = 0.2


@dataclass(slots=True)
class Track:
    """A document as it is followed: its newest path, the objects it was, and when."""

    path: bytes
    oids: list[str] = field(default_factory=list)
    times_s: list[int] = field(default_factory=list)

    def see(self, oid: str, time_s: int) -> None:
        """Add an object where it differs from the last one."""
        if not self.oids or self.oids[-1] != oid:
            self.oids.append(oid)
            self.times_s.append(time_s)


@dataclass(frozen=True, slots=True)
class Window:
    """What was replayed: the commits, their span in days, and the documents with their edits.

    `left_out` names each document that has no history here, and why.
    """

    repository: str
    tip: str
    commits: int
    days: float
    histories: tuple[History, ...]
    left_out: tuple[tuple[str, str], ...]


def own_history(
    place: GitPlace,
    selection: Selection,
    *,
    last: int | None = None,
    since: str | None = None,
) -> Window:
    """Read a repository's history below a path.

    Raises:
        InputError: there is no commit in the window (`empty-history`).
        NotFoundError: no such repository or revision.
        UnavailableError: git refuses the repository.
        UnsupportedError: git is not installed.
    """
    repository = Repository(place.repository)
    tip = repository.commit(place.revision)
    commits = repository.history(tip, last=last, since=since)
    if not commits:
        raise InputError(
            f"{place.repository} has no commit in that window",
            kind="empty-history",
            subject=place.repository,
            expected="one commit or more",
            found="none",
            remedy="take more with --last, or an earlier --since",
        )
    tracks = _followed(repository, commits, os.fsencode(place.path))
    kept = [one for one in tracks if _is_document(selection, one.path)]
    changed = [one for one in kept if len(one.oids) > 1]
    contents = _contents(repository, changed)
    name = os.path.basename(os.path.abspath(place.repository).rstrip("/")).removesuffix(".git")
    found = [_history(name, one, contents, selection) for one in changed]
    return Window(
        name,
        tip,
        len(commits),
        (commits[-1].time_s - commits[0].time_s) / 86_400,
        tuple(one for one in found if isinstance(one, History)),
        tuple(one for one in found if not isinstance(one, History)),
    )


def _is_document(selection: Selection, path: bytes) -> bool:
    return selection.refusal(path, "100644", 0) is None


def _followed(repository: Repository, commits: Sequence[Commit], below: bytes) -> list[Track]:
    """Every file that was there or came, through all commits, in the order of their last paths."""
    first = commits[0]
    tracks: dict[bytes, Track] = {}
    if first.parent:
        for entry in repository.tree(first.parent, below):
            if _is_plain(entry.mode):
                tracks[entry.path] = Track(entry.path, [entry.oid], [first.time_s])
    gone: list[Track] = []
    for commit, changes in repository.changes(commits):
        gone += _apply(tracks, changes, commit.time_s, below)
    every = [*gone, *tracks.values()]
    return sorted(every, key=lambda one: (one.path, one.times_s))


def _is_plain(mode: str) -> bool:
    return mode.startswith("100")


def _apply(
    tracks: dict[bytes, Track], changes: Iterable[Change], time_s: int, below: bytes
) -> Iterator[Track]:
    """Follow a commit; yields the documents that it ended.

    All old paths leave before any new one arrives, so that two files may swap their names.
    """
    listed = list(changes)
    moved: dict[bytes, Track] = {}
    for one in listed:
        if one.status in "RD" and (track := tracks.pop(one.old_path, None)):
            if one.status == "D" or not _beneath(one.path, below) or not _is_plain(one.mode):
                yield track
            else:
                moved[one.path] = track
    for one in listed:
        if one.status == "D" or not _beneath(one.path, below):
            continue
        if not _is_plain(one.mode):
            if track := tracks.pop(one.path, None):
                yield track
            continue
        track = moved.get(one.path) or tracks.get(one.path) or Track(one.path)
        track.path = one.path
        track.see(one.oid, time_s)
        tracks[one.path] = track


def _beneath(path: bytes, below: bytes) -> bool:
    return not below or path == below or path.startswith(below + b"/")


def _contents(repository: Repository, tracks: Sequence[Track]) -> dict[str, bytes | None]:
    oids = list(dict.fromkeys(chain.from_iterable(one.oids for one in tracks)))
    return dict(zip(oids, repository.blobs(oids), strict=True))


def _history(
    repository: str, track: Track, contents: dict[str, bytes | None], selection: Selection
) -> History | tuple[str, str]:
    """The history of a document, or its name and why it has none."""
    name = printable(track.path)
    content_type = content_type_of(track.path)
    revisions = []
    for oid in track.oids:
        content = contents[oid]
        if content is None:
            return name, "an object is missing"
        if len(content) > selection.max_bytes:
            return name, f"too large: {len(content)} bytes"
        if is_lfs_pointer(content):
            return name, "a pointer to a large file"
        try:
            text = decode(Revision(content, content_type)).characters
        except InputError as error:
            return name, error.kind
        revisions.append(Revised(text, content_type))
    language = language_of(revisions[-1].text)
    return History(name, repository, language, "chains", "primary", tuple(revisions))


def printable(path: bytes) -> str:
    """A path as text; bytes that are no UTF-8 and control characters are escaped."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def language_of(text: str) -> str:
    """`zh` where a fifth of the atoms are CJK characters or more, else `en`."""
    found = ATOM.findall(text[:20_000])
    cjk = sum(1 for atom in found if len(atom) == 1 and atom > "\u3000" and atom.isalpha())
    return "zh" if found and cjk >= _CJK_SHARE * len(found) else "en"
