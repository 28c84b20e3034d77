"""What every chunker is: a frozen value with a spec, that turns a text into spans."""

from dataclasses import dataclass, fields
from typing import Any, NoReturn, Protocol, runtime_checkable

from variorum.chunking.tokens import TokenMap
from variorum.records.errors import InputError
from variorum.records.text import Span, Structure


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


def canonical_spec(name: str, chunker: Any) -> str:
    """`name(a=1, b=2)` with every field of the frozen dataclass, sorted by name."""
    names = sorted(field.name for field in fields(chunker))
    printed = ", ".join(f"{field}={getattr(chunker, field)}" for field in names)
    return f"{name}({printed})"


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
