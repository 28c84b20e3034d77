import codecs
import hashlib

import pytest

from variorum.formats import BinaryContentError, UndecodableError, decode, parse
from variorum.records.errors import InputError
from variorum.records.text import Revision, Span, Text

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def text_of(content: bytes) -> Text:
    return decode(Revision(content, "text/markdown"))


def found_at(text: Text, word: str) -> Span:
    start = text.characters.index(word)
    return Span(start, start + len(word))


def test_line_ends_are_kept_and_the_revision_is_named_by_its_bytes() -> None:
    """OFF-06."""
    content = b"# A\r\n\r\none\r\ntwo\r\n"
    revision = Revision(content, "text/markdown")
    text = decode(revision)
    assert revision.sha256 == hashlib.sha256(content).hexdigest()
    assert text.characters == content.decode()
    blocks = parse(text, "text/markdown").blocks
    assert [text.characters[b.start : b.end] for b in blocks] == ["# A\r\n", "one\r\ntwo\r\n"]
    assert blocks[-1].end == len(content) == 17


def test_a_nul_in_valid_utf_8_is_a_character_like_any_other() -> None:
    """UNI-05."""
    content = b"# a\0b\n\nabc\0def\n"
    text = text_of(content)
    assert text.byte_span(found_at(text, "c\0d")) == (9, 12)
    structure = parse(text, "text/markdown")
    assert [b.heading_path for b in structure.blocks] == [("ab",), ("ab",)]
    assert content[structure.blocks[1].start :] == b"abc\0def\n"


def test_a_file_that_is_not_utf_8_is_refused_at_its_first_bad_byte() -> None:
    """UNI-08."""
    with pytest.raises(UndecodableError) as caught:
        text_of(b"caf\xe9 \x93quote\x94")
    assert caught.value.position == 3
    assert caught.value.found == "byte 0xE9 at position 3"
    assert caught.value.kind == "undecodable"
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    ("content", "position"),
    [
        (b"ok \xc3", 3),
        (b"\xed\xa0\x80", 0),
        (codecs.BOM_UTF8 + b"a\xff", 4),
        (codecs.BOM_UTF16_LE + b"a\0\x00\xd8b\0", 4),
        (codecs.BOM_UTF16_BE + b"\0a\0", 4),
        (codecs.BOM_UTF32_LE + b"a\0\0\0\0\0\x11\0", 8),
    ],
)
def test_a_broken_sequence_is_named_by_its_place_in_the_file(content: bytes, position: int) -> None:
    with pytest.raises(UndecodableError) as caught:
        text_of(content)
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("content", "start", "line"),
    [
        ("😀😀 target".encode(), 9, 1),
        (codecs.BOM_UTF8 + "😀😀 target".encode(), 12, 1),
        (codecs.BOM_UTF16_LE + "😀😀 target".encode("utf-16-le"), 12, 1),
        (codecs.BOM_UTF16_BE + "😀\n😀target".encode("utf-16-be"), 12, 2),
        (codecs.BOM_UTF32_LE + "😀\r😀target".encode("utf-32-le"), 16, 2),
        (codecs.BOM_UTF32_BE + "😀\r\ntarget".encode("utf-32-be"), 16, 2),
    ],
)
def test_characters_are_cited_in_code_points_and_bytes(
    content: bytes, start: int, line: int
) -> None:
    """CIT-01."""
    text = text_of(content)
    span = found_at(text, "target")
    assert span == (3, 9)
    byte_span = text.byte_span(span)
    assert byte_span.start == start
    assert content[byte_span.start : byte_span.end].decode(text.encoding) == "target"
    assert text.line_of(span.start) == line


def test_lines_end_at_lf_cr_and_cr_lf_and_nowhere_else() -> None:
    text = Text("a\nb\rc\r\nd\x0b\x0c\x85\u2028e\n\rf")
    assert text.line_starts == [0, 2, 4, 7, 14, 15]
    assert [text.line_of(i) for i in (0, 1, 2, 4, 6, 7, 13, 14, 15)] == [1, 1, 2, 3, 3, 4, 4, 5, 6]


@pytest.mark.parametrize(
    "content",
    [
        PNG,
        b"\xff\xd8\xff\xe0\0\x10JFIF",
        b"GIF89a\x01\0\x01\0\0\0\0;",
        b"%PDF-1.7\nplain",
        b"PK\x03\x04\x14\0",
        b"\x1f\x8b\x08\0",
        b"\x7fELF\x02\x01\x01",
        b"unknown \0\xff\xfe\xfd",
        "utf-16 without a mark".encode("utf-16-le"),
        bytes(range(1, 9)) * 4,
    ],
)
def test_what_is_not_text_is_told_apart_from_bad_text(content: bytes) -> None:
    """FIL-04: a binary file with a text suffix."""
    with pytest.raises(BinaryContentError) as caught:
        text_of(content)
    assert caught.value.kind == "binary"


@pytest.mark.parametrize(
    "content", [b"", b" \n\t\r\n", b"GIF89a is a format", b"\x1b[31mred\x1b[0m", b"\0", b"PK"]
)
def test_odd_text_is_still_text(content: bytes) -> None:
    """FIL-04: empty and blank files are present, with no block."""
    text = text_of(content)
    assert text.characters.encode() == content
    if not content.strip():
        assert parse(text, "text/markdown").blocks == ()
        assert parse(text, "text/plain").blocks == ()
