"""A measure is a value that reads back what it prints."""

import pytest

from variorum.lab.measure import MEASURES, Measure, measure
from variorum.records.errors import InputError


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_every_measure_reads_back_what_it_prints(name: str) -> None:
    one = Measure(name) @ 10 if MEASURES[name].cutoff else Measure(name)
    assert measure(str(one)) == one
    assert one.definition.formula
    assert one.definition.caution


def test_a_cut_off_is_printed_behind_the_name() -> None:
    assert str(measure("nDCG") @ 10) == "nDCG@10"
    assert str(measure(" evidence_recall @ 2048 ")) == "evidence_recall@2048"


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("recompute", "unknown-measure"),
        ("", "unknown-measure"),
        ("nDCG@", "unknown-measure"),
        ("nDCG@0", "bad-parameter"),
        ("recompute_fraction@10", "bad-parameter"),
    ],
)
def test_what_is_no_measure_is_refused(spec: str, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        measure(spec)
    assert caught.value.kind == kind


def test_proxies_are_labelled() -> None:
    proxies = {name for name, one in MEASURES.items() if one.proxy}
    assert proxies == {"edit_fraction", "edited_tokens", "amplification", "waste_ratio"}
