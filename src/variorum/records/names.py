"""Printable names of documents and citations.

Grammar (one token, no white space)::

    document = source ":" path
    citation = document "@" revision "[" start ":" end "]"
    source   = a letter or digit of any script, then letters, digits, marks, "_", "-", "."
    path     = any printable character except  % @ [ ] : " ' ` \\ and white space,
               or "%" and two hex digits for one byte of the path
    revision = 8 to 64 lower-case hex digits, the head of the SHA-256 of the revision's bytes
    start, end = decimal code-point offsets into the revision's text, half-open

A path is bytes. Bytes that are valid UTF-8 and printable stand for themselves, every other byte is
escaped, so that a name in any language reads as itself and a name that is not UTF-8 survives.
"""

import re
import unicodedata
from dataclasses import dataclass

from variorum.records.arguments import bad_parameter, whole
from variorum.records.errors import InputError

SOURCE_NAME_RULE = "a letter or digit, then letters, digits, '_', '-', '.'"
_ESCAPED = frozenset("%@[]:\"'`\\")
_PRINTED_PATH = re.compile(r"(?:%[0-9A-Fa-f]{2}|[^\s%@\[\]:\"'`\\])+")
_REVISION = re.compile(r"[0-9a-f]{8,64}")
_CITATION = re.compile(
    rf"(?P<document>[^@\[\]\s]+)@(?P<revision>{_REVISION.pattern})"
    r"\[(?P<start>[0-9]{1,18}):(?P<end>[0-9]{1,18})\]"
)
_MAX_OFFSET = 10**18 - 1
REVISION_DIGITS = 16
"""Hex digits of a revision's SHA-256 that a citation of ours carries."""


def may_stand_in_source_name(character: str) -> bool:
    """Whether a character may follow the first of a source's name."""
    return character.isalnum() or character in "_-." or unicodedata.category(character)[0] == "M"


def is_source_name(name: str) -> bool:
    """Whether a source or a collection may have this name."""
    return name[:1].isalnum() and all(map(may_stand_in_source_name, name))


def _print_path(path: bytes) -> str:
    printed: list[str] = []
    for character in path.decode("utf-8", "surrogateescape"):
        if character.isprintable() and not character.isspace() and character not in _ESCAPED:
            printed.append(character)
        else:
            octets = character.encode("utf-8", "surrogateescape")
            printed.extend(f"%{octet:02X}" for octet in octets)
    return "".join(printed)


def _parse_path(printed: str) -> bytes:
    if not (_PRINTED_PATH.fullmatch(printed) and printed.isprintable()):
        raise ValueError(printed)
    octets = bytearray()
    position = 0
    while position < len(printed):
        if printed[position] == "%":
            octets.append(int(printed[position + 1 : position + 3], 16))
            position += 3
        else:
            octets += printed[position].encode()
            position += 1
    return bytes(octets)


@dataclass(frozen=True, slots=True, order=True)
class DocumentName:
    """A document's stable identity: the source that lists it and its path there, as exact bytes."""

    source: str
    path: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.source, str):
            raise bad_parameter("source", "a string", self.source)
        if not isinstance(self.path, bytes):
            raise bad_parameter("path", "bytes", self.path)

    def __str__(self) -> str:
        return f"{self.source}:{_print_path(self.path)}"

    @property
    def is_printable(self) -> bool:
        """Whether `parse` reads the printed name back."""
        return is_source_name(self.source) and bool(self.path)

    @property
    def printed_path(self) -> str:
        """The path as printed in names: percent-escaped where it must be."""
        return _print_path(self.path)

    @classmethod
    def parse(cls, printed: str) -> "DocumentName":
        """Read a printed name back.

        Raises:
            InputError: `printed` is not `source:path`.
        """
        if not isinstance(printed, str):
            raise bad_parameter("printed", "a string", printed)
        source, colon, path = printed.partition(":")
        try:
            octets = _parse_path(path)
        except ValueError:
            colon = ""
            octets = b""
        if not colon or not octets or not is_source_name(source):
            raise InputError(
                f"{printed!r} is not a document name",
                kind="bad-document-name",
                subject=printed,
                expected="source:path, with %XX for each escaped byte",
                found=printed or "an empty string",
                remedy="copy the name from `variorum plan -v` or `variorum search`",
            )
        return cls(source, octets)


@dataclass(frozen=True, slots=True)
class Citation:
    """A character range of one exact revision of a document; equal to what its print reads as.

    `revision` is the SHA-256 of the revision's bytes in hex: its first 8 to 64 digits.

    Raises:
        InputError: a part is not of its type, or the grammar of citations has no place for it.
    """

    document: DocumentName
    revision: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not (isinstance(self.document, DocumentName) and self.document.is_printable):
            raise bad_parameter("document", "a DocumentName of a source and a path", self.document)
        if not (isinstance(self.revision, str) and _REVISION.fullmatch(self.revision)):
            raise bad_parameter("revision", "8 to 64 lower-case hex digits", self.revision)
        if not whole("start", self.start, 0) <= whole("end", self.end, 0) <= _MAX_OFFSET:
            found = f"{self.start} to {self.end}"
            raise bad_parameter("end", f"from start to {_MAX_OFFSET}", found)

    @classmethod
    def of(cls, document: DocumentName, sha256: str, start: int, end: int) -> "Citation":
        """A citation as it is printed: by the first digits of the revision's SHA-256."""
        return cls(document, sha256[:REVISION_DIGITS], start, end)

    def __str__(self) -> str:
        return f"{self.document}@{self.revision}[{self.start}:{self.end}]"

    @classmethod
    def parse(cls, printed: str) -> "Citation":
        """Read a printed citation back.

        Raises:
            InputError: `printed` does not follow the grammar.
        """
        if not isinstance(printed, str):
            raise bad_parameter("printed", "a string", printed)
        match = _CITATION.fullmatch(printed.strip())
        if match is None or int(match["start"]) > int(match["end"]):
            raise InputError(
                f"{printed!r} is not a citation",
                kind="bad-citation",
                subject=printed,
                expected="document@revision[start:end]",
                found=printed or "an empty string",
                remedy="copy the citation as `variorum search` printed it, in quotes",
            )
        document = DocumentName.parse(match["document"])
        return cls(document, match["revision"], int(match["start"]), int(match["end"]))
