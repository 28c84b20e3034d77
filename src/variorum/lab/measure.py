"""Measures as values: `nDCG@10` and `recompute_fraction` are read, printed and looked up.

>>> measure("evidence_recall@2048")
Measure(name='evidence_recall', cutoff=2048)
>>> str(measure("nDCG") @ 10)
'nDCG@10'
"""

import re
from dataclasses import dataclass
from typing import Literal, NoReturn

from variorum.records.errors import InputError

Cutoff = Literal["rank", "tokens"]
_SPEC = re.compile(r"\s*([A-Za-z_]+)\s*(?:@\s*(\d{1,9}))?\s*")


@dataclass(frozen=True, slots=True)
class Definition:
    """What a measure is; `better` is `lower`, `higher`, or empty where neither is.

    `cutoff` says what the number behind `@` counts, `proxy` that it stands for something that is
    not measured itself.
    """

    formula: str
    caution: str
    better: Literal["lower", "higher", ""] = "lower"
    cutoff: Cutoff | None = None
    proxy: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """A named measure, with its cut-off where it has one.

    Raises:
        InputError: kind `unknown-measure`, or `bad-parameter` for a cut-off that is missing, not
            allowed or below 1.
    """

    name: str
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if self.name not in MEASURES:
            _refuse_name(self.name)
        if self.cutoff is not None and (self.cutoff < 1 or self.definition.cutoff is None):
            _refuse_cutoff(self)

    def __str__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"

    def __matmul__(self, cutoff: int) -> "Measure":
        return Measure(self.name, cutoff)

    @property
    def definition(self) -> Definition:
        """Its formula, and how it can mislead."""
        return MEASURES[self.name]


def measure(spec: str) -> Measure:
    """Read a measure such as `recall@5`.

    Raises:
        InputError: kind `unknown-measure` or `bad-parameter`.
    """
    match = _SPEC.fullmatch(spec)
    if match is None:
        _refuse_name(spec)
    return Measure(match[1], None if match[2] is None else int(match[2]))


MEASURES: dict[str, Definition] = {
    "recompute_fraction": Definition(
        "tokens of the new version's distinct inputs that are not byte for byte among the previous"
        " version's / tokens of the new version's distinct inputs",
        "falls with smaller chunks whatever the rule: compare at equal mean size",
    ),
    "embedded_fraction": Definition(
        "tokens of the new version's distinct inputs that no earlier version had"
        " / tokens of the new version's distinct inputs",
        "depends on how long a history is kept; reverts cost nothing",
    ),
    "edit_fraction": Definition(
        "(atoms removed + atoms added) / (atoms of the old + atoms of the new version)",
        "a move counts twice; blocks found by longest match, not by an optimal alignment",
        better="",
        proxy=True,
    ),
    "edited_tokens": Definition(
        "tokens of the new version that hold an atom that the atom diff calls added",
        "a pure deletion has none; a moved passage counts in full",
        better="",
        proxy=True,
    ),
    "amplification": Definition(
        "tokens of the recomputed inputs / edited tokens; NA where no token was edited",
        "its denominator is a proxy, and near 0 for tiny edits: read the median, not the mean",
        proxy=True,
    ),
    "floor": Definition(
        "1 - tokens of the heaviest set of old chunks that stand in the new version without"
        " overlapping / tokens of the new version",
        "bound for the old layout that was drawn: another layout has another floor",
    ),
    "excess_over_floor": Definition(
        "recompute_fraction - floor",
        "below 0 where a version repeats an input within itself, which R counts once",
    ),
    "waste_ratio": Definition(
        "1 - edited tokens inside recomputed inputs / tokens of recomputed inputs;"
        " NA where nothing was recomputed",
        "high for any small edit, since an input is the least that can be embedded",
        proxy=True,
    ),
    "update_to_full_ratio": Definition(
        "tokens embedded by the updates / tokens that embedding every version in full takes",
        "a mean over tokens, so that large documents weigh more",
    ),
    "verbatim_presence": Definition(
        "tokens of the recomputed inputs whose whole text stands in the old version"
        " / tokens of recomputed inputs",
        "says that the text was there, not that any layout could have reused it",
        better="",
    ),
    "vectors_per_thousand_tokens": Definition(
        "1000 * distinct inputs / tokens of the text",
        "storage and search cost, not quality",
    ),
    "evidence_recall": Definition(
        "1 where the packed chunks cover every character but blanks of a sufficient set, else 0",
        "on a small set one label moves the mean by points: read the weight of a label",
        better="higher",
        cutoff="tokens",
    ),
    "nDCG": Definition(
        "sum of 1 / log2(1 + rank) over the gold passages among the first k items"
        " / the same sum where they stand first",
        "a passage counts where the unit that completes it stands: larger units complete more",
        better="higher",
        cutoff="rank",
    ),
    "recall": Definition(
        "gold passages complete within the first k items / gold passages",
        "k units return more text where units are larger: compare evidence_recall at a budget",
        better="higher",
        cutoff="rank",
    ),
    "MRR": Definition(
        "1 / rank of the first gold passage among the first k items, 0 where there is none",
        "looks at one passage only",
        better="higher",
        cutoff="rank",
    ),
    "intact_span_coverage": Definition(
        "evidence spans that lie whole in one chunk / evidence spans",
        "rises with chunk size by itself",
        better="higher",
    ),
    "sentence_truncation": Definition(
        "inner chunk boundaries inside a sentence / inner chunk boundaries",
        "depends on the sentence splitter",
    ),
    "fragmentation": Definition(
        "fewest chunks that cover an evidence span, as a mean over spans",
        "rises with smaller chunks by itself",
    ),
    "cut_sentences": Definition(
        "sentences that no chunk holds whole / sentences",
        "falls with larger chunks by itself; depends on the sentence splitter",
    ),
    "answer_support": Definition(
        "answers whose every claim the given context supports / answers, by the generator's judge",
        "NA without a generator; a judge errs",
        better="higher",
    ),
    "context_hallucination_rate": Definition(
        "answers with a claim that the given context does not support / answers",
        "NA without a generator; a judge errs",
    ),
}
"""Every measure by name."""


def _refuse_name(spec: str) -> NoReturn:
    known = ", ".join(MEASURES)
    raise InputError(
        f"{spec!r} names no measure",
        kind="unknown-measure",
        subject=spec,
        expected=f"one of {known}",
        found=spec,
        remedy="write for instance recompute_fraction or nDCG@10",
    )


def _refuse_cutoff(one: Measure) -> NoReturn:
    kind = MEASURES[one.name].cutoff
    allowed = f"1 or more, counting {kind}" if kind else "none"
    raise InputError(
        f"{one.name} takes no cut-off {one.cutoff}",
        kind="bad-parameter",
        subject=one.name,
        expected=f"a cut-off of {allowed}",
        found=str(one.cutoff),
        remedy=f"write {one.name}{'@10' if kind else ''}",
    )
