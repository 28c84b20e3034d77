"""Whatever Python gives the door, it answers with a result or an error of ours with fields."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import variorum
from variorum.embedding.hashing import HashingEmbedder
from variorum.records.arguments import affordable_tokens
from variorum.records.errors import (
    BugError,
    InputError,
    InputRejectedError,
    NotFoundError,
    UnavailableError,
    VariorumError,
)
from variorum.records.protocols import ModelIdentity

DOCUMENT = (
    "---\nn: 1\nratio: 0.5\ndraft: true\nversion: '1'\nbig: 9007199254740993\n---\n# One\n\nhm\n"
)
ODD = [None, 3, -1, 10**30, 10**5000, 1.5, float("nan"), float("inf"), True, b"x", "", "x", "\0"]
ODD += ["\udcff", [], {}, (1,), object(), {"n": None}, {1: 2}, Path("x\0y"), Path("nowhere")]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[variorum.Index]:
    home = tmp_path_factory.mktemp("home")
    (home / "docs").mkdir()
    (home / "docs/one.md").write_text(DOCUMENT)
    with variorum.open(home, embedder=HashingEmbedder(32)) as index:
        index.sync(home / "docs")
        yield index


def _unless_a_name(odd: Any) -> Any:
    """What would make a file here names one in a folder that is not there."""
    return Path("no-folder") / odd if odd in ("x", "\udcff", Path("nowhere")) else odd


CALLS = {
    "search.query": lambda index, odd: index.search(odd),
    "search.k": lambda index, odd: index.search("hm", odd),
    "search.as_of": lambda index, odd: index.search("hm", as_of=odd),
    "search.path": lambda index, odd: index.search("hm", path=odd),
    "search.content_type": lambda index, odd: index.search("hm", content_type=odd),
    "search.where": lambda index, odd: index.search("hm", where=odd),
    "search.where[n]": lambda index, odd: index.search("hm", where={"n": odd}),
    "show": lambda index, odd: index.show(odd),
    "diff.old": lambda index, odd: index.diff(odd, 1),
    "diff.new": lambda index, odd: index.diff(1, odd),
    "restore": lambda index, odd: index.restore(odd),
    "plan.source": lambda index, odd: index.plan(odd),
    "plan.explain": lambda index, odd: index.plan(explain=odd),
    "plan.usd_per_mtok": lambda index, odd: index.plan(usd_per_mtok=odd),
    "plan.allow_empty": lambda index, odd: index.plan(allow_empty=odd),
    "plan.reasons": lambda index, odd: index.plan(reasons=odd),
    "sync.max_tokens": lambda index, odd: index.sync(max_tokens=odd),
    "plan.drop_sources": lambda index, odd: index.plan(drop_sources=odd),
    "use_model": lambda index, odd: index.use_model(odd),
    "use_model.tokens_per_minute": lambda index, odd: index.use_model(
        "hashing(dimensions=40)", tokens_per_minute=odd, dry_run=True
    ),
    "use_model.dry_run": lambda index, odd: index.use_model("hashing(dimensions=32)", dry_run=odd),
    "export": lambda index, odd: index.export(_unless_a_name(odd)),
    "import": lambda index, odd: index.import_(odd),
    "backup": lambda index, odd: index.backup(_unless_a_name(odd)),
    "sync.changed": lambda index, odd: index.plan(changed=odd),
    "sync.release": lambda index, odd: index.sync(release=odd),
    "open.folder": lambda _, odd: variorum.open(odd),
    "open.store": lambda _, odd: variorum.open(store=odd),
    "open.config": lambda _, odd: variorum.open(config=odd),
    "open.collection": lambda _, odd: variorum.open(collection=odd),
    "open.embedder": lambda _, odd: variorum.open(embedder=odd),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: f"{type(odd).__name__}")
def test_an_odd_argument_gives_a_result_or_an_error_with_fields(
    index: variorum.Index, name: str, odd: object
) -> None:
    if name == "restore" and odd is True:
        odd = False
    fault = _fault(lambda: CALLS[name](index, odd))
    assert not isinstance(fault, BugError)
    assert fault is None or (fault.expected and fault.remedy)


def _fault(call: Callable[[], object]) -> VariorumError | None:
    try:
        call()
    except VariorumError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("call", "subject"),
    [
        (lambda index: index.search(None), "query"),
        (lambda index: index.search("hm", "3"), "k"),
        (lambda index: index.search("hm", True), "k"),
        (lambda index: index.search("hm", as_of="1"), "as_of"),
        (lambda index: index.search("hm", where=7), "where"),
        (lambda index: index.search("hm", where={"n": None}), "where['n']"),
        (lambda index: index.sync(allow_empty="no"), "allow_empty"),
        (lambda index: index.sync(max_tokens=-1), "max_tokens"),
        (lambda index: index.plan(usd_per_mtok=float("nan")), "usd_per_mtok"),
        (lambda index: index.diff("1", 1), "old"),
        (lambda index: index.restore(1.0), "generation"),
        (lambda index: index.show(None), "citation"),
    ],
)
def test_an_argument_of_another_type_is_named(
    index: variorum.Index, call: Any, subject: str
) -> None:
    with pytest.raises(InputError) as fault:
        call(index)
    assert (fault.value.kind, fault.value.subject) == ("bad-parameter", subject)


WHERE = [
    ("n", 1, True),
    ("n", 1.0, True),
    ("n", "1", True),
    ("n", "1.0", True),
    ("n", "1e0", True),
    ("n", "01", True),
    ("n", 2, False),
    ("n", True, False),
    ("n", "true", False),
    ("n", "nan", False),
    ("n", "one", False),
    ("ratio", 0.5, True),
    ("ratio", "0.5", True),
    ("ratio", ".5", False),
    ("ratio", "0.50", True),
    ("draft", True, True),
    ("draft", "true", True),
    ("draft", 1, False),
    ("draft", "1", False),
    ("version", "1", True),
    ("version", 1, False),
    ("version", "1.0", False),
    ("big", 9007199254740993, True),
    ("big", "9007199254740993", True),
    ("big", "9007199254740992", False),
]


@pytest.mark.parametrize(("key", "wanted", "matches"), WHERE)
def test_metadata_is_compared_by_its_type(
    index: variorum.Index, key: str, wanted: Any, matches: bool
) -> None:
    assert bool(index.search("hm", where={key: wanted}).hits) == matches


def test_a_generation_beyond_any_number_is_not_found(index: variorum.Index) -> None:
    for number in (10**30, -(10**30), 2**63, 0):
        with pytest.raises(NotFoundError):
            index.search("hm", as_of=number)


@given(
    st.floats(0, 1e308, allow_nan=False),
    st.floats(0, 1e6, exclude_min=True, allow_nan=False),
)
def test_what_money_buys_is_a_number_of_tokens_that_it_pays_for(usd: float, price: float) -> None:
    from fractions import Fraction

    tokens = affordable_tokens(usd, price)
    assert 0 <= tokens < 2**63
    assert Fraction(tokens) * Fraction(price) <= Fraction(usd) * 1_000_000


# Embedders


class Odd(HashingEmbedder):
    """Does what it is told instead of embedding."""

    def __init__(self, does: Any) -> None:
        super().__init__(32)
        self.does = does

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity("odd-model", "odd 1", 32, is_proven=True)

    def embed(self, inputs: Any, role: Any = "passage") -> Any:
        if callable(self.does):
            return self.does(inputs)
        raise self.does


EMBEDDERS = [
    (lambda inputs: None, UnavailableError, "bad-embedding-answer"),
    (lambda inputs: [[1.0] * 32] * len(inputs), UnavailableError, "bad-embedding-answer"),
    (
        lambda inputs: np.ones((len(inputs), 3), dtype=np.float32),
        UnavailableError,
        "bad-embedding-answer",
    ),
    (
        lambda inputs: np.ones((len(inputs), 32), dtype=np.float64),
        UnavailableError,
        "bad-embedding-answer",
    ),
    (
        lambda inputs: np.full((len(inputs), 32), np.nan, dtype=np.float32),
        UnavailableError,
        "bad-embedding-answer",
    ),
    (OSError(5, "input/output error"), UnavailableError, "embedder-failed"),
    (TimeoutError("late"), UnavailableError, "embedder-failed"),
    (RuntimeError("no device"), UnavailableError, "embedder-failed"),
    (ValueError("bad shape"), BugError, "embedder-broke-contract"),
    (KeyError("role"), BugError, "embedder-broke-contract"),
    (NotImplementedError(), BugError, "embedder-broke-contract"),
]


@pytest.mark.parametrize(("does", "expected", "kind"), EMBEDDERS)
def test_a_bad_embedder_is_named_and_nothing_is_published(
    tmp_path: Path, does: Any, expected: type[VariorumError], kind: str
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/one.md").write_text(DOCUMENT)
    with variorum.open(tmp_path, embedder=Odd(does)) as index:
        with pytest.raises(expected) as fault:
            index.sync(tmp_path / "docs")
        assert (fault.value.kind, fault.value.subject) == (kind, "odd-model")
        assert index.log() == []
        states = {check.name: check.state for check in index.doctor()}
        assert states["model"] == "wrong"


@pytest.mark.parametrize(("does", "expected", "kind"), EMBEDDERS)
def test_a_bad_embedder_is_named_by_a_search(
    tmp_path: Path, does: Any, expected: type[VariorumError], kind: str
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/one.md").write_text(DOCUMENT)
    embedder = Odd(lambda inputs: HashingEmbedder(32).embed(inputs))
    with variorum.open(tmp_path, embedder=embedder) as index:
        index.sync(tmp_path / "docs")
        embedder.does = does
        with pytest.raises(expected) as fault:
            index.search("hm")
        assert (fault.value.kind, fault.value.subject) == (kind, "odd-model")


def test_a_query_that_the_model_refuses_keeps_its_error(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/one.md").write_text(DOCUMENT)
    embedder = Odd(lambda inputs: HashingEmbedder(32).embed(inputs))
    with variorum.open(tmp_path, embedder=embedder) as index:
        index.sync(tmp_path / "docs")
        embedder.does = InputRejectedError("too long", index=0)
        with pytest.raises(InputError, match="too long") as refused:
            index.search("hm")
        assert isinstance(refused.value.__cause__, InputRejectedError)


def test_an_object_that_is_no_embedder_is_refused_when_it_is_given() -> None:
    class Nameless(HashingEmbedder):
        identity = "mine"  # type: ignore[assignment]

    for wrong in (object(), HashingEmbedder, Nameless(32)):
        with pytest.raises(InputError) as fault:
            variorum.open(embedder=wrong)  # type: ignore[arg-type]
        assert fault.value.subject == "embedder"


def test_a_tokenizer_that_fails_is_named(tmp_path: Path) -> None:
    class Tongueless(Odd):
        def count(self, inputs: Any, role: Any = "passage") -> Any:
            raise ConnectionError("no tokenizer there")

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/one.md").write_text(DOCUMENT)
    with variorum.open(tmp_path, embedder=Tongueless(None)) as index:
        with pytest.raises(UnavailableError) as fault:
            index.plan(tmp_path / "docs")
        assert (fault.value.kind, fault.value.subject) == ("embedder-failed", "odd-model")
