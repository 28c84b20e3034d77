"""What every source checks or tells the same way: names and content types."""

from variorum.records.errors import InputError
from variorum.records.names import SOURCE_NAME

MARKDOWN = "text/markdown"
PLAIN = "text/plain"

_SUFFIXES = {
    **dict.fromkeys((b"md", b"markdown", b"mdown", b"mdx"), MARKDOWN),
    **dict.fromkeys((b"html", b"htm"), "text/html"),
    b"xhtml": "application/xhtml+xml",
    b"rst": "text/x-rst",
    b"ipynb": "application/x-ipynb+json",
    b"json": "application/json",
    b"jsonl": "application/x-ndjson",
    b"ndjson": "application/x-ndjson",
    b"csv": "text/csv",
    b"tsv": "text/tab-separated-values",
    b"vtt": "text/vtt",
    b"srt": "application/x-subrip",
}
KNOWN = frozenset({PLAIN, *_SUFFIXES.values()})


def content_type_of(name: bytes) -> str:
    """The content type that a name's suffix stands for, in either case; else `text/plain`."""
    _, dot, suffix = name.rpartition(b".")
    return _SUFFIXES.get(suffix.lower(), PLAIN) if dot else PLAIN


def checked_source_name(name: str) -> str:
    """The name itself.

    Raises:
        InputError: it is not a letter or digit, then letters, digits, `_`, `-`, `.`.
    """
    if not SOURCE_NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a source",
            kind="bad-source-name",
            subject=name,
            expected="a letter or digit, then letters, digits, '_', '-', '.'",
            found=name,
            remedy="choose such a name",
        )
    return name
