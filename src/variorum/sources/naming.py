"""What every source checks or tells the same way: names and content types."""

from variorum.records.errors import InputError
from variorum.records.names import SOURCE_NAME

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
KNOWN = frozenset({MARKDOWN, PLAIN})

_MARKDOWN_SUFFIXES = frozenset({b"md", b"markdown", b"mdown", b"mdx"})


def content_type_of(name: bytes) -> str:
    """`text/markdown` for the Markdown suffixes in either case, else `text/plain`."""
    return MARKDOWN if name.rpartition(b".")[2].lower() in _MARKDOWN_SUFFIXES else PLAIN


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
