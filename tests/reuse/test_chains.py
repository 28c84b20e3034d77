"""Real histories: every step embeds exactly what was never embedded before, and says so truly."""

from pathlib import Path

import pytest
from bench.chains import Chain, read_chains, replay

from variorum.embedding.hashing import HashingEmbedder

IN_A_DEFAULT_RUN = {0, 9, 13, 17}
"""Two of each language, one of each plain text."""


def chain(shared: Path, place: int) -> Chain:
    file = shared / "revisions" / "chains.jsonl.gz"
    if not file.is_file():
        pytest.skip("needs revisions/chains.jsonl.gz of the public data sets at ../shared")
    return read_chains(file=file)[place]


PLACES = [
    pytest.param(place, marks=[] if place in IN_A_DEFAULT_RUN else pytest.mark.long)
    for place in range(24)
]


@pytest.mark.parametrize("place", PLACES)
def test_a_chain_embeds_only_what_is_new_and_reports_fractions_that_recount(
    shared: Path, place: int
) -> None:
    one = chain(shared, place)
    steps = list(replay(one, HashingEmbedder()))
    assert len(steps) == len(one.texts)
    assert steps[0].embedded == 1.0
