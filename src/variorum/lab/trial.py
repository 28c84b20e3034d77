"""One document under every chunker of a study: its edits, its counts, its failures.

The control comes first: a version against itself embeds nothing, for every document and chunker. A
chunker that fails on a document has no numbers there, and the reason stays in the tables.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from variorum.lab.atoms import Edit, edit
from variorum.lab.costs import Step, edited_tokens, step, steps
from variorum.lab.counting import StudySizer
from variorum.lab.histories import History
from variorum.lab.subjects import Cut, Ours, Subject, subject
from variorum.lab.versions import TextRule, Version, under_rule

RULES = 1
"""Raised with every change of what is counted: results of older rules are counted again."""
_REASON = 160


@dataclass(frozen=True, slots=True)
class Settings:
    """What a document is measured under, beside the chunkers.

    `least_tokens` and `most_tokens` bound every version; a document outside is excluded, with the
    reason. `cap_tokens` is the most content tokens of an input.
    """

    model: str
    text_rule: TextRule = "exact"
    cap_tokens: int | None = None
    least_tokens: int | None = None
    most_tokens: int | None = None

    def as_fields(self) -> dict[str, object]:
        """The settings as JSON fields."""
        return {
            "model": self.model,
            "text": self.text_rule,
            "cap_tokens": self.cap_tokens,
            "least_tokens": self.least_tokens,
            "most_tokens": self.most_tokens,
            "rules": RULES,
        }

    def key(self, history: History, tokenizer: str) -> str:
        """Identity of a document's results: its texts, the tokenizer and these settings."""
        parts = [history.sha256, tokenizer, json.dumps(self.as_fields(), sort_keys=True)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class EditCounts:
    """One edit in atoms, and its edited tokens."""

    removed: int
    added: int
    old_atoms: int
    new_atoms: int
    edited_tokens: int

    @property
    def edit(self) -> Edit:
        """The counts as an edit, its places left out."""
        return Edit(self.removed, self.added, self.old_atoms, self.new_atoms, ())


@dataclass(frozen=True, slots=True)
class Tried:
    """One document under one chunker: a step a revision after the first, or why there is none.

    `sizes` are the content tokens of each version's chunks. `control` is what the no-edit control
    recomputed, in tokens: anything but 0 is a fault of the pipeline.
    """

    spec: str
    steps: tuple[Step, ...] = ()
    sizes: tuple[tuple[int, ...], ...] = ()
    control: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A document's results under every chunker, by spec; `excluded` says why it has none."""

    key: str
    edits: tuple[EditCounts, ...]
    text_tokens: tuple[int, ...]
    tried: Mapping[str, Tried]
    excluded: str = ""

    def as_fields(self) -> dict[str, Any]:
        """The results as JSON fields, which `measured` reads back."""
        return {
            "key": self.key,
            "excluded": self.excluded,
            "text_tokens": self.text_tokens,
            "edits": [_values(one) for one in self.edits],
            "tried": {
                spec: {
                    "steps": [_values(one) for one in tried.steps],
                    "sizes": tried.sizes,
                    "control": tried.control,
                    "failure": tried.failure,
                }
                for spec, tried in self.tried.items()
            },
        }


def _values(record: Any) -> list[int | None]:
    return [getattr(record, name) for name in record.__dataclass_fields__]


def measured(fields: Mapping[str, Any]) -> Measured:
    """Read back what `Measured.as_fields` wrote."""
    tried = {
        spec: Tried(
            spec,
            tuple(Step(*counts) for counts in one["steps"]),
            tuple(map(tuple, one["sizes"])),
            one["control"],
            one["failure"],
        )
        for spec, one in fields["tried"].items()
    }
    edits = tuple(EditCounts(*counts) for counts in fields["edits"])
    return Measured(fields["key"], edits, tuple(fields["text_tokens"]), tried, fields["excluded"])


@dataclass(slots=True)
class Spent:
    """CPU seconds of measuring, by stage and, of cutting, by chunker; no second counts twice.

    Tokenizing is a stage of its own, wherever it is asked for: of the texts, and of the inputs.
    """

    stages_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    cutting_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, other: "Spent") -> None:
        """Take another's seconds in."""
        for stage, spent in other.stages_s.items():
            self.stages_s[stage] += spent
        for spec, spent in other.cutting_s.items():
            self.cutting_s[spec] += spent

    def as_fields(self) -> dict[str, object]:
        """The seconds as JSON fields, to the millisecond."""
        stages = {f"{name}_s": round(self.stages_s.get(name, 0.0), 3) for name in STAGES}
        cutting = {spec: round(spent, 3) for spec, spent in self.cutting_s.items()}
        return {**stages, "cutting_by_chunker_s": cutting}


STAGES = (
    "tokenizing_texts",
    "tokenizing_inputs",
    "parsing",
    "diffing",
    "cutting",
    "controls",
    "measuring",
)


class Trial:
    """Measures documents one after the other with one sizer."""

    def __init__(
        self,
        sizer: StudySizer,
        settings: Settings,
        clock: Callable[[], float] = process_time,
    ) -> None:
        self._sizer = sizer
        self._settings = settings
        self._clock = clock
        self._spent = Spent()

    def measure(
        self, history: History, specs: Sequence[str], known: Measured | None = None
    ) -> tuple[Measured, Spent]:
        """The results of a document under the specs; those of `known` are not counted again."""
        self._spent = Spent()
        try:
            return self._measured(history, specs, known), self._spent
        finally:
            self._sizer.forget()

    def _measured(self, history: History, specs: Sequence[str], known: Measured | None) -> Measured:
        versions = self._versions(history)
        key = self._settings.key(history, self._sizer.tokenizer.fingerprint)
        text_tokens = self._text_tokens(versions)
        if excluded := self._excluded(text_tokens):
            return Measured(key, (), text_tokens, {}, excluded)
        edits, places = self._edits(history, versions)
        tried = dict(known.tried) if known else {}
        for spec in specs:
            if spec not in tried:
                tried[spec] = self._tried(subject(spec).fresh(), versions, places)
        return Measured(key, edits, text_tokens, tried)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        """Count what is done inside to a stage, but what the tokenizer takes of it to its own."""
        begun, before = self._clock(), self._sizer.tokenizer.spent_s
        try:
            yield
        finally:
            tokenizing = self._sizer.tokenizer.spent_s - before
            self._spent.stages_s["tokenizing_inputs"] += tokenizing
            self._spent.stages_s[name] += self._clock() - begun - tokenizing

    def _text_tokens(self, versions: Sequence[Version]) -> tuple[int, ...]:
        begun = self._clock()
        found = tuple(version.tokens.total for version in versions)
        self._spent.stages_s["tokenizing_texts"] += self._clock() - begun
        return found

    def _versions(self, history: History) -> list[Version]:
        rule = self._settings.text_rule
        with self._stage("parsing"):
            versions = [
                Version(
                    under_rule(one.text, one.content_type, rule),
                    one.content_type,
                    self._sizer.tokenizer,
                )
                for one in history.revisions
            ]
            for version in versions:
                _ = version.structure
        return versions

    def _excluded(self, text_tokens: Sequence[int]) -> str:
        least, most = self._settings.least_tokens, self._settings.most_tokens
        for number, tokens in enumerate(text_tokens, 1):
            if least is not None and tokens < least:
                return f"version {number} has {tokens} tokens, under {least}"
            if most is not None and tokens > most:
                return f"version {number} has {tokens} tokens, over {most}"
        return "" if len(text_tokens) > 1 else "there is one version only"

    def _edits(
        self, history: History, versions: Sequence[Version]
    ) -> tuple[tuple[EditCounts, ...], list[NDArray[np.int64]]]:
        strip = history.shape == "chains"
        counts, places = [], []
        with self._stage("diffing"):
            for old, new in pairwise(versions):
                found = edit(old.text, new.text, strip=strip)
                places.append(edited_tokens(new, found))
                sides = (found.removed, found.added, found.old_atoms, found.new_atoms)
                counts.append(EditCounts(*sides, len(places[-1])))
        return tuple(counts), places

    def _tried(
        self, one: Subject, versions: Sequence[Version], edits: Sequence[NDArray[np.int64]]
    ) -> Tried:
        try:
            cuts = self._cuts(one, versions)
            with self._stage("controls"):
                control = self._control(one, cuts)
            with self._stage("measuring"):
                sizes = tuple(self._sizes(cut) for cut in cuts)
                found = tuple(steps(cuts, edits, self._sizer))
        except Exception as error:  # a peer may raise anything; its failure is a result
            return Tried(one.spec, failure=f"{type(error).__name__}: {error}"[:_REASON])
        return Tried(one.spec, found, sizes, control)

    def _cuts(self, one: Subject, versions: Sequence[Version]) -> list[Cut]:
        before = self._spent.stages_s["cutting"]
        cuts: list[Cut] = []
        with self._stage("cutting"):
            for version in versions:
                cuts.append(one.cut(version, self._sizer, cuts[-1] if cuts else None))
        self._spent.cutting_s[one.spec] += self._spent.stages_s["cutting"] - before
        return cuts

    def _control(self, one: Subject, cuts: Sequence[Cut]) -> int:
        """Tokens that the first version embeds again when nothing changed, and the last one."""
        ends = [cuts[0], cuts[-1]] if isinstance(one, Ours) else [cuts[0]]
        fresh = one.fresh()
        nothing = np.empty(0, dtype=np.int64)
        total = 0
        for cut in ends:
            again = fresh.cut(cut.version, self._sizer, cut)
            total += step(cut, again, set(cut.inputs), nothing, self._sizer).recomputed
        return total

    def _sizes(self, cut: Cut) -> tuple[int, ...]:
        return tuple(count - self._sizer.overhead for count in self._sizer.count(cut.inputs))
