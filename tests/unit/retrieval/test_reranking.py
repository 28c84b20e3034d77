"""A second look at the best hits: who sees what, what its scores decide, what its faults do."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tiny_models import cross_encoder_like
from variorum.embedding.rerank.cross_encoder import CrossEncoder
from variorum.records.errors import BugError, InputError, UnavailableError
from variorum.retrieval.reranking import RERANK_DEPTH
from workbench import Bench, document, rule, section, words

SECRET = "nobody else may read this"


class Spy:
    """Remembers what it was shown, and prefers passages by their length, the shortest first."""

    name = "spy"

    def __init__(self) -> None:
        self.shown: list[tuple[str, list[str]]] = []

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        self.shown.append((query, list(passages)))
        return [-float(len(one)) for one in passages]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Bench(tmp_path_factory.mktemp("reranking"))
    bench.write(
        {
            "a.md": document(*[f"T{n}" for n in range(70)])
            + f"\n## Secret\n\n{SECRET} {words('secret')}\n",
            "theirs.md": f"# Theirs\n\n{SECRET} {words('t3')}\n",
        }
    )
    bench.sync()
    bench.apply(
        rule("docs:a.md", "user:ann")
        + '[[rules.sections]]\nheading = ["Secret"]\nreaders = ["user:bob"]\n'
        + rule("docs:theirs.md", "user:bob")
    )
    return bench


def test_a_reranker_sees_what_the_asker_may_read_and_nothing_else(bench: Bench) -> None:
    for ask in ("search", "context"):
        spy = Spy()
        with bench.open(principal="user:ann", reranker=spy) as index:
            for query in (words("t3"), SECRET, words("secret")):
                getattr(index, ask)(query)
        shown = [one for _, passages in spy.shown for one in passages]
        assert len(shown) == 3 * RERANK_DEPTH
        text = bench.stored().documents["docs:a.md"].text
        assert all(one in text and SECRET not in one for one in shown)


def test_its_scores_decide_the_order_and_every_hit_says_so(bench: Bench) -> None:
    with bench.open(principal="user:ann", reranker=Spy()) as index:
        every = index.search(words("t3"), 1000).hits
        few = index.search(words("t3"), 3).hits
    with bench.open(principal="user:ann") as index:
        plain = index.search(words("t3"), RERANK_DEPTH).hits
    assert {hit.citation for hit in every} == {hit.citation for hit in plain}
    assert few == every[:3]
    scores = [hit.score for hit in every]
    assert scores == sorted(scores, reverse=True)
    before = {hit.citation: hit for hit in plain}
    for hit in every:
        *legs, last = hit.legs
        assert (last.leg, last.rank, last.score) == ("reranker", hit.rank, hit.score)
        assert hit.score == sum(leg.share for leg in hit.legs)
        assert [(leg.leg, leg.rank) for leg in legs] == [
            (leg.leg, leg.rank) for leg in before[hit.citation].legs
        ]


class Down(Spy):
    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        raise UnavailableError("the reranker is away", kind="away", remedy="wait")


def test_one_that_cannot_answer_leaves_the_hits_as_they_are_and_the_answer_says_so(
    bench: Bench,
) -> None:
    with bench.open(principal="user:ann", reranker=Down()) as index:
        answer = index.search(words("t3"))
        context = index.context(words("t3"))
    with bench.open(principal="user:ann") as index:
        assert answer.hits == index.search(words("t3")).hits
    assert answer.fallback == context.fallback == "not reranked: the reranker is away"


@pytest.mark.parametrize("scores", [[1.0], [float("nan")] * RERANK_DEPTH, [[1.0]] * RERANK_DEPTH])
def test_one_that_breaks_its_contract_is_named(bench: Bench, scores: list[float]) -> None:
    spy = Spy()
    spy.scores = lambda query, passages: scores  # type: ignore[method-assign]
    with bench.open(principal="user:ann", reranker=spy) as index, pytest.raises(BugError) as found:
        index.search(words("t3"))
    assert found.value.kind == "reranker-broke-contract"


@contextmanager
def endpoint(answers: list[object]) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """A server that answers as scripted, once each; what it was sent, in order."""
    sent: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            sent.append({"path": self.path, **body})
            answer = answers.pop(0)
            status = answer if isinstance(answer, int) else 200
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", sent
    finally:
        server.shutdown()
        server.server_close()


def results(count: int) -> dict[str, object]:
    """Scores that turn the order around, the best one first, as servers send them."""
    rows = [{"index": n, "relevance_score": n / 10} for n in reversed(range(count))]
    return {"results": rows}


def test_an_endpoint_is_asked_in_its_own_words_and_its_rows_are_put_in_order(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two", "Three")})
    bench.sync()
    plain = bench.found(words("one"), k=3)
    faulty = [results(2), {"results": "none"}, 503, {"results": [{"index": True}] * 3}]
    with endpoint([results(3), *faulty]) as (url, sent):
        spec = f"endpoint(url={url}, model=tiny)"
        bench.configure(f"{bench.settings}[model]\nreranker = '{spec}'\n")
        with bench.open() as index:
            turned = index.search(words("one"), 3)
            kept = [index.search(words("one"), 3).fallback for _ in faulty]
    assert len(plain) == len(turned.hits) == 3
    assert [hit.score for hit in turned.hits] == [0.2, 0.1, 0.0]
    assert (sent[0]["path"], sent[0]["model"], sent[0]["query"], sent[0]["top_n"]) == (
        "/v1/rerank",
        "tiny",
        words("one"),
        3,
    )
    assert sent[0]["documents"] == [hit.text.strip() for hit in reversed(turned.hits)]
    assert all(one is not None and one.startswith("not reranked: ") for one in kept)


def test_a_cross_encoder_in_a_folder_reads_query_and_passage_together(tmp_path: Path) -> None:
    folder = cross_encoder_like(tmp_path / "model")
    encoder = CrossEncoder(folder)
    pairs = encoder.scores("the words", ["the document", "words 索引", "the document"])
    assert pairs[0] == pairs[2] != pairs[1]
    assert encoder.scores("other", ["the document"]) != pairs[:1]
    assert encoder.scores("the words", ["words 索引"]) == pairs[1:2]
    with pytest.raises(UnavailableError) as refused:
        encoder.scores("the words", ["the document " * 100])
    assert refused.value.kind == "input-rejected"
    bench = Bench(tmp_path / "bench")
    bench.write({"a.md": section("One", 3) + "\n" + section("Two", 3)})
    bench.sync()
    bench.configure(f"{bench.settings}[model]\nreranker = 'onnx(path=\"{folder}\")'\n")
    with bench.open() as index:
        hits = index.search("one").hits
        wanted = encoder.scores("one", [hit.text.strip() for hit in hits])
    assert [hit.score for hit in hits] == sorted((round(one, 6) for one in wanted), reverse=True)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("none", "unknown-reranker"),
        ("endpoint(model=tiny)", "bad-parameter"),
        ("endpoint(url=ftp://x, model=tiny)", "bad-parameter"),
        ("onnx", "bad-parameter"),
        ("onnx(path=x, width=3)", "bad-parameter"),
    ],
)
def test_a_spec_that_names_no_reranker_is_an_error(tmp_path: Path, spec: str, kind: str) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One")})
    bench.sync()
    bench.configure(f"{bench.settings}[model]\nreranker = '{spec}'\n")
    with bench.open() as index, pytest.raises(InputError) as refused:
        index.search("one")
    assert refused.value.kind == kind


class Failing:
    """A user's own, whose answer is a mistake or an exception."""

    name = "own"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize("answer", [KeyError("x"), None, ["high"] * 5, 1.0, [[1.0]]])
def test_a_mistake_in_a_reranker_s_code_is_named_and_never_a_traceback(
    bench: Bench, answer: object
) -> None:
    with bench.open(reranker=Failing(answer)) as index:
        with pytest.raises(BugError, match="'own'") as raised:
            index.search(words("t3"), k=5)
        assert raised.value.kind == "reranker-broke-contract"


def test_a_reranker_out_of_reach_leaves_the_ranking_as_it_was(bench: Bench) -> None:
    with bench.open() as index:
        plain = [hit.citation for hit in index.search(words("t3"), k=5).hits]
    with bench.open(reranker=Failing(ConnectionError("no route"))) as index:
        answer = index.search(words("t3"), k=5)
    assert [hit.citation for hit in answer.hits] == plain
    assert "'own' failed" in (answer.fallback or "")
