"""What a model would be given of the passages that answer a question."""

from dataclasses import asdict, dataclass
from typing import Literal, get_args

from variorum.records.names import Citation, DocumentName

Expand = Literal["none", "neighbours", "section"]
"""How far a passage that was found reaches: alone, with the one before and after it in its
document, or with the section that it stands in.
"""
EXPANSIONS: tuple[Expand, ...] = get_args(Expand)

Format = Literal["prompt", "markdown", "json"]
"""How a context is written."""
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class Passage:
    """A range of one revision: `text` is `revision_text[start:end]`, exactly (invariant 1).

    It holds one chunk or several that stand together. `number` is how the context names it; `ranks`
    are those, in the search, of the hits that it holds. Lines are 1-based and inclusive;
    `heading_path` is that of its beginning. `standing` and what follows are as in a `Hit`.
    """

    number: int
    document: DocumentName
    revision: str
    start: int
    end: int
    start_line: int
    end_line: int
    heading_path: tuple[str, ...]
    text: str
    citation: Citation
    ranks: tuple[int, ...]
    standing: str | None
    status: str | None
    status_by: str | None
    status_at: str | None
    effective_from: str | None
    effective_until: str | None

    def as_fields(self) -> dict[str, object]:
        """The passage as JSON fields."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        written = {"document": str(self.document), "citation": str(self.citation)}
        lists = {"heading_path": list(self.heading_path), "ranks": list(self.ranks)}
        return {**fields, **written, **lists}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A hit that is not in the context, and why.

    `reason` is `budget` (with it the context would have come to `tokens`, by its parts) or
    `duplicate` (a chunk with the very same text is in it; `tokens` is None).
    """

    rank: int
    citation: str
    reason: str
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Context:
    """Passages within a budget, as a model is given them, with what was left out.

    `text` is empty where nothing fits. `tokens` are those of `text`, whole, never above `budget`.
    `mode`, `fallback` and `effective` are as in an `Answer`.
    """

    generation: int
    query: str
    effective: str
    mode: str
    fallback: str | None
    budget: int
    tokens: int
    format: Format
    expand: Expand
    text: str
    passages: tuple[Passage, ...]
    left_out: tuple[LeftOut, ...]

    def as_fields(self) -> dict[str, object]:
        """The context as JSON fields."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        passages = [one.as_fields() for one in self.passages]
        return {**fields, "passages": passages, "left_out": [asdict(one) for one in self.left_out]}
