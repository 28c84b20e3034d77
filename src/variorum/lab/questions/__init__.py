"""Questions with evidence: data sets read into frozen records, each split once."""

from variorum.lab.questions.loading import load_questions
from variorum.lab.questions.records import (
    Alternative,
    Dataset,
    Passage,
    Place,
    Question,
    Reading,
)

__all__ = [
    "Alternative",
    "Dataset",
    "Passage",
    "Place",
    "Question",
    "Reading",
    "load_questions",
]
