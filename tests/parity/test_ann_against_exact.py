"""An approximate index finds what an exact search does, and nothing that was not chosen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from variorum.store import ann
from variorum.store.ann import Ann
from variorum.store.ann_building import ann_of
from variorum.store.ann_file import AnnContent, AnnHeader
from variorum.sync.target import no_progress

pytest.importorskip("faiss")

ROWS, DIMENSIONS, TOPICS = 20_000, 64, 300
SMALL = 600


def clustered(count: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors around topics, as passages stand around what they are about."""
    random = np.random.default_rng(seed)
    topics = np.random.default_rng(7).standard_normal((TOPICS, DIMENSIONS))
    rows = topics[random.integers(TOPICS, size=count)]
    rows = rows + 0.7 * random.standard_normal((count, DIMENSIONS))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def made(vectors: NDArray[np.float32], ids: NDArray[np.int64]) -> Ann:
    index = ann_of(
        lambda wanted: [vectors[np.searchsorted(ids, wanted)]], ids, DIMENSIONS, no_progress
    )
    header = AnnHeader(1, 1, "", "model", DIMENSIONS, 0, ids.size, int(ids[-1]))
    return Ann(AnnContent(index, ids, header))


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann, "LEAST_ROWS", 50)


@pytest.fixture(scope="module")
def large() -> tuple[Ann, NDArray[np.float32]]:
    vectors = clustered(ROWS, 1)
    return made(vectors, np.arange(ROWS) * 3 + 5), vectors


@pytest.mark.parametrize("share", [1.0, 0.9, 0.6])
@pytest.mark.parametrize("k", [1, 10, 100])
def test_it_finds_what_an_exact_search_finds(
    large: tuple[Ann, NDArray[np.float32]], share: float, k: int
) -> None:
    index, vectors = large
    chosen = np.flatnonzero(np.random.default_rng(2).random(ROWS) < share)
    mask = index.mask(chosen * 3 + 5)
    found = []
    for query in clustered(50, 3):
        near = index.near(mask, query, k)
        assert near is not None
        assert near.size < chosen.size
        scores = vectors[chosen] @ query
        best = np.argpartition(scores, scores.size - k)[scores.size - k :]
        found.append(np.isin(best, near).mean())
    assert np.mean(found) >= 0.99


@pytest.fixture(scope="module")
def small() -> Ann:
    return made(clustered(SMALL, 1), np.arange(SMALL, dtype=np.int64) * 2)


def test_more_than_a_hundredth_of_it_is_not_asked_for(
    large: tuple[Ann, NDArray[np.float32]],
) -> None:
    index, _ = large
    mask = index.mask(index.input_ids)
    for k, is_asked in ((ROWS // 100, True), (ROWS // 100 + 1, False)):
        assert (index.near(mask, clustered(1, 9)[0], k) is not None) is is_asked


@settings(max_examples=100, deadline=None)
@given(
    chosen=st.lists(st.integers(0, 2 * SMALL), min_size=50, max_size=900),
    k=st.integers(1, 6),
    seed=st.integers(0, 1000),
)
def test_candidates_are_places_of_the_choice_with_all_that_the_index_lacks(
    small: Ann, chosen: list[int], k: int, seed: int
) -> None:
    """Whatever is chosen: inputs that it holds or lacks, some of them several times."""
    input_ids = np.array(chosen, np.int64)
    mask = small.mask(input_ids)
    lacking = np.flatnonzero((input_ids % 2 == 1) | (input_ids >= 2 * SMALL))
    assert mask.missing.tolist() == lacking.tolist()
    near = small.near(mask, clustered(1, seed)[0], k)
    if near is not None:
        assert near.size >= k
        assert np.all(np.diff(near) > 0)
        assert 0 <= near[0] <= near[-1] < input_ids.size
        assert {*lacking.tolist()} <= {*near.tolist()}
        # Every place of an input that is a candidate is one.
        assert {*near.tolist()} == {*np.flatnonzero(np.isin(input_ids, input_ids[near])).tolist()}


def test_a_small_part_of_it_is_not_asked_for(small: Ann) -> None:
    for count, is_asked in ((SMALL // 2 + 1, True), (SMALL // 2 - 1, False)):
        mask = small.mask(np.arange(count, dtype=np.int64) * 2)
        assert (small.near(mask, clustered(1, 9)[0], 1) is not None) is is_asked


def test_a_choice_of_which_it_lacks_much_is_not_asked_for(small: Ann) -> None:
    held = np.arange(SMALL, dtype=np.int64) * 2
    for lacking, is_asked in ((SMALL // 5, True), (SMALL // 3, False)):
        mask = small.mask(np.concatenate([held, np.arange(lacking, dtype=np.int64) * 2 + 1]))
        assert (small.near(mask, clustered(1, 9)[0], 1) is not None) is is_asked
