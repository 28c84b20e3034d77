"""By meaning, by words, by both: what each leg gives, and what happens where one is not there."""

import sys
from pathlib import Path
from types import FrameType

import pytest

import variorum
from variorum.formats import decode
from variorum.records.errors import InputError, UnavailableError, UnsupportedError
from variorum.records.hits import Answer, Hit
from variorum.records.protocols import Role, Vectors
from variorum.records.text import Revision, Text
from variorum.retrieval import texts
from variorum.retrieval.fusion import RANK_CONSTANT
from variorum.store.store import counted_statements
from workbench import Bench, Recorder, document, section, words

TITLES = [f"T{n}" for n in range(12)]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Bench(tmp_path_factory.mktemp("modes"))
    bench.write({"a.md": document(*TITLES), "b.md": "# 水位\n\n河流水位监测站每天上报数据。\n"})
    bench.sync()
    return bench


def answered(bench: Bench, query: str, k: int = 10, **named: object) -> Answer:
    with bench.open() as index:
        return index.search(query, k, **named)  # type: ignore[arg-type]


def query() -> str:
    return " ".join(words("t3").split()[:3] + words("t7").split()[:2])


def ranks(answer: Answer) -> dict[str, int]:
    return {str(hit.citation): hit.rank for hit in answer.hits}


def test_hybrid_is_the_default_and_every_hit_adds_up(bench: Bench) -> None:
    answer = answered(bench, query(), 100)
    assert (answer.mode, answer.fallback) == ("hybrid", None)
    assert len(answer.hits) == sum(len(one.chunks) for one in bench.stored().documents.values())
    for hit in answer.hits:
        assert hit.score == pytest.approx(sum(leg.share for leg in hit.legs), abs=1e-9)


def test_a_share_is_the_weight_over_the_rank_in_a_leg_and_the_constant(bench: Bench) -> None:
    alone = {mode: ranks(answered(bench, query(), 100, mode=mode)) for mode in ("dense", "lexical")}
    answer = answered(bench, query(), 100, weights={"dense": 2, "lexical": 0.5})
    for hit in answer.hits:
        for leg in hit.legs:
            assert leg.rank == alone[leg.leg][str(hit.citation)]
            weight = {"dense": 2, "lexical": 0.5}[leg.leg]
            assert leg.share == round(weight / (RANK_CONSTANT + leg.rank), 9)
        found = {leg.leg for leg in hit.legs}
        assert found == {leg for leg, ranked in alone.items() if str(hit.citation) in ranked}


def test_a_leg_of_weight_nothing_decides_nothing(bench: Bench) -> None:
    dense = answered(bench, query(), mode="dense")
    weighed = answered(bench, query(), weights={"lexical": 0})
    assert [hit.citation for hit in weighed.hits] == [hit.citation for hit in dense.hits]


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_a_smaller_k_gives_the_head_of_a_larger_one(bench: Bench, mode: str) -> None:
    every = answered(bench, query(), 1000, mode=mode).hits
    for k in (1, 2, 5):
        assert answered(bench, query(), k, mode=mode).hits == every[:k]


def test_explain_names_the_words_that_found_a_hit_and_their_shares(bench: Bench) -> None:
    def lexical_score(hit: Hit) -> float:
        return next(leg.score for leg in hit.legs if leg.leg == "lexical")

    for hit in answered(bench, "监测站 水", mode="lexical", explain=True).hits:
        assert {one.term for one in hit.terms} == {"监测", "测站", "水*"}
        assert lexical_score(hit) == pytest.approx(sum(one.share for one in hit.terms), abs=3e-6)
        assert {(one.term, one.occurrences, one.chunks) for one in hit.terms} == {
            ("监测", 1, 1),
            ("测站", 1, 1),
            ("水*", 2, 1),
        }
    assert all(not hit.terms for hit in answered(bench, query()).hits)


def test_words_that_stand_nowhere_give_no_lexical_hit(bench: Bench) -> None:
    assert answered(bench, "nowhere", mode="lexical").hits == ()
    assert answered(bench, "?!", mode="lexical").hits == ()
    assert answered(bench, "?!").hits != ()


@pytest.mark.parametrize(
    "named",
    [
        {"mode": "both"},
        {"mode": 1},
        {"weights": {"meaning": 1}},
        {"weights": {"dense": -1}},
        {"weights": {"dense": float("nan")}},
        {"weights": {"dense": 0, "lexical": 0}},
        {"weights": [1, 2]},
        {"explain": 1},
    ],
)
def test_another_mode_or_weight_is_an_error(bench: Bench, named: dict[str, object]) -> None:
    with pytest.raises(InputError):
        answered(bench, query(), **named)


class Down(Recorder):
    """A model that cannot answer now."""

    def embed(self, inputs: list[str], role: Role = "passage") -> Vectors:  # type: ignore[override]
        raise UnavailableError("the model is away", kind="model-away", remedy="wait")


@pytest.mark.parametrize("model", [Recorder(32), Down()], ids=["another model", "no answer"])
def test_without_its_model_a_generation_answers_by_words_and_says_so(
    bench: Bench, model: Recorder
) -> None:
    with bench.open(embedder=model) as index:
        answer = index.search(query())
        assert answer.mode == "lexical"
        assert answer.fallback
        named = index.search(query(), mode="lexical")
        assert [hit.citation for hit in answer.hits] == [hit.citation for hit in named.hits] != []
        for mode in ("dense", "hybrid"):
            with pytest.raises((UnsupportedError, UnavailableError)):
                index.search(query(), mode=mode)


@pytest.fixture
def unindexed(tmp_path: Path) -> Bench:
    """A store as an older version wrote it: without terms."""
    bench = Bench(tmp_path)
    bench.write({"a.md": document(*TITLES[:3]), "b.md": section("T9")})
    bench.sync()
    for table in ("posting", "indexed", "lexicon"):
        bench.sql(f"DELETE FROM {table}")
    return bench


def test_without_terms_the_answer_is_by_meaning_and_says_so(unindexed: Bench) -> None:
    answer = answered(unindexed, query())
    assert (answer.mode, bool(answer.fallback)) == ("dense", True)
    with pytest.raises(UnsupportedError) as error:
        answered(unindexed, query(), mode="lexical")
    assert error.value.kind == "no-terms"


def test_with_neither_leg_the_error_is_that_of_the_model(unindexed: Bench) -> None:
    with unindexed.open(embedder=Recorder(32)) as index, pytest.raises(UnsupportedError) as error:
        index.search(query())
    assert error.value.kind == "model-mismatch"


def test_the_next_sync_makes_the_terms_and_embeds_nothing(unindexed: Bench) -> None:
    report, embedded = unindexed.sync()
    assert (report.generation, embedded) == (None, [])
    assert answered(unindexed, query()).mode == "hybrid"
    with variorum.open(unindexed.home, embedder=unindexed.embedder) as index:
        assert index.verify() == []


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Sixty documents of eight sections, each published twice."""
    bench = Bench(tmp_path_factory.mktemp("shelf"))
    for edition in ("First", "Second"):
        bench.write({f"{n}.md": document(*TITLES[:8], f"{edition}{n}") for n in range(60)})
        bench.sync()
    return bench


def work(bench: Bench, mode: str, *, k: int = 10) -> tuple[int, int]:
    """SQL statements and calls of Python functions that a second search takes."""
    with bench.open() as index:
        index.search(query(), k, mode=mode)
        calls = [0]

        def count(_frame: FrameType, event: str, _argument: object) -> None:
            calls[0] += event == "call"

        with counted_statements(index.store.engine()) as statements:
            sys.setprofile(count)
            try:
                index.search(query(), k, mode=mode)
            finally:
                sys.setprofile(None)
    return len(statements), calls[0]


def test_both_legs_together_take_no_more_work_than_each_alone(shelf: Bench) -> None:
    dense, lexical, hybrid = (work(shelf, mode) for mode in ("dense", "lexical", "hybrid"))
    for alone, other, both in zip(dense, lexical, hybrid, strict=True):
        assert both <= alone + other


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_each_revision_is_decoded_once_however_many_hits_it_has(
    shelf: Bench, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[str] = []

    def noting(revision: Revision) -> Text:
        decoded.append(revision.sha256)
        return decode(revision)

    monkeypatch.setattr(texts, "decode", noting)
    hits = answered(shelf, query(), 300, mode=mode).hits
    assert len({hit.document for hit in hits}) < len(hits)
    assert len(decoded) == len(set(decoded))
