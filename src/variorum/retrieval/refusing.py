"""What cannot be asked: a query that is none, and a generation that the model cannot answer for."""

from variorum.records.arguments import words
from variorum.records.errors import InputError, UnsupportedError
from variorum.records.protocols import Embedder
from variorum.store.view import View


def require_askable(view: View, embedder: Embedder, query: str) -> None:
    """Refuse a query that the model cannot be asked about this generation.

    Raises:
        InputError: it is no text, or blank.
        UnsupportedError: the generation was embedded by another model.
    """
    require_query(query)
    require_same_model(view, embedder)


def require_query(query: str) -> None:
    """Refuse what cannot be searched for.

    Raises:
        InputError: it is no text, or blank.
    """
    if not isinstance(query, str) or query.strip():
        words("query", query)
        return
    raise InputError(
        "the query is blank",
        kind="blank-query",
        expected="some words to search for",
        found=repr(query),
        remedy='give the query in quotes: variorum search "your question"',
    )


def require_same_model(view: View, embedder: Embedder) -> None:
    """Refuse to compare vectors of two models (invariant 4).

    Raises:
        UnsupportedError: the generation was embedded by another model.
    """
    if view.generation.model_fingerprint != embedder.identity.fingerprint:
        raise UnsupportedError(
            f"generation {view.generation.number} was embedded by another model",
            kind="model-mismatch",
            subject=view.generation.model_spec,
            expected=view.generation.model_fingerprint,
            found=embedder.identity.fingerprint,
            remedy="search a newer generation, or install the model that it names",
        )
