"""Pairs of real revisions as the studies of chunkers take them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.study import SHARED
from variorum.embedding import embedder_from_spec
from variorum.lab.atoms import edit
from variorum.lab.counting import StudySizer
from variorum.lab.histories import read_histories
from variorum.lab.versions import Version
from variorum.records.protocols import Role, Tokenizer

PAIRS = SHARED / "revisions" / "pairs.jsonl.gz"
CALIBRATION = SHARED / "revisions" / "calibration.jsonl.gz"
MODEL = "e5-small"
NO_LIMIT = 4_096
"""Tokens of an input that no chunker of a study comes near: sizes are the chunker's own."""


class UncountedSizer:
    """The same tokenizer without exact counts: enough to see where cuts fall."""

    def __init__(self, tokenizer: Tokenizer, max_tokens: int = NO_LIMIT) -> None:
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return [1] * len(inputs)


def model_sizer(max_tokens: int = NO_LIMIT) -> StudySizer:
    return StudySizer(embedder_from_spec(MODEL), max_tokens)


@dataclass(frozen=True)
class Pair:
    """Two revisions of one document, one after the other."""

    name: str
    repository: str
    language: str
    old: Version
    new: Version

    @cached_property
    def band(self) -> str:
        return edit(self.old.text, self.new.text).band


def read_pairs(tokenizer: Tokenizer, file: Path = PAIRS, limit: int | None = None) -> list[Pair]:
    """The pairs, or the first `limit` of each language."""
    found = []
    for one in read_histories(file, limit):
        old, new = (Version(each.text, each.content_type, tokenizer) for each in one.revisions)
        found.append(Pair(one.document, one.repository, one.language, old, new))
    return found
