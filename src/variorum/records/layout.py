"""How a revision is cut: recipes, chunks, layouts, and the identity of an embedding input."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Literal

from variorum.records.text import Span

Purpose = Literal["passage", "query", "window"]
"""What an input is embedded for; a window helps to find where a text is cut."""


@dataclass(frozen=True)
class Recipe:
    """The named, versioned settings that decide a layout and its embedding inputs.

    `chunker` is a canonical spec such as `anchored(max_tokens=220, min_tokens=44)`. `heading_depth`
    is how many heading titles stand before the text in an input, 0 for none. `tokenizer` and
    `model` are fingerprints, `algorithm` names the versions of the rules. The parser is no part of
    it, but of each layout, since it differs by content type.
    """

    chunker: str
    planner: bool
    heading_depth: int
    tokenizer: str
    model: str
    algorithm: str

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the settings: equal recipes, and only they, share it."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A half-open character range of a text; `tokens` counts its input as sent to the model.

    `prefix` is what stands before the chunk's own text in its input, such as headings; it is
    stored apart, and never part of the cited text.
    """

    start: int
    end: int
    tokens: int
    heading_path: tuple[str, ...] = ()
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The ordered chunks of one revision under one recipe, and the input of each (same order)."""

    chunks: tuple[Chunk, ...]
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreviousLayout:
    """An older revision's characters and its layout, for the reuse planner."""

    characters: str
    layout: Layout

    @property
    def spans(self) -> tuple[Span, ...]:
        """The ranges it was cut into."""
        return tuple(Span(chunk.start, chunk.end) for chunk in self.layout.chunks)


def output_key(scope: str, name: str, version: str, text: str) -> bytes:
    """Identity of a derived output: a SHA-256 over scope, function, version and the text."""
    digest = hashlib.sha256(b"output")
    for part in (scope, name, version):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def input_key(scope: str, model_fingerprint: str, purpose: Purpose, text: str) -> bytes:
    """Identity of an embedding input (invariant 3): a SHA-256 over scope, model, purpose, input.

    Nothing positional, no time, no path: equal inputs of one tenant share one vector.
    """
    digest = hashlib.sha256()
    for part in (scope, model_fingerprint, purpose):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()
