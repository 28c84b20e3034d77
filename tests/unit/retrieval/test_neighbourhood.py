"""The order in which a context takes hits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from variorum.retrieval.neighbourhood import LEAD_DEPTH, LEAD_DOCUMENTS, Beside, by_neighbourhood
from variorum.retrieval.neighbourhood import diverse as in_turn
from variorum.store.snapshot import Places


def places(*chunks: tuple[int, int]) -> Places:
    """Chunks as (document, ordinal)."""
    documents, ordinals = (np.array(column, np.int64) for column in zip(*chunks, strict=True))
    return Places(np.arange(len(chunks)), documents, ordinals, ordinals * 10, ordinals * 10 + 10)


def test_beside_a_chunk_are_the_next_ones_of_its_document_where_none_was_taken_out() -> None:
    beside = Beside(places((1, 0), (1, 1), (1, 3), (2, 4), (2, 5)))
    around = [beside.around(place) for place in range(5)]
    assert around == [[1], [0], [], [4], [3]]


def test_what_stands_among_good_ones_comes_before_a_better_one_that_stands_alone() -> None:
    beside = Beside(places(*((1, n) for n in range(6)), (2, 0), (3, 0), (3, 2)))
    # 2 is ranked last, between 1 and 3; 8 stands alone and is ranked before it.
    assert by_neighbourhood(beside, [6, 1, 3, 8, 2]) == [6, 2, 8, 1, 3]


@given(st.data())
def test_scores_are_those_of_the_plain_rule(data: st.DataObject) -> None:
    chunks = data.draw(
        st.sets(st.tuples(st.integers(0, 3), st.integers(0, 8)), min_size=1).map(sorted)
    )
    ranked = data.draw(st.permutations(range(len(chunks))))[: data.draw(st.integers(1, 20))]
    rank = {place: number for number, place in enumerate(ranked, start=1)}
    given_ = {chunks[place]: 1 / (10 + number) for place, number in rank.items()}

    def score(place: int) -> float:
        document, ordinal = chunks[place]
        beside = [(document, ordinal - 1), (document, ordinal + 1)]
        found = [given_.get(one, 0.0) for one in beside if one in chunks]
        own = given_[chunks[place]]
        return round((own + (sum(found) / len(found) if found else own)) / 2, 9)

    wanted = sorted(ranked[1:], key=lambda place: (-score(place), rank[place]))
    assert by_neighbourhood(Beside(places(*chunks)), ranked) == [ranked[0], *wanted]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.randoms())
def test_several_documents_lead_and_nothing_else_moves(documents: list[int], random) -> None:  # type: ignore[no-untyped-def]
    documents.sort()
    chunks = [(one, n) for n, one in enumerate(documents)]
    ordered = list(range(len(chunks)))
    random.shuffle(ordered)
    found = in_turn(Beside(places(*chunks)), ordered)
    leads = list({chunks[place][0]: place for place in reversed(ordered[:LEAD_DEPTH])}.values())
    leads = [place for place in ordered if place in leads][:LEAD_DOCUMENTS]
    assert found == [*leads, *(place for place in ordered if place not in leads)]
