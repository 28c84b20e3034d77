"""The retrieval index for documents that keep changing.

The door is `variorum.open`; everything else here is what it takes and gives.
"""

from variorum.access.principals import Principal
from variorum.access.tokens import TokenRules, TokenVerifier
from variorum.door.index import Index, PlanView
from variorum.door.index import open_index as open
from variorum.records.errors import VariorumError
from variorum.records.hits import Answer, CitedText, Hit
from variorum.records.names import Citation, DocumentName
from variorum.records.protocols import Embedder, Source
from variorum.records.reports import Report

__all__ = [
    "Answer",
    "Citation",
    "CitedText",
    "DocumentName",
    "Embedder",
    "Hit",
    "Index",
    "PlanView",
    "Principal",
    "Report",
    "Source",
    "TokenRules",
    "TokenVerifier",
    "VariorumError",
    "open",
]
