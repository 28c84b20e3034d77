"""What a guard around an embedder lets through beside its answers."""

import pytest

from unit.chunking.fakes import Atoms
from variorum.embedding import HashingEmbedder, embedder_from_spec
from variorum.embedding.guarded import Guarded
from variorum.records.protocols import KnowsSeams, SplitsAtBlanks

CHINESE = "他说昨天下雨。今天不下雨，我们去公园。"


class Plain(HashingEmbedder):
    """An embedder that does not say where its tokens split."""

    splits_at_blanks = None
    tokenizer = Atoms()


def test_a_guarded_embedder_splits_at_blanks_where_its_own_does():
    for embedder, splits in ((HashingEmbedder(), True), (Plain(), False)):
        guarded = Guarded.of(embedder)
        assert isinstance(guarded, SplitsAtBlanks)
        assert isinstance(guarded.tokenizer, SplitsAtBlanks)
        assert bool(guarded.splits_at_blanks) is splits
        assert guarded.tokenizer.splits_at_blanks is splits


def test_a_guarded_tokenizer_without_seams_knows_of_none():
    tokenizer = Guarded.of(HashingEmbedder()).tokenizer
    assert isinstance(tokenizer, KnowsSeams)
    places = range(1, len(CHINESE))
    assert not any(tokenizer.is_seam(CHINESE, place) for place in places)
    assert not any(tokenizer.stands_alone(CHINESE, place) for place in places)


@pytest.mark.model
def test_a_guarded_tokenizer_has_the_seams_of_its_own():
    own = embedder_from_spec("e5-small").tokenizer
    guarded = Guarded.of(embedder_from_spec("e5-small")).tokenizer
    for ask in ("is_seam", "stands_alone"):
        found = [getattr(own, ask)(CHINESE, place) for place in range(1, len(CHINESE))]
        assert any(found)
        assert [getattr(guarded, ask)(CHINESE, p) for p in range(1, len(CHINESE))] == found
