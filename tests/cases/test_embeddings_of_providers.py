"""Cases of the area embeddings that need a provider over HTTP, by id."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import variorum
from provider import DIMENSIONS, ROWS, SLOW_S, WHOLE, Provider, schedule
from variorum.embedding import BatchLimits, HashingEmbedder
from variorum.embedding.probe import PROBES
from variorum.records.errors import UnavailableError
from variorum.records.layout import input_key
from workbench import TENANT, Bench, document, vectors_stored

CHUNKER = '[chunking]\nchunker = "anchored(max_tokens=200, min_tokens=40)"\n'


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider().serving() as found:
        yield found


def bench_of(home: Path, provider: Provider, **limits: int) -> Bench:
    settings = {"max_inputs": 1, "max_in_flight": 1, **limits}
    embedder = provider.embedder(BatchLimits(**settings), max_in_flight=settings["max_in_flight"])
    return Bench(home, settings=CHUNKER, embedder=embedder)  # type: ignore[arg-type]


def sync(bench: Bench) -> variorum.Report:
    with bench.open() as index:
        return index.sync()


def passages(provider: Provider) -> list[str]:
    """The inputs of every request but the probe's."""
    return [text for one in provider.requests for text in one.inputs if text not in PROBES]


def assert_every_chunk_has_its_own_vector(bench: Bench) -> None:
    stored = vectors_stored(bench.store)
    model = HashingEmbedder(DIMENSIONS)
    fingerprint = bench.embedder.identity.fingerprint
    for one in bench.stored().documents.values():
        for text in one.slices:
            key = input_key(TENANT, fingerprint, "passage", text.strip())
            expected = model.embed([text.strip()])[0]
            found = memoryview(stored[key]).cast("f").tolist()
            assert found == pytest.approx(expected.tolist(), abs=1e-6)


def five_documents(bench: Bench) -> None:
    bench.write({f"{n}.md": document(f"D{n}", count=10) for n in range(5)})


def test_EMB_02_rows_in_another_order_are_matched_by_their_index(
    tmp_path: Path, provider: Provider
) -> None:
    provider.schedule = ["reversed"] * 20
    bench = bench_of(tmp_path, provider, max_inputs=4)
    bench.write({f"{n}.md": document(f"A{n}", f"B{n}", count=10) for n in range(8)})
    sync(bench)
    assert_every_chunk_has_its_own_vector(bench)


def test_EMB_04_a_rate_limit_costs_one_request_and_the_wait_it_asks_for(
    tmp_path: Path, provider: Provider
) -> None:
    bench = bench_of(tmp_path, provider)
    five_documents(bench)
    probe_calls = len(PROBES)
    provider.schedule = [""] * probe_calls + ["", "429-later"]
    assert sync(bench).generation == 1
    assert len(provider.requests) - probe_calls == 6
    assert provider.clock.slept == [1.0]


def test_EMB_05_a_provider_that_stays_away_publishes_nothing_and_the_next_run_goes_on(
    tmp_path: Path, provider: Provider
) -> None:
    bench = bench_of(tmp_path, provider)
    bench.write({"old.md": document("Old", count=10)})
    sync(bench)
    five_documents(bench)
    before = bench.stored().plain()
    seen = len(provider.requests)
    provider.schedule = [""] * (seen + len(PROBES) + 2) + ["429"] * 50
    with pytest.raises(UnavailableError) as caught:
        sync(bench)
    assert caught.value.kind == "rate-limited"
    assert "2 of 5 inputs are kept" in caught.value.message
    assert "the 3 that are left" in caught.value.remedy
    assert bench.stored().plain() == before
    provider.schedule = []
    seen = len(passages(provider))
    assert sync(bench).generation == 2
    assert len(passages(provider)) - seen == 3


def test_EMB_10_only_the_slow_batch_is_repeated(tmp_path: Path, provider: Provider) -> None:
    bench = bench_of(tmp_path, provider, max_in_flight=2)
    bench.write({f"{n}.md": document(f"D{n}", count=2 + 2 * n) for n in range(10)})
    provider.schedule = [""] * (len(PROBES) + 4) + ["500"]
    assert sync(bench).generation == 1
    sent = passages(provider)
    assert len(sent) == len(set(sent)) + 1


@pytest.mark.parametrize("fault", ["nan", "infinite", "narrow", "null"])
def test_EMB_11_an_unusable_row_is_asked_for_again_and_never_stored(
    tmp_path: Path, provider: Provider, fault: str
) -> None:
    bench = bench_of(tmp_path, provider, max_inputs=8)
    five_documents(bench)
    provider.schedule = ["", fault]
    assert sync(bench).generation == 1
    assert [len(one.inputs) for one in provider.requests] == [len(PROBES), 5, 1]
    assert_every_chunk_has_its_own_vector(bench)
    with bench.open() as index:
        assert index.verify() == []


def configured(home: Path, spec: str) -> Bench:
    bench = Bench(home, settings=f"[model]\nspec = '{spec}'\n{CHUNKER}")
    bench.configure(bench.settings)
    return bench


@pytest.mark.parametrize("declared", [True, False])
def test_EMB_12_a_model_that_moves_keeps_its_vectors_where_it_is_declared_the_same(
    tmp_path: Path, provider: Provider, declared: bool
) -> None:
    names = {"declared": "tiny-2026"} if declared else {}
    bench = configured(tmp_path, provider.spec(model="tiny", **names))
    five_documents(bench)
    with bench.open(embedder=None) as index:
        index.sync()
    seen = len(passages(provider))
    bench = configured(tmp_path, provider.spec(model="gateway/tiny", **names))
    with bench.open(embedder=None) as index:
        report = index.sync()
        assert len(index.search("d3", k=2).hits) == 2
    assert report.inputs.embed == (0 if declared else 5)
    assert len([one for one in passages(provider)[seen:] if one != "d3"]) == report.inputs.embed


def test_a_third_of_failing_requests_ends_complete_with_the_calls_that_the_schedule_implies(
    tmp_path: Path, provider: Provider
) -> None:
    faults = schedule(3, 300, 0.3, [kind for kind in WHOLE if kind != "slow"] + list(ROWS))
    provider.schedule = [""] * 1 + faults
    limits = BatchLimits(max_inputs=4, max_in_flight=3)
    embedder = provider.embedder(limits, max_in_flight=3, attempts=20)
    bench = Bench(tmp_path, settings=CHUNKER, embedder=embedder)  # type: ignore[arg-type]
    bench.write({f"{n}.md": document(f"D{n}", count=10) for n in range(60)})
    report = sync(bench)
    assert (report.generation, report.inputs.embed, report.held) == (1, 60, ())
    sound = [number for number, fault in enumerate(faults, 1) if fault in ("", "reversed")]
    assert len(provider.requests) == 1 + sound[60 // 4 - 1]
    assert provider.most_running <= 3
    assert_every_chunk_has_its_own_vector(bench)


def requests_implied(
    batches: Sequence[Sequence[str]], faults: Sequence[str], poison: str
) -> list[list[str]]:
    """The inputs of every request, one after the other: what the schedule makes of the batches.

    A plain retelling of the rules: what fails for a while is sent again, a spoiled row's input by
    itself, a refused batch in halves.
    """
    requests: list[list[str]] = []
    for batch in batches:
        pending = [list(batch)]
        while pending:
            group = pending.pop()
            number = len(requests)
            requests.append(group)
            if any(poison in text for text in group):
                middle = len(group) // 2
                pending += [group[middle:], group[:middle]] if middle else []
            elif faults[number] in WHOLE or (faults[number] in ROWS and len(group) == 1):
                pending.append(group)
            elif faults[number] in ROWS:
                pending.append([group[number % len(group)]])
    return requests


@pytest.mark.parametrize("seed", [1, 2])
def test_a_third_of_requests_failing_in_every_way_costs_just_what_the_schedule_implies(
    tmp_path: Path, provider: Provider, seed: int
) -> None:
    """Request by request, within both limits, and with one input that is refused for good."""
    provider.schedule = ["", *schedule(seed, 200, 0.3, WHOLE + ROWS)]
    provider.poison = "D031"
    embedder = provider.embedder(
        BatchLimits(max_inputs=4, max_in_flight=1),
        max_in_flight=1,
        attempts=20,
        timeout_s=SLOW_S / 2,
        requests_per_minute=20,
        tokens_per_minute=6000,
    )
    bench = Bench(tmp_path, settings=CHUNKER, embedder=embedder)  # type: ignore[arg-type]
    bench.write({f"{n:03}.md": document(f"D{n:03}", count=10) for n in range(240)})
    report = sync(bench)
    assert [str(one.document) for one in report.held] == ["docs:031.md"]
    assert (report.generation, report.documents.added) == (1, 239)
    sent = [document(f"D{n:03}", count=10).strip() for n in range(240)]
    batches = [PROBES, *[sent[n : n + 4] for n in range(0, 240, 4)]]
    implied = requests_implied(batches, provider.schedule, provider.poison)
    assert [one.inputs for one in provider.requests] == implied
    assert {one.fault for one in provider.requests} >= {*WHOLE, *ROWS, "reversed"}
    for first in provider.requests:
        minute = [one for one in provider.requests if first.at <= one.at < first.at + 60]
        assert len(minute) <= 20
        assert sum(sum(embedder.count(one.inputs)) for one in minute) <= 6000
    assert_every_chunk_has_its_own_vector(bench)


def test_an_input_that_the_provider_refuses_holds_its_document_with_the_reason(
    tmp_path: Path, provider: Provider
) -> None:
    provider.poison = "D3"
    bench = bench_of(tmp_path, provider, max_inputs=8)
    five_documents(bench)
    report = sync(bench)
    assert [str(one.document) for one in report.held] == ["docs:3.md"]
    assert "status 400" in report.held[0].message
    assert report.documents.added == 4


def test_a_model_swapped_behind_its_name_is_caught_before_it_answers_or_embeds(
    tmp_path: Path, provider: Provider
) -> None:
    bench = bench_of(tmp_path, provider)
    five_documents(bench)
    sync(bench)
    before = vectors_stored(bench.store)

    class Other(HashingEmbedder):
        def embed(self, inputs, role="passage"):
            return super().embed(inputs, role)[:, ::-1].copy()

    provider.model = Other(DIMENSIONS)
    bench.write({"new.md": document("New", count=10)})
    with bench.open() as index:
        with pytest.raises(UnavailableError) as found:
            index.search("d3")
        assert found.value.kind == "model-swapped"
        with pytest.raises(UnavailableError) as found:
            index.sync()
        assert found.value.kind == "model-swapped"
    assert vectors_stored(bench.store) == before
    provider.model = HashingEmbedder(DIMENSIONS)
    assert sync(bench).generation == 2


def test_a_sync_that_changes_nothing_asks_the_provider_nothing(
    tmp_path: Path, provider: Provider
) -> None:
    bench = bench_of(tmp_path, provider)
    five_documents(bench)
    sync(bench)
    seen = len(provider.requests)
    assert sync(bench).generation is None
    assert len(provider.requests) == seen
