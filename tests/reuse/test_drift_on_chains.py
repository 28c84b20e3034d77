"""Real histories, planned revision by revision: never far from a fresh layout, never costly."""

from pathlib import Path

import pytest
from bench.chains import read_chains

from unit.chunking.fakes import Atoms, chunker_of
from variorum.chunking import TokenMap
from variorum.chunking.boundaries import boundaries
from variorum.chunking.chunker import Reading
from variorum.chunking.planner import OldLayout, plan_spans
from variorum.chunking.pricing import Pricing, drift, usual
from variorum.formats import parse
from variorum.records.text import Text
from variorum.sources.naming import content_type_of

SPECS = [
    "anchored",
    "structural(max_tokens=166, min_tokens=50)",
    "semantic(max_tokens=160, min_tokens=48)",
    "recursive(max_tokens=400)",
    "recursive(max_tokens=138, rules=guide)",
    "recursive(max_tokens=138, rules=default)",
    "fixed(max_tokens=120)",
    "fixed_characters(max_characters=290)",
    "content_defined(backup_mask_bits=4, max_tokens=122, min_tokens=61, primary_mask_bits=6)",
    "content_defined(max_tokens=124, min_tokens=62, window_words=16, words=segmented)",
]
IN_A_DEFAULT_RUN = {0, 9, 13, 17}
PLACES = [
    pytest.param(place, marks=[] if place in IN_A_DEFAULT_RUN else pytest.mark.long)
    for place in range(24)
]


def penalty(pricing, spans):
    return pricing.total([0, *(span.end for span in spans)])


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("place", PLACES)
def test_no_revision_of_a_chain_drifts_further_than_stated(shared: Path, place, spec):
    file = shared / "revisions" / "chains.jsonl.gz"
    if not file.is_file():
        pytest.skip("needs revisions/chains.jsonl.gz of the public data sets at ../shared")
    chain = read_chains(file=file)[place]
    content_type = content_type_of(f"a{chain.suffix}".encode())
    chunker = chunker_of(spec)
    old = OldLayout("", ())
    for text in chain.texts:
        reading = Reading(text, parse(Text(text), content_type), TokenMap.of(text, Atoms()))
        spans = plan_spans(reading, chunker, old)
        pricing = Pricing(reading.tokens, boundaries(text, reading.structure), chunker.shape)
        fresh = chunker.spans(text, reading.structure, reading.tokens)
        total = reading.tokens.total
        standard = max(penalty(pricing, fresh), usual(chunker.shape, total))
        assert penalty(pricing, spans) <= standard + drift(chunker.shape, total) + 1e-6
        sizes = [reading.tokens.count(*span) for span in spans]
        old = OldLayout(text, tuple(spans), tokens=tuple(sizes))
