"""Text to the terms that lexical search finds it by: the same for a document and for a query."""

from variorum.analysis.terms import ANALYZER, QueryTerm, query_terms, terms

__all__ = ["ANALYZER", "QueryTerm", "query_terms", "terms"]
