"""The commented variorum.toml that `init` writes."""

import json
import os
import re
from pathlib import Path

from variorum.door.naming import kind_of, source_name_of
from variorum.records.arguments import words

_TEMPLATE = """\
# Variorum: what is indexed, and how. Every setting is optional but a source's root.

[store]
path = ".variorum"            # a folder on a local disk; relative to this file
vectors = "float32"           # "float16" halves the vectors; see docs/reference.md for its cost

[model]
spec = "e5-small"             # multilingual-e5-small, runs offline; or hashing() for dry runs
# usd_per_million_tokens = 0.02   # what `variorum plan` prices tokens at

[chunking]
chunker = "anchored"          # or fixed(max_tokens=304), recursive(max_tokens=400), and so on
planner = true                # keep old boundaries where that saves embedding
heading_depth = 0             # headings put before the text for embedding; 0 for none

[sources.NAME]
KIND
root = "ROOT"
# include = ["**/*.md", "**/*.txt"]
# exclude = ["drafts/**"]
# max_bytes = 10000000        # larger files are reported, not indexed
# ignore_files = true         # honour .gitignore and .variorumignore

[collections.default]         # what is searched together, and whose it is
tenant = "local"
sources = ["NAME"]
"""

_KINDS = {
    "folder": 'kind = "folder"               # or "jsonl", for one JSON object a line',
    "jsonl": 'kind = "jsonl"                # one {"id", "text" or "path", "metadata"} a line',
}
_FOLDERS_ONLY = re.compile(r"^# (?:include|exclude|ignore_files) = .*\n", re.MULTILINE)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def template(root: str, folder: Path = Path()) -> str:
    """A commented variorum.toml, to lie in `folder`, for the documents in `root`.

    The source has the name that `variorum sync ROOT` gives it without a configuration.

    Raises:
        InputError: TOML cannot write the path, which is no UTF-8.
    """
    path = Path(words("FOLDER", root))
    elsewhere = folder.resolve() != Path.cwd() and not path.is_absolute()
    written = os.path.relpath(path.resolve(), folder.resolve()) if elsewhere else root
    name, kind = source_name_of(path), kind_of(path)
    text = _FOLDERS_ONLY.sub("", _TEMPLATE) if kind == "jsonl" else _TEMPLATE
    key = name if _BARE_KEY.fullmatch(name) else _quoted(name)
    text = text.replace("[sources.NAME]", f"[sources.{key}]").replace('"NAME"', _quoted(name))
    return text.replace("KIND", _KINDS[kind]).replace('"ROOT"', _quoted(written))


def _quoted(text: str) -> str:
    """The text as a string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
