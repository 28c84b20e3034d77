"""The documents whose edits cost most beyond what they changed: old and new chunks side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from variorum.embedding import embedder_from_spec
from variorum.lab.comparison import Document, by_set, document_mean
from variorum.lab.counting import StudySizer
from variorum.lab.statistics import mean
from variorum.lab.subjects import Cut, subject
from variorum.lab.trial import Settings
from variorum.lab.versions import Version, under_rule

WORST = "worst.json"
MOST = 2
"""Documents shown of each set and language."""

_SHOWN_CHARACTERS = 420
_KEPT_AROUND = 1


@dataclass(frozen=True, slots=True)
class Side:
    """A chunk as it is shown: its range, tokens, and how its text begins and ends."""

    start: int
    end: int
    tokens: int
    text: str

    def as_fields(self) -> dict[str, Any]:
        """The chunk as JSON fields."""
        return {"start": self.start, "end": self.end, "tokens": self.tokens, "text": self.text}


def worst(documents: Sequence[Document], specs: Sequence[str], settings: Settings) -> list[Any]:
    """The worst documents of every set and language, under the chunker that is best there.

    Worst is the most tokens recomputed beyond the edited ones, in one revision.
    """
    sizer = StudySizer(embedder_from_spec(settings.model), settings.cap_tokens)
    found = []
    for name, ours in by_set(documents).items():
        for language in sorted({one.history.language for one in ours}):
            spoken = [one for one in ours if one.history.language == language]
            best = _best(spoken, specs)
            for document, number in _costliest(spoken, best) if best else ():
                shown = _shown(document, best, number, sizer, settings)
                found.append({"set": name, "language": language, **shown})
                sizer.forget()
    return found


def _best(spoken: Sequence[Document], specs: Sequence[str]) -> str:
    """The chunker with the least mean R among those that failed on no document."""
    whole = [spec for spec in specs if all(one.succeeded(spec) for one in spoken)]
    return min(
        whole,
        key=lambda spec: (mean(document_mean(one, spec) for one in spoken), specs.index(spec)),
        default="",
    )


def _costliest(spoken: Sequence[Document], spec: str) -> list[tuple[Document, int]]:
    """(document, number of the revision) of the most unchanged tokens embedded, a document once."""
    waste = []
    for place, one in enumerate(spoken):
        steps = one.tried(spec).steps
        costs = [step.recomputed - step.edited_inside for step in steps]
        number = max(range(len(costs)), key=lambda number: (costs[number], -number))
        waste.append((-costs[number], place, number))
    return [(spoken[place], number) for _, place, number in sorted(waste)[:MOST]]


def _shown(
    document: Document, spec: str, number: int, sizer: StudySizer, settings: Settings
) -> dict[str, Any]:
    old, new = _cuts(document, spec, number, sizer, settings)
    step = document.tried(spec).steps[number]
    return {
        "document": document.history.document,
        "chunker": spec,
        "revision": number + 2,
        "recomputed": step.recomputed,
        "edited": step.edited_inside,
        "total": step.total,
        "edit_fraction": float(document.measured.edits[number].edit.fraction),
        "rows": list(side_by_side(old, new, sizer)),
    }


def _cuts(
    document: Document, spec: str, number: int, sizer: StudySizer, settings: Settings
) -> tuple[Cut, Cut]:
    """The versions before and after a revision, cut as the study cut them: one after the other."""
    one = subject(spec).fresh()
    cuts: list[Cut] = []
    for revised in document.history.revisions[: number + 2]:
        text = under_rule(revised.text, revised.content_type, settings.text_rule)
        version = Version(text, revised.content_type, sizer.tokenizer)
        cuts.append(one.cut(version, sizer, cuts[-1] if cuts else None))
    return cuts[-2], cuts[-1]


def side_by_side(old: Cut, new: Cut, sizer: StudySizer) -> Iterator[dict[str, Any]]:
    """Rows of `kind`, `old` and `new`: chunks that stay are folded into a count, the rest shown.

    `kind` is `same` (one chunk beside a change), `folded` (several that stay) or `changed`.
    """
    matcher = SequenceMatcher(None, list(old.inputs), list(new.inputs), autojunk=False)
    for tag, low, high, start, end in matcher.get_opcodes():
        if tag == "equal":
            yield from _same(old, new, (low, high), (start, end), sizer)
            continue
        for place in range(max(high - low, end - start)):
            yield {
                "kind": "changed",
                "old": _side(old, low + place, sizer) if low + place < high else None,
                "new": _side(new, start + place, sizer) if start + place < end else None,
                "embedded": start + place < end and new.inputs[start + place] not in old.inputs,
            }


def _same(
    old: Cut, new: Cut, before: tuple[int, int], after: tuple[int, int], sizer: StudySizer
) -> Iterator[dict[str, Any]]:
    length = before[1] - before[0]
    folded = max(0, length - 2 * _KEPT_AROUND)
    for place in range(length):
        if folded > 1 and _KEPT_AROUND <= place < length - _KEPT_AROUND:
            if place == _KEPT_AROUND:
                yield {"kind": "folded", "count": folded}
            continue
        yield {
            "kind": "same",
            "old": _side(old, before[0] + place, sizer),
            "new": _side(new, after[0] + place, sizer),
            "embedded": False,
        }


def _side(cut: Cut, place: int, sizer: StudySizer) -> dict[str, Any]:
    span, text = cut.spans[place], cut.inputs[place]
    if len(text) > _SHOWN_CHARACTERS:
        half = _SHOWN_CHARACTERS // 2
        text = f"{text[:half]} … {text[-half:]}"
    return Side(span.start, span.end, sizer.count([cut.inputs[place]])[0], text).as_fields()
