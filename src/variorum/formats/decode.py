"""Bytes to characters, strictly: every character maps back to its bytes, or the document is held.

UTF-8 is read with or without a byte-order mark, UTF-16 and UTF-32 only with one. The mark is not a
character of the text. Line ends and NUL are kept.
"""

import codecs
from typing import Final

from variorum.records.errors import InputError
from variorum.records.text import Revision, Text

# UTF-32 first: its little-endian mark starts with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "a program"),
    (b"BZh91AY&SY", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office document"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"OggS\x00", "an Ogg stream"),
    (b"\x00asm", "a WebAssembly program"),
    (b"\xca\xfe\xba\xbe", "a program"),
)
_GIF: Final = (b"GIF87a", b"GIF89a")
_GIF_HEADER_BYTES: Final = 13
_PROBE_BYTES: Final = 8192
_MIN_CONTROLS: Final = 8
_MAX_CONTROL_SHARE: Final = 0.1
# Tab, LF, VT, FF, CR and ESC occur in text; the other controls hardly ever.
_CONTROLS: Final = bytes(sorted({*range(32), 127} - {9, 10, 11, 12, 13, 27}))


class UndecodableError(InputError):
    """The bytes are not text in their encoding; `position` is the first bad byte's offset."""

    def __init__(self, revision: Revision, encoding: str, position: int, found: str) -> None:
        super().__init__(
            f"the content is not valid {encoding}: {found}",
            kind="undecodable",
            subject=f"revision {revision.sha256[:16]}",
            expected="UTF-8, or UTF-16 or UTF-32 with a byte-order mark",
            found=found,
            remedy="save the file as UTF-8",
        )
        self.position = position


class BinaryContentError(InputError):
    """The content is not text at all, whatever its name says."""

    def __init__(self, revision: Revision, found: str) -> None:
        super().__init__(
            f"the content is not text but {found}",
            kind="binary",
            subject=f"revision {revision.sha256[:16]}",
            expected="text",
            found=found,
            remedy="exclude the file; or, if it is text in UTF-16, save it as UTF-8",
        )


def _binary_format(content: bytes) -> str:
    """What the content's first bytes say that it is, or ""."""
    for magic, name in _MAGIC:
        if content.startswith(magic):
            return name
    # A text may well start with the word GIF89a; an image goes on with sizes, which hold NULs.
    is_gif = content.startswith(_GIF) and b"\0" in content[:_GIF_HEADER_BYTES]
    return "a GIF image" if is_gif else ""


def _encoding(content: bytes) -> tuple[str, int]:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding, len(mark)
    return "utf-8", 0


def _control_share(characters: str) -> float:
    """Share of control characters, 0.0 where there are only a few. Linear."""
    encoded = characters.encode()
    controls = len(encoded) - len(encoded.translate(None, _CONTROLS))
    return controls / len(characters) if controls >= _MIN_CONTROLS else 0.0


def decode(revision: Revision) -> Text:
    """The text of a revision. No character is replaced, dropped or folded.

    Raises:
        BinaryContentError: an image, an archive, a program and the like: known first bytes, bytes
            that are not text with NULs among the first 8 KiB, or over a tenth of control
            characters.
        UndecodableError: a byte sequence that its encoding does not allow, lone surrogates
            included.
    """
    content = revision.content
    if binary := _binary_format(content):
        raise BinaryContentError(revision, binary)
    encoding, bom_bytes = _encoding(content)
    try:
        characters = content[bom_bytes:].decode(encoding)
    except UnicodeDecodeError as error:
        if not bom_bytes and b"\0" in content[:_PROBE_BYTES]:
            raise BinaryContentError(revision, "bytes that are not text, NULs included") from None
        position = bom_bytes + error.start
        found = f"byte 0x{content[position]:02X} at position {position}"
        raise UndecodableError(revision, encoding, position, found) from None
    share = _control_share(characters)
    if share > _MAX_CONTROL_SHARE:
        raise BinaryContentError(revision, f"{share:.0%} control characters")
    return Text(characters, encoding, bom_bytes)
