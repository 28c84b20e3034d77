"""What every source checks or tells the same way: names and content types."""

import os

from variorum.records.errors import InputError
from variorum.records.names import SOURCE_NAME_RULE, is_source_name

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
_SUFFIXES = {
    MARKDOWN: "md markdown mdown mdx",
    "text/html": "html htm",
    "application/xhtml+xml": "xhtml",
    "text/x-rst": "rst",
    "application/x-ipynb+json": "ipynb",
    "application/json": "json",
    "application/x-ndjson": "jsonl ndjson",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/vtt": "vtt",
    "application/x-subrip": "srt",
    "text/x-python": "py pyi pyw",
    "text/javascript": "js mjs cjs jsx",
    "text/typescript": "ts mts cts",
    "text/tsx": "tsx",
    "text/x-go": "go",
    "text/x-rust": "rs",
    "text/x-java": "java",
    "text/x-c": "c h",
    "text/x-c++": "cc cpp cxx c++ hh hpp hxx h++",
    # Without a parser: read as plain text, which their own type makes a fallback that is reported.
    "text/x-zig": "zig",
    "text/x-kotlin": "kt kts",
    "text/x-swift": "swift",
    "text/x-scala": "scala",
    "text/x-csharp": "cs",
    "text/x-ruby": "rb",
    "text/x-php": "php",
    "text/x-perl": "pl pm",
    "text/x-lua": "lua",
    "text/x-haskell": "hs",
    "text/x-elixir": "ex exs",
    "text/x-dart": "dart",
    "text/x-shellscript": "sh bash zsh",
    "text/x-sql": "sql",
}
_BY_SUFFIX = {
    suffix.encode(): content_type
    for content_type, suffixes in _SUFFIXES.items()
    for suffix in suffixes.split()
}
KNOWN = frozenset({PLAIN, *_SUFFIXES})


def content_type_of(name: bytes) -> str:
    """The content type of a known suffix in either case, else `text/plain`."""
    return _BY_SUFFIX.get(name.rpartition(b".")[2].lower(), PLAIN)


def checked_source_name(name: str) -> str:
    """The name itself.

    Raises:
        InputError: it is not a letter or digit, then letters, digits, marks, `_`, `-`, `.`.
    """
    if not is_source_name(name):
        raise InputError(
            f"{name!r} cannot name a source",
            kind="bad-source-name",
            subject=name,
            expected=SOURCE_NAME_RULE,
            found=name,
            remedy="choose such a name",
        )
    return name


def printed_path(path: bytes) -> str:
    """A path for people: what no character stands for is escaped."""
    return os.fsdecode(path).encode("utf-8", "backslashreplace").decode()
