"""Our ranking measures against `ir_measures` on random runs: the same numbers."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from variorum.lab.measure import measure
from variorum.lab.recall.scoring import score

ir_measures = pytest.importorskip("ir_measures")

NAMES = [f"d{number}" for number in range(12)]
THEIRS = {"nDCG": "nDCG", "recall": "R", "MRR": "RR"}


@settings(max_examples=200)
@given(
    st.sets(st.sampled_from(NAMES), min_size=1),
    st.permutations(NAMES),
    st.integers(0, len(NAMES)),
    st.integers(1, 15),
)
def test_the_same_scores_as_ir_measures(
    gold: set[str], order: Sequence[str], length: int, cutoff: int
) -> None:
    ranked = list(order[:length])
    qrels = [ir_measures.Qrel("q", name, 1) for name in sorted(gold)]
    qrels += [ir_measures.Qrel("q", name, 0) for name in NAMES if name not in gold]
    run = [ir_measures.ScoredDoc("q", name, -float(place)) for place, name in enumerate(ranked)]
    for ours, theirs in THEIRS.items():
        wanted = ir_measures.parse_measure(f"{theirs}@{cutoff}")
        expected = ir_measures.calc_aggregate([wanted], qrels, run)[wanted]
        assert score(measure(ours) @ cutoff, sorted(gold), ranked) == pytest.approx(expected)
