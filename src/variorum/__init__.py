"""The retrieval index for documents that keep changing.

The door is `variorum.open`; everything else here is what it takes and gives.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from variorum.access.principals import Principal
    from variorum.access.tokens import TokenRules, TokenVerifier
    from variorum.door.index import Index, PlanView
    from variorum.door.index import open_index as open
    from variorum.records.context import Context, Passage
    from variorum.records.errors import VariorumError
    from variorum.records.hits import Answer, CitedText, Hit
    from variorum.records.names import Citation, DocumentName
    from variorum.records.protocols import Embedder, Reranker, Source, TokenCounter
    from variorum.records.reports import Report

__all__ = [
    "Answer",
    "Citation",
    "CitedText",
    "Context",
    "DocumentName",
    "Embedder",
    "Hit",
    "Index",
    "Passage",
    "PlanView",
    "Principal",
    "Report",
    "Reranker",
    "Source",
    "TokenCounter",
    "TokenRules",
    "TokenVerifier",
    "VariorumError",
    "open",
]

_HOMES = {
    "Principal": "access.principals",
    "TokenRules": "access.tokens",
    "TokenVerifier": "access.tokens",
    "Index": "door.index",
    "PlanView": "door.index",
    "open": "door.index",
    "VariorumError": "records.errors",
    "Context": "records.context",
    "Passage": "records.context",
    "Answer": "records.hits",
    "CitedText": "records.hits",
    "Hit": "records.hits",
    "Citation": "records.names",
    "DocumentName": "records.names",
    "Embedder": "records.protocols",
    "Reranker": "records.protocols",
    "Source": "records.protocols",
    "TokenCounter": "records.protocols",
    "Report": "records.reports",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for.

    So the command line runs its own code, which answers to Ctrl-C, before anything large loads.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOMES[name]}")
    value = getattr(home, "open_index" if name == "open" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
