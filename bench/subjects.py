"""Every chunker of the studies behind one shape, and its setting for a given mean size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log2
from statistics import fmean
from zlib import crc32

import numpy as np

from bench.revisions import UncountedSizer
from variorum.chunking import lay_out
from variorum.lab.atoms import atoms
from variorum.lab.counting import StudySizer
from variorum.lab.peers import PEERS, Split
from variorum.lab.record import versions
from variorum.lab.subjects import Cut
from variorum.lab.versions import Version
from variorum.records.layout import PreviousLayout, Recipe
from variorum.records.protocols import Sizer, Tokenizer, Vectors
from variorum.records.text import Span

SIZES = (100, 200, 370)
TOLERANCE = 0.05
_CLOSE = 0.01
_TRIES = 8

SPLITTERS = {
    "semantic-text-splitter Markdown": "semantic-text-splitter-markdown",
    "semantic-text-splitter Text": "semantic-text-splitter",
    "LangChain Recursive": "langchain-recursive",
    "LangChain Markdown": "langchain-markdown",
    "semchunk": "semchunk",
    "Chonkie Recursive": "chonkie-recursive",
}
"""The peers of the studies, and what the lab calls them."""

DIMENSIONS = 256


@dataclass(frozen=True)
class Ours:
    """A chunker of this library, with the planner or alone, through `lay_out`."""

    spec: str
    planner: bool = False
    heading_depth: int = 0

    def cut(self, version: Version, sizer: Sizer, previous: Cut | None = None) -> Cut:
        recipe = Recipe(self.spec, self.planner, self.heading_depth, "bench", "bench", "bench")
        before = None
        if self.planner and previous is not None and previous.layout is not None:
            before = PreviousLayout(previous.version.text, previous.layout)
        layout = lay_out(version.text, version.structure, recipe, sizer, before, word_vectors)
        spans = [Span(chunk.start, chunk.end) for chunk in layout.chunks]
        return Cut(version, spans, layout.inputs, layout)


@dataclass(frozen=True)
class Peer:
    """A splitter of another library; what it gives without its outer blanks is the input."""

    name: str
    size: int

    @property
    def spec(self) -> str:
        return str(self.size)

    def cut(self, version: Version, sizer: Sizer, previous: Cut | None = None) -> Cut:
        spans = split(self.name, self.size, sizer.tokenizer)(version.text)
        return Cut(version, spans, [version.text[start:end] for start, end in spans])


@lru_cache
def split(name: str, size: int, tokenizer: Tokenizer) -> Split:
    """The splitter of a peer at a size in tokens."""
    return PEERS[SPLITTERS[name]].make({"max_tokens": size}, tokenizer)


def installed_versions() -> dict[str, str]:
    return versions([*(PEERS[name].package for name in SPLITTERS.values()), "kara-toolkit"])


def sizes_of(cut: Cut) -> list[int]:
    """Tokens that start in each range."""
    return [cut.version.tokens.count(*span) for span in cut.spans]


def word_vectors(inputs: Sequence[str]) -> Vectors:
    """Hashed words in place of a model: they show how stable semantic cuts are, not how good."""
    vectors = np.zeros((len(inputs), DIMENSIONS), dtype=np.float32)
    for row, text in enumerate(inputs):
        for atom in atoms(text):
            vectors[row, crc32(atom.encode()) % DIMENSIONS] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)


Subject = Ours | Peer


@dataclass(frozen=True, slots=True)
class Family:
    """A chunker with one size left open."""

    name: str
    at: Callable[[int], Subject]

    @property
    def ours(self) -> bool:
        return self.name not in SPLITTERS


def _scaled(size: int, ratio: float = 0.3) -> str:
    return f"max_tokens={size}, min_tokens={max(1, round(ratio * size))}"


def _anchored(size: int) -> str:
    """With the ratio that the study `settings` chose."""
    return f"anchored({_scaled(size, 0.2)})"


def _content_defined(size: int, words: str) -> str:
    """Half the maximum as the minimum, and masks hit once in about three quarters of it."""
    bits = max(4, round(log2(0.73 * size)))
    window = 48 if words == "whole" else 16
    return (
        f"content_defined(min_tokens={size // 2}, max_tokens={size}, window_words={window},"
        f" primary_mask_bits={bits}, backup_mask_bits={bits - 2}, words={words})"
    )


def families() -> list[Family]:
    """Ours, then the peers."""
    recursive = {
        "recursive (paper)": "rules=paper, terminators=any",
        "recursive (paper, spaced)": "rules=paper, terminators=spaced",
        "recursive (guide)": "rules=guide",
        "recursive (default)": "rules=default",
    }
    specs: dict[str, Callable[[int], str]] = {
        "anchored": _anchored,
        "fixed": lambda size: f"fixed(max_tokens={size})",
        "fixed_characters": lambda size: f"fixed_characters(max_characters={size})",
        **{
            name: lambda size, rest=rest: f"recursive(max_tokens={size}, {rest})"
            for name, rest in recursive.items()
        },
        "content_defined (words)": lambda size: _content_defined(size, "whole"),
        "content_defined (segmented)": lambda size: _content_defined(size, "segmented"),
        "structural": lambda size: f"structural({_scaled(size)})",
        "semantic (hashed words)": lambda size: f"semantic({_scaled(size)})",
    }
    found = [Family("anchored + planner", lambda size: Ours(_anchored(size), True))]
    found += [
        Family(name, lambda size, spec=spec: Ours(spec(size))) for name, spec in specs.items()
    ]
    return found + [Family(name, lambda size, name=name: Peer(name, size)) for name in SPLITTERS]


def mean_size(subject: Subject, versions: Sequence[Version], sizer: StudySizer) -> float:
    """Mean tokens of a chunk over all chunks of the versions, each cut afresh."""
    plain = subject if isinstance(subject, Peer) else replace(subject, planner=False)
    sizes = [size for one in versions for size in _sizes(plain, one, sizer)]
    return fmean(sizes)


def _sizes(subject: Subject, version: Version, sizer: StudySizer) -> list[int]:
    quick = sizer if isinstance(subject, Peer) else UncountedSizer(sizer.tokenizer)
    try:
        return sizes_of(subject.cut(version, quick))
    except Exception:
        return []


def tuned(
    family: Family,
    target: float,
    versions: Sequence[Version],
    sizer: StudySizer,
    close: float = _CLOSE,
) -> tuple[int, float]:
    """(size, mean) of the family whose mean comes nearest to `target`, or `close` to it.

    Bisection between a size that is too small and one that is too large, guessed in proportion.
    """
    low, high = 0, 0
    size = round(target)
    found: dict[int, float] = {}
    for _ in range(_TRIES):
        if size in found:
            break
        mean = found[size] = mean_size(family.at(size), versions, sizer)
        if abs(mean - target) <= close * target:
            break
        low, high = (max(low, size), high) if mean < target else (low, min(high or size, size))
        guess = round(size * target / mean)
        inside = low < guess and (not high or guess < high)
        size = guess if inside else (low + high) // 2 if high else 2 * size
    best = min(found, key=lambda one: abs(found[one] - target))
    return best, found[best]
