"""Where documents come from: listings and bytes. Never decodes, chunks or stores.

A listing speaks for its own source only, and one that cannot be completed raises: a document is
removed only where a complete listing does not hold it (invariant 7).
"""

from variorum.sources.folder import DEFAULT_INCLUDE, SKIP_REASONS, FolderSource
from variorum.sources.git import GIT_SKIP_REASONS, GitSource
from variorum.sources.jsonl import JsonLinesSource

__all__ = [
    "DEFAULT_INCLUDE",
    "GIT_SKIP_REASONS",
    "SKIP_REASONS",
    "FolderSource",
    "GitSource",
    "JsonLinesSource",
]
