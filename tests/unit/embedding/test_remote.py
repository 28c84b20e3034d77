import threading
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provider import ROWS, SLOW_S, WHOLE, FakeClock, Provider, schedule
from variorum.embedding import CallCount, Embedded, HashingEmbedder, Rejected, embed_in_order
from variorum.embedding.batches import BatchLimits
from variorum.embedding.remote.pace import Bucket
from variorum.embedding.remote.protocol import retry_after_s
from variorum.embedding.remote.secrets import MASK, Key, key_from_environment
from variorum.records.errors import InputRejectedError, UnavailableError

TEXTS = [f"text number {place}" for place in range(40)]
NOW = datetime(2026, 11, 30, 7, 0, 0, tzinfo=UTC)


@pytest.fixture
def provider():
    with Provider().serving() as found:
        yield found


def calls_implied(faults, sound_answers):
    """The fewest requests among which so many are answered soundly."""
    left = sound_answers
    for number, fault in enumerate(faults, start=1):
        left -= fault in ("", "reversed")
        if not left:
            return number
    raise AssertionError("the schedule is too short")


def embedded(embedder, texts):
    outcomes = list(embed_in_order(embedder, enumerate(texts)))
    assert [outcome.key for outcome in outcomes] == list(range(len(texts)))
    return outcomes


def test_vectors_come_back_in_the_order_of_the_inputs_whatever_the_order_of_the_rows(provider):
    provider.schedule = ["reversed"]
    vectors = provider.embedder().embed(["one", "two", "three"])
    assert vectors == pytest.approx(HashingEmbedder(64).embed(["one", "two", "three"]), abs=1e-6)
    assert len(provider.requests) == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("in_flight", [1, 4])
def test_a_third_of_failing_requests_cost_exactly_the_calls_that_the_schedule_implies(
    provider, seed, in_flight
):
    provider.schedule = schedule(seed, 200, 0.3, WHOLE + ROWS)
    limits = BatchLimits(max_inputs=4, max_in_flight=in_flight)
    embedder = provider.embedder(limits, max_in_flight=in_flight, attempts=20, timeout_s=SLOW_S / 2)
    outcomes = embedded(embedder, TEXTS)
    assert all(isinstance(outcome, Embedded) for outcome in outcomes)
    expected = HashingEmbedder(64).embed(TEXTS)
    assert np.stack([one.vector for one in outcomes]) == pytest.approx(expected, abs=1e-6)
    assert len(provider.requests) == calls_implied(provider.schedule, len(TEXTS) // 4)
    assert provider.most_running <= in_flight


@pytest.mark.parametrize(("requests", "tokens"), [(10, None), (None, 2048), (12, 4096)])
def test_no_minute_holds_more_requests_or_tokens_than_allowed(provider, requests, tokens):
    provider.schedule = schedule(7, 200, 0.3, [kind for kind in WHOLE if kind != "slow"])
    limits = BatchLimits(max_inputs=4, max_tokens=512, max_in_flight=1)
    embedder = provider.embedder(
        limits,
        requests_per_minute=requests,
        tokens_per_minute=tokens,
        max_in_flight=1,
        attempts=20,
    )
    embedded(embedder, ["a longer text, so that its tokens add up " + text for text in TEXTS])
    for first in provider.requests:
        minute = [one for one in provider.requests if first.at <= one.at < first.at + 60]
        spent = sum(sum(embedder.count(one.inputs)) for one in minute)
        assert requests is None or len(minute) <= requests
        assert tokens is None or spent <= tokens
    assert provider.clock.time > 60, "the limits never mattered"


@given(
    per_minute=st.integers(2, 500),
    steps=st.lists(st.tuples(st.floats(0, 30), st.floats(0, 1)), min_size=1, max_size=80),
)
def test_a_bucket_lets_no_more_through_in_any_minute_than_its_allowance(per_minute, steps):
    clock = FakeClock()
    bucket = Bucket(per_minute, clock)
    spent = []
    for idle, share in steps:
        clock.sleep(idle)
        cost = share * bucket.capacity
        clock.sleep(bucket.wait_s(cost))
        bucket.wait_s(cost)
        bucket.take(cost)
        spent.append((clock.now(), cost))
    for start, _ in spent:
        minute = sum(cost for at, cost in spent if start <= at < start + 60)
        assert minute <= per_minute + 1e-6


def test_a_provider_that_says_when_to_come_back_is_left_alone_until_then(provider):
    provider.schedule = ["429-later"]
    provider.embedder().embed(["one"])
    assert provider.clock.slept[0] == 1.0
    assert len(provider.requests) == 2


def test_waits_double_and_are_shortened_by_jitter(provider):
    provider.schedule = ["500"] * 4
    provider.embedder(attempts=5, first_wait_s=1, longest_wait_s=3).embed(["one"])
    assert provider.clock.slept == [1, 2, 3, 3]


def test_a_provider_that_asks_for_too_long_a_wait_ends_the_run_at_once(provider):
    provider.schedule = ["429-later"]
    with pytest.raises(UnavailableError) as caught:
        provider.embedder(longest_retry_after_s=0.5).embed(["one"])
    assert (caught.value.kind, len(provider.requests)) == ("rate-limited", 1)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("429", "rate-limited"),
        ("500", "provider-error"),
        ("reset", "provider-unreachable"),
        ("cut", "provider-unreachable"),
        ("no-json", "bad-embedding-answer"),
        ("short", "bad-embedding-answer"),
        ("slow", "provider-timeout"),
        *((row, "bad-embedding-answer") for row in ROWS),
    ],
)
def test_a_fault_that_stays_is_an_error_after_every_attempt(provider, fault, kind):
    provider.schedule = [fault] * 9
    with pytest.raises(UnavailableError) as caught:
        provider.embedder(attempts=3, timeout_s=SLOW_S / 2).embed(["one"])
    assert (caught.value.kind, len(provider.requests)) == (kind, 3)
    assert caught.value.remedy


@pytest.mark.parametrize(("fault", "kind"), [("401", "key-refused"), ("404", "no-such-endpoint")])
def test_what_no_repetition_mends_is_not_repeated(provider, fault, kind):
    provider.schedule = [fault]
    with pytest.raises(UnavailableError) as caught:
        provider.embedder().embed(["one"])
    assert (caught.value.kind, len(provider.requests)) == (kind, 1)


def test_nobody_there_is_an_error_that_names_the_address():
    with Provider().serving() as gone:
        embedder = gone.embedder(attempts=2)
    with pytest.raises(UnavailableError) as caught:
        embedder.embed(["one"])
    assert (caught.value.kind, caught.value.subject) == (
        "provider-unreachable",
        f"{gone.url}/embeddings",
    )


def test_a_refused_batch_is_halved_down_to_the_input_at_fault(provider):
    provider.poison = "number 5"
    texts = TEXTS[:8]
    count = CallCount()
    embedder = provider.embedder(BatchLimits(max_inputs=8))
    outcomes = list(embed_in_order(embedder, enumerate(texts), count=count))
    rejected = [outcome.key for outcome in outcomes if isinstance(outcome, Rejected)]
    assert rejected == [5]
    assert [len(one.inputs) for one in provider.requests] == [8, 4, 4, 2, 1, 1, 2]
    assert (count.calls, count.embedded, count.rejected) == (7, 7, 1)


def test_a_row_that_stays_unusable_sets_its_input_aside_and_keeps_the_others(provider):
    class Spoiling(HashingEmbedder):
        def embed(self, inputs, role="passage"):
            vectors = super().embed(inputs, role)
            for place, text in enumerate(inputs):
                if "number 2" in text:
                    vectors[place] = np.nan
            return vectors

    outcomes = list(embed_in_order(Spoiling(64), enumerate(TEXTS[:4])))
    assert [type(outcome) for outcome in outcomes] == [Embedded, Embedded, Rejected, Embedded]


def test_what_a_batch_paid_for_before_it_failed_is_given_back(provider):
    provider.poison = "number 1"
    provider.schedule = ["", "", "", "", *["500"] * 9]
    kept = []
    embedder = provider.embedder(BatchLimits(max_inputs=4, max_in_flight=1), attempts=2)
    outcomes = embed_in_order(embedder, enumerate(TEXTS[:8]))
    with pytest.raises(UnavailableError):
        kept.extend(outcome.key for outcome in outcomes)
    assert kept == [0, 1]


def test_an_input_over_the_limit_is_refused_before_anything_is_sent(provider):
    embedder = provider.embedder()
    with pytest.raises(InputRejectedError) as caught:
        embedder.embed(["fine", "x" * 513])
    assert (caught.value.index, provider.requests) == (1, [])


def test_the_key_is_sent_in_a_header_and_printed_nowhere(provider, monkeypatch, caplog):
    monkeypatch.setenv("TINY_KEY", "sk-very-secret")
    caplog.set_level(0)
    from variorum.embedding import embedder_from_spec

    spec = provider.spec(key_env="TINY_KEY", attempts=1)
    embedder = embedder_from_spec(spec)
    embedder.embed(["one"])
    assert provider.requests[0].headers["authorization"] == "Bearer sk-very-secret"
    provider.schedule = ["", "401", "500"]
    for _ in range(2):
        with pytest.raises(UnavailableError) as caught:
            embedder.embed(["one"])
        printed = f"{caught.value.as_fields()} {caught.value!r} {vars(embedder)} {spec}"
        assert MASK in caught.value.found
        assert "sk-very-secret" not in printed + caplog.text


def test_a_key_that_is_not_in_the_environment_is_an_error_that_names_the_variable():
    with pytest.raises(UnavailableError) as caught:
        key_from_environment("TINY_KEY", {"TINY_KEY": " "})
    assert (caught.value.kind, caught.value.subject) == ("no-key", "TINY_KEY")
    assert f"{Key('abc')} {Key('abc')!r}" == f"{MASK} {MASK}"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("Mon, 30 Nov 2026 07:00:10 GMT", 10.0),
        ("Mon, 30 Nov 2026 06:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_when_to_come_back_is_read_as_seconds_or_as_a_date(header, seconds):
    assert retry_after_s(header, NOW) == seconds


def test_threads_share_one_allowance(provider):
    provider.pause_s = 0.02
    embedder = provider.embedder(max_in_flight=2)
    threads = [threading.Thread(target=embedder.embed, args=(["one"],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(provider.requests), provider.most_running) == (8, 2)
