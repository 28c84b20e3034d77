"""What every chunker is: a frozen value with a spec, that turns a text into spans."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NoReturn, Protocol, runtime_checkable

from variorum.chunking.tokens import TokenMap
from variorum.records.errors import InputError
from variorum.records.protocols import Vectors
from variorum.records.text import Span, Structure

Embed = Callable[[Sequence[str]], Vectors]
"""Vectors of inputs, in order: what a chunker that compares meanings is given."""


CUT_ANYWHERE = 9.0
"""Usual penalty of a rule that cuts between any two words or tokens."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes a chunker aims at, in tokens: what the reuse planner compares a span against.

    `usual_penalty` is what each chunk of a fresh layout usually costs by the planner's prices
    because of the rule itself, such as one that cuts at no structural boundary: as much is taken
    for granted of a fresh layout that is not made.
    """

    min_tokens: int
    target_tokens: int
    max_tokens: int
    usual_penalty: float = 0.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as the later steps of a layout see it: line ends folded, structure and tokens."""

    characters: str
    structure: Structure
    tokens: TokenMap


@runtime_checkable
class Chunker(Protocol):
    """A rule that cuts a text into spans; sizes count the tokens that start inside a span.

    The spans of a text that is not empty run from 0 to its end in order, without gaps, and overlap
    only where `overlaps` is true.
    """

    @property
    def spec(self) -> str:
        """The canonical spec, every parameter printed; `chunker_from_spec` reads it back."""
        ...

    @property
    def overlaps(self) -> bool:
        """Whether neighbouring spans share characters."""
        ...

    @property
    def shape(self) -> Shape:
        """The sizes it aims at."""
        ...

    def limited(self, max_tokens: int) -> "Chunker":
        """The same rule where no span may have more than `max_tokens` (at least 1) tokens."""
        ...

    def spans(self, text: str, structure: Structure, tokens: TokenMap) -> list[Span]:
        """The spans of `text`. `tokens` must be built from the same text."""
        ...


@runtime_checkable
class NeedsVectors(Protocol):
    """A chunker that compares meanings: it cuts only when it is given a way to embed."""

    @property
    def needs_vectors(self) -> bool:
        """True."""
        ...

    def with_embed(self, embed: Embed) -> Chunker:
        """The same rule with a way to embed."""
        ...


def canonical_spec(name: str, chunker: Any) -> str:
    """`name(a=1, b=2.5)` with the settings of the frozen dataclass, sorted by name.

    A field that its `repr` hides is no setting, and one that is None is not set.
    """
    names = sorted(field.name for field in fields(chunker) if field.repr)
    values = ((field, getattr(chunker, field)) for field in names)
    printed = (f"{field}={_printed(value)}" for field, value in values if value is not None)
    return f"{name}({', '.join(printed)})"


def _printed(value: float | str) -> str:
    """A number without an exponent, so that every spec reads back; a word as it is."""
    if not isinstance(value, float):
        return str(value)
    whole, _, decimals = f"{value:.9f}".partition(".")
    return f"{whole}.{decimals.rstrip('0') or '0'}"


def refuse(chunker: str, field: str, found: object, allowed: str) -> NoReturn:
    """Raise the error for one setting outside its range.

    Raises:
        InputError: always, kind `bad-parameter`.
    """
    raise InputError(
        f"{chunker}: {field}={found} is not allowed: {allowed}",
        kind="bad-parameter",
        subject=f"{chunker}.{field}",
        expected=allowed,
        found=str(found),
        remedy=f"set {field} within that range",
    )


def refuse_without_model(chunker: Any) -> NoReturn:
    """Raise the error for a chunker that needs vectors where there is no way to embed.

    Raises:
        InputError: always, kind `needs-a-model`.
    """
    raise InputError(
        f"{chunker.spec} compares meanings, and there is no model to embed with",
        kind="needs-a-model",
        subject=chunker.spec,
        expected="a model to embed windows of sentences with",
        found="none",
        remedy="use it where a model is configured, or choose another chunker",
    )
