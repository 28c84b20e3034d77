"""Documents in a JSON Lines file: one line, one document, named by its `id`.

A line is an object with these fields and no others:

- `id`: a string; its UTF-8 bytes are the document's path.
- `text`: the content, or `path`: a file relative to the folder of the JSON Lines file.
- `content_type`, optional: one of `naming.KNOWN`. By default what the suffix of `path`
  says, and `text/plain` for `text`.
- `metadata`, optional: a flat object with values of str, int, float, bool.

Blank lines and a byte-order mark at the start are passed over. Any other bad line fails the whole
listing, so that a typing error never removes a document. A `path` is opened without following a
symlink and may not leave the folder.
"""

import json
import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from variorum.records.errors import InputError, NotFoundError, UnavailableError
from variorum.records.protocols import Listed, Skipped
from variorum.sources.beneath import is_beneath, open_beneath, read_beneath, unavailable
from variorum.sources.naming import (
    KNOWN,
    PLAIN,
    checked_source_name,
    content_type_of,
    printed_path,
)

_FIELDS: Final = frozenset({"id", "text", "path", "content_type", "metadata"})
_ESCAPE_BYTES: Final = 6
"""Most bytes that JSON needs for one byte of UTF-8: \\u0041."""
_LINE_OVERHEAD_BYTES: Final = 1_000_000
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BOM: Final = b"\xef\xbb\xbf"


def _bad_line(number: int, where: str, expected: str, found: str) -> InputError:
    return InputError(
        f"line {number}, {where}: expected {expected}, found {found}",
        kind="bad-line",
        subject=f"line {number}, {where}",
        expected=expected,
        found=found,
        remedy="correct the line; nothing was changed",
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """A parsed line; `content` is None where the text is in the file `path`."""

    path: bytes
    content_type: str
    content: bytes | None
    file: bytes = b""
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a document's line is: all that is kept of it between listing and reading."""

    number: int
    offset: int


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field given twice")
    return fields


def _no_constant(constant: str) -> float:
    raise ValueError(f"{constant}, which is not JSON")


def _why(error: Exception) -> str:
    """What is wrong with a line, for people."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    if isinstance(error, UnicodeDecodeError):
        return f"a byte that is not UTF-8 at byte {error.start}"
    return "values too deep within each other" if isinstance(error, RecursionError) else str(error)


def _parse_object(line: bytes, number: int) -> dict[str, object]:
    try:
        value = json.loads(line.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _bad_line(number, "the whole line", "one JSON object in UTF-8", _why(error)) from None
    if not isinstance(value, dict):
        raise _bad_line(number, "the whole line", "a JSON object", type(value).__name__)
    for unknown in sorted(value.keys() - _FIELDS):
        raise _bad_line(number, repr(unknown), "one of " + ", ".join(sorted(_FIELDS)), "that name")
    return value


def _string(value: dict[str, object], name: str, number: int) -> bytes:
    """The field's UTF-8 bytes."""
    found = value.get(name)
    if not isinstance(found, str):
        shown = type(found).__name__ if name in value else "no such field"
        raise _bad_line(number, repr(name), "a string", shown)
    try:
        return found.encode()
    except UnicodeEncodeError as error:
        found = f"half of a surrogate pair at character {error.start}"
        raise _bad_line(number, repr(name), "valid Unicode", found) from None


def _is_flat(item: object) -> bool:
    """Whether the value can be stored: valid Unicode, 64 bits, finite."""
    if isinstance(item, str):
        return not _SURROGATE.search(item)
    if isinstance(item, float):
        return math.isfinite(item)
    return isinstance(item, int) and -(2**63) <= item < 2**63


def _metadata(value: dict[str, object], number: int) -> dict[str, str | int | float | bool]:
    found = value.get("metadata", {})
    if not isinstance(found, dict):
        raise _bad_line(number, "'metadata'", "a flat object", type(found).__name__)
    for key, item in found.items():
        if not (_is_flat(key) and _is_flat(item)):
            expected = "a str, a 64-bit int, a finite float or a bool"
            raise _bad_line(number, f"'metadata', key {key!r}", expected, type(item).__name__)
    return found


def _content_type(value: dict[str, object], file: bytes, number: int) -> str:
    default = content_type_of(file) if file else PLAIN
    found = value.get("content_type", default)
    if not isinstance(found, str) or found not in KNOWN:
        raise _bad_line(number, "'content_type'", " or ".join(sorted(KNOWN)), repr(found))
    return found


def _parse_line(line: bytes, number: int) -> _Line:
    """The document of a line.

    Raises:
        InputError: `bad-line`, naming the line and the field.
    """
    value = _parse_object(line, number)
    path = _string(value, "id", number)
    if not path:
        raise _bad_line(number, "'id'", "at least one character", "an empty string")
    if ("text" in value) == ("path" in value):
        found = "both" if "text" in value else "neither"
        raise _bad_line(number, "'text'", "either 'text' or 'path'", found)
    file = _string(value, "path", number) if "path" in value else b""
    if "path" in value and not is_beneath(file):
        raise _bad_line(
            number, "'path'", "a relative path without '.' or '..'", repr(value["path"])
        )
    content = _string(value, "text", number) if "text" in value else None
    return _Line(path, _content_type(value, file, number), content, file, _metadata(value, number))


class JsonLinesSource:
    """The documents of one JSON Lines file.

    A text over `max_bytes` is skipped as `too-large`. Kept in memory: paths, metadata and line
    offsets, never the texts, which are read again from their lines.

    Raises:
        InputError: a bad name (`bad-source-name`).
    """

    def __init__(
        self, name: str, root: str | os.PathLike[str], max_bytes: int = 10_000_000
    ) -> None:
        self._name = checked_source_name(name)
        self._file = os.path.abspath(os.fsencode(root))
        self._folder = os.path.dirname(self._file)
        self._max_bytes = max_bytes
        self._places: dict[bytes, _Place] = {}

    @property
    def name(self) -> str:
        """The configured name, unique in a collection."""
        return self._name

    @property
    def root(self) -> str:
        """The JSON Lines file's absolute path."""
        return os.fsdecode(self._file)

    def list(self) -> Iterator[Listed | Skipped]:
        """Every document, sorted by path bytes; nothing is yielded before the last line was read.

        Raises:
            NotFoundError: the file is not there (`no-such-file`).
            InputError: a line is not a document, or an id is used twice (`bad-line`); the root is
                no regular file (`not-a-file`).
            UnavailableError: the file, or one that a line names, cannot be read.
        """
        places: dict[bytes, _Place] = {}
        found: list[Listed | Skipped] = []
        with self._open() as stream, self._naming_the_file():
            for place, raw in self._lines(stream):
                line = _parse_line(raw, place.number)
                if line.path in places:
                    first = places[line.path].number
                    raise _bad_line(place.number, "'id'", "a new id", f"the id of line {first}")
                places[line.path] = place
                found.append(self._listed(line, place.number))
        self._places = places
        yield from sorted(found, key=lambda item: item.path)

    def read(self, listed: Listed) -> bytes:
        """The document's bytes: its text in UTF-8, or those of the file that its line names.

        Lists first where no listing was taken, and then raises as `list` does.

        Raises:
            UnavailableError: the JSON Lines file changed since it was listed (`changed-source`), or
                the named file cannot be read (as for a folder).
        """
        if listed.path not in self._places:
            for _ in self.list():
                pass
        line = self._read_again(listed.path)
        if line.content is not None:
            return line.content
        return read_beneath(self._folder, line.file, self._max_bytes)

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        """Errors about a line say of which file it is."""
        try:
            yield
        except InputError as error:
            shown = printed_path(os.path.basename(self._file))
            raise InputError(
                f"{shown}, {error.message}",
                kind=error.kind,
                subject=f"{shown}, {error.subject}",
                expected=error.expected,
                found=error.found,
                remedy=error.remedy,
            ) from None

    def _open(self) -> BinaryIO:
        try:
            if not stat.S_ISREG(os.stat(self._file).st_mode):
                raise InputError(
                    f"{self.root!r} is not a regular file",
                    kind="not-a-file",
                    subject=self.root,
                    expected="a JSON Lines file",
                    found="a folder or a special file",
                    remedy="name the file itself, or use a folder source",
                )
            return open(self._file, "rb")
        except FileNotFoundError:
            raise NotFoundError(
                f"the file {self.root!r} does not exist",
                kind="no-such-file",
                subject=self.root,
                expected="a JSON Lines file",
                found="nothing at that path",
                remedy="check the path, and that the disk it is on is mounted",
            ) from None
        except OSError as error:
            found = error.strerror or str(error)
            raise unavailable(self._file, "unreadable-file", found, "make it readable") from None

    def _lines(self, stream: BinaryIO) -> Iterator[tuple[_Place, bytes]]:
        limit = _ESCAPE_BYTES * self._max_bytes + _LINE_OVERHEAD_BYTES
        number, offset = 0, 0
        while line := stream.readline(limit + 1):
            number += 1
            if len(line) > limit:
                raise _bad_line(number, "the whole line", f"at most {limit} bytes", "a longer line")
            content = line.removeprefix(_BOM) if offset == 0 else line
            if content.strip():
                yield _Place(number, offset), content
            offset += len(line)

    def _listed(self, line: _Line, number: int) -> Listed | Skipped:
        size_bytes = self._size_of(line, number) if line.content is None else len(line.content)
        if size_bytes > self._max_bytes:
            return Skipped(line.path, "too-large", f"{size_bytes} bytes, over {self._max_bytes}")
        return Listed(line.path, line.content_type, size_bytes, line.metadata)

    def _size_of(self, line: _Line, number: int) -> int:
        try:
            descriptor, _ = open_beneath(self._folder, line.file)
        except UnavailableError as error:
            raise _bad_line(number, "'path'", error.expected, error.found) from None
        try:
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def _read_again(self, path: bytes) -> _Line:
        place = self._places.get(path)
        if place is not None:
            with self._open() as stream:
                stream.seek(place.offset)
                raw = stream.readline(_ESCAPE_BYTES * self._max_bytes + _LINE_OVERHEAD_BYTES)
            try:
                line = _parse_line(
                    raw.removeprefix(_BOM) if place.offset == 0 else raw, place.number
                )
            except InputError:
                line = None
            if line is not None and line.path == path:
                return line
        raise unavailable(path, "changed-source", "not in its line any more", "run again")
