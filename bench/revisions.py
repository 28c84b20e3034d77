"""Pairs of real revisions, read once: structure, places of tokens, and remembered counts."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bench.study import SHARED
from variorum.chunking import TokenMap
from variorum.chunking.chunker import Reading
from variorum.embedding import embedder_from_spec
from variorum.formats import parse
from variorum.records.protocols import Role, Sizer, SplitsAtBlanks, Tokenizer
from variorum.records.text import Structure, Text

PAIRS = SHARED / "revisions" / "pairs.jsonl.gz"
CALIBRATION = SHARED / "revisions" / "calibration.jsonl.gz"
MODEL = "e5-small"
NO_LIMIT = 4_096
"""Tokens of an input that no chunker of a study comes near: sizes are the chunker's own."""

_CONTENT_TYPES = {"md": "text/markdown", "mdx": "text/markdown", "rst": "text/x-rst"}


@dataclass(eq=False)
class RememberingTokenizer:
    """Another tokenizer, each text tokenized once."""

    inner: Tokenizer
    known_starts: dict[str, list[int]] = field(default_factory=dict)
    known_counts: dict[str, int] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        return self.inner.fingerprint

    @property
    def splits_at_blanks(self) -> bool:
        return isinstance(self.inner, SplitsAtBlanks) and self.inner.splits_at_blanks

    def starts(self, text: str) -> list[int]:
        found = self.known_starts.get(text)
        if found is None:
            found = self.known_starts[text] = self.inner.starts(text)
        return found

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        missing = [one for one in dict.fromkeys(texts) if one not in self.known_counts]
        if missing:
            counts = self.inner.count_many(missing)
            self.known_counts.update(zip(missing, counts, strict=True))
        return [self.known_counts[one] for one in texts]


class RememberingSizer:
    """The default model's counts, each input counted once, and a limit that nothing meets."""

    def __init__(self, inner: Sizer, max_tokens: int = NO_LIMIT) -> None:
        self._inner = inner
        self._known: dict[str, int] = {}
        self.tokenizer = RememberingTokenizer(inner.tokenizer)
        self.max_tokens = max_tokens

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """Tokens as sent: the model's prefix and its special tokens included."""
        missing = [one for one in dict.fromkeys(inputs) if one not in self._known]
        if missing:
            self._known.update(zip(missing, self._inner.count(missing, role), strict=True))
        return [self._known[one] for one in inputs]


class UncountedSizer:
    """The same tokenizer without exact counts: enough to see where cuts fall."""

    def __init__(self, tokenizer: Tokenizer, max_tokens: int = NO_LIMIT) -> None:
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return [1] * len(inputs)


def model_sizer(max_tokens: int = NO_LIMIT) -> RememberingSizer:
    return RememberingSizer(embedder_from_spec(MODEL), max_tokens)


@dataclass(frozen=True)
class Version:
    """One text as every chunker of a study is given it."""

    text: str
    content_type: str
    tokenizer: Tokenizer

    @cached_property
    def structure(self) -> Structure:
        return parse(Text(self.text), self.content_type)

    @cached_property
    def tokens(self) -> TokenMap:
        return TokenMap.of(self.text, self.tokenizer)

    @cached_property
    def reading(self) -> Reading:
        return Reading(self.text, self.structure, self.tokens)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two revisions of one document, one after the other."""

    name: str
    repository: str
    language: str
    band: str
    old: Version
    new: Version


def read_pairs(tokenizer: Tokenizer, file: Path = PAIRS, limit: int | None = None) -> list[Pair]:
    """The pairs, or the first `limit` of each language."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        found = [_pair(json.loads(line), tokenizer) for line in lines]
    if limit is None:
        return found
    by_language = [[one for one in found if one.language == name] for name in ("en", "zh")]
    return [one for group in by_language for one in group[:limit]]


def _pair(record: dict[str, str], tokenizer: Tokenizer) -> Pair:
    return Pair(
        record["id"],
        record["repo"],
        record["lang"],
        record["band"],
        Version(record["old_text"], content_type(record["old_path"]), tokenizer),
        Version(record["new_text"], content_type(record["path"]), tokenizer),
    )


def content_type(path: str) -> str:
    """By the ending of a file's name."""
    return _CONTENT_TYPES.get(path.rpartition(".")[2], "text/plain")
