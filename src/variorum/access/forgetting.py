"""A policy's text without a document that was erased."""

import re
import tomllib

from variorum.records.names import DocumentName

NOTHING = '"-:-"'
"""A pattern that names nothing: no source's name begins with a hyphen."""
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)


def without_document(text: str, document: DocumentName) -> str:
    """The policy without patterns that name this document alone, and comments that hold its path.

    It says the same of every other document. A glob that matches others too stays.
    """
    path = document.path.decode("utf-8", "replace")
    pattern = f"{document.source}:{path}"

    def replaced(found: re.Match[str]) -> str:
        token = found[0]
        if token.startswith("#"):
            return "#" if path in token else token
        return NOTHING if tomllib.loads(f"value = {token}")["value"] == pattern else token

    return _TOKEN.sub(replaced, text)
