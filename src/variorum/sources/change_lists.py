"""Reading lists of changes: paths, what git prints of a comparison, or unified diffs.

Lines of `git diff --raw` and `git diff --name-status`, plain paths, one a line; or a unified diff
with the prefixes `a/` and `b/`. What cannot be read for certain is a fault of the whole list:
nobody knows then what else it meant to say.
"""

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from variorum.records.changes import Changes, Mention

if TYPE_CHECKING:
    from unidiff.patch import Hunk, PatchedFile

_STATUS = re.compile(r"([AMDTRC])\d{0,3}")
_RAW = re.compile(r":\d{6} \d{6} ([0-9a-f]{4,64}) ([0-9a-f]{4,64}) (\w\d{0,3})")
_IS_DIFF = re.compile(r"^(diff --git |diff --(cc|combined) |--- .*\n\+\+\+ )", re.MULTILINE)
_INDEX = re.compile(r"index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})")
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})|(\\)|(")')
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_NOWHERE = "/dev/null"


class UnreadableError(ValueError):
    """A list that cannot be read for certain, and why."""


def read_changes(content: bytes) -> Changes:
    """Every statement of a list; one that cannot be read gives `fault` alone."""
    text = content.decode("utf-8", "surrogateescape")
    try:
        if "\0" in text:
            raise UnreadableError("a NUL: give a list without -z")
        found = _of_diff(text) if _IS_DIFF.search(text) else _of_lines(text)
        return Changes(tuple(found))
    except UnreadableError as error:
        return Changes(fault=str(error))


def _of_lines(text: str) -> Iterator[Mention]:
    for number, line in enumerate(text.split("\n"), start=1):
        if stripped := line.removesuffix("\r"):
            yield from _of_line(stripped, number)


def _of_line(line: str, number: int) -> Iterator[Mention]:
    first, *paths = line.split("\t")
    raw = _RAW.fullmatch(first)
    old, new, status = (raw[1], raw[2], raw[3]) if raw else ("", "", first)
    known = _STATUS.fullmatch(status)
    if line.startswith(":") or (paths and re.fullmatch(r"[A-Z]\d*", first)):
        if not known or len(paths) != (2 if known[1] in "RC" else 1):
            raise UnreadableError(f"line {number}: {line!r}")
        yield from _of_status(known[1], [_path(one) for one in paths], old, new)
    else:
        yield Mention(_path(line), is_there=None)


def _of_status(status: str, paths: list[bytes], old: str, new: str) -> Iterator[Mention]:
    if status in "RC":
        yield Mention(paths[0], is_there=status == "C", old=old, new="0" if status == "R" else old)
        yield Mention(paths[1], is_there=True, old="0", new=new)
    else:
        yield Mention(paths[0], is_there=status != "D", old=old, new=new)


def _path(printed: str) -> bytes:
    """The bytes of a path as git prints it: in quotes with escapes, or as it is."""
    path = printed.encode("utf-8", "surrogateescape")
    if not path.startswith(b'"'):
        return path
    if len(path) < 2 or not path.endswith(b'"'):
        raise UnreadableError(f"a path with a quotation mark: {printed!r}")
    return _ESCAPE.sub(_unescaped, path[1:-1])


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[1] is None:
        raise UnreadableError(f"a path with what is no escape: {found[0]!r}")
    if len(found[1]) == 3:
        return bytes([int(found[1], 8) & 0xFF])
    return bytes([_ESCAPED[found[1][0]]])


def _of_diff(text: str) -> Iterator[Mention]:
    # Imported here: only a diff needs it.
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        files = list(PatchSet(io.StringIO(text, newline="\n")))
    except UnidiffParseError as error:
        raise UnreadableError(f"a diff that breaks off: {error}") from None
    announced = len(re.findall(r"^diff --", text, re.MULTILINE))
    hunks = len(re.findall(r"^@@", text, re.MULTILINE))
    if announced not in (0, len(files)) or hunks != sum(map(len, files)) or not files:
        raise UnreadableError(f"a diff of {announced} files, of which not all can be read")
    for one in files:
        yield from _of_file(one)


def _of_file(file: "PatchedFile") -> Iterator[Mention]:
    source, target = str(file.source_file), str(file.target_file)
    old_path, new_path = _prefixed(source, b"a/"), _prefixed(target, b"b/")
    info = "".join(map(str, file.patch_info or []))
    stated = _INDEX.search(info)
    old, new = (stated[1], stated[2]) if stated else ("", "")
    hunks = tuple(_hunk(hunk) for hunk in file)
    if old_path is not None and old_path == new_path:
        is_deleted = "\ndeleted file mode" in info
        yield Mention(old_path, is_there=not is_deleted, old=old, new=new, hunks=hunks)
        return
    if old_path is not None:
        stays = "\ncopy from " in info
        yield Mention(old_path, is_there=stays, old=old, new=old if stays else "0")
    if new_path is not None:
        yield Mention(new_path, is_there=True, old="0", new=new)


def _prefixed(printed: str, prefix: bytes) -> bytes | None:
    """The path behind git's prefix; None for the file that is none."""
    if printed == _NOWHERE:
        return None
    path = _path(printed)
    if not path.startswith(prefix):
        raise UnreadableError(f"a path without the prefix {prefix.decode()}: {printed!r}")
    return path[len(prefix) :]


def _hunk(hunk: "Hunk") -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    lines = [(line.line_type, line.value.removesuffix("\n")) for line in hunk]
    old = tuple(value for kind, value in lines if kind in " -")
    new = tuple(value for kind, value in lines if kind in " +")
    return int(hunk.source_start), old, new
