import threading
import time

import numpy as np
import pytest

from variorum.embedding import (
    BatchLimits,
    CallCount,
    Embedded,
    HashingEmbedder,
    Rejected,
    embed_and_keep,
    embed_in_order,
)
from variorum.records.errors import BugError, InputError, InputRejectedError, UnavailableError

SMALL = BatchLimits(max_inputs=4, max_bytes=1_000, max_in_flight=2)


class Recording(HashingEmbedder):
    """Records its calls; fails or answers wrongly on request."""

    def __init__(self, answer=None, **parameters):
        super().__init__(dimensions=8, **parameters)
        self.calls = []
        self.running = self.most_running = 0
        self._answer = answer
        self._guard = threading.Lock()

    def embed(self, inputs, role="passage"):
        with self._guard:
            self.calls.append((list(inputs), role))
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        try:
            vectors = super().embed(inputs, role)
            return self._answer(inputs, vectors) if self._answer else vectors
        finally:
            with self._guard:
                self.running -= 1


def keyed(texts):
    return ((f"key {place}", text) for place, text in enumerate(texts))


def test_every_input_has_one_outcome_in_the_order_given():
    texts = [f"text {place}" for place in range(23)]
    count = CallCount()
    outcomes = list(embed_in_order(Recording(), keyed(texts), limits=SMALL, count=count))
    assert [outcome.key for outcome in outcomes] == [f"key {place}" for place in range(23)]
    assert np.array_equal(
        np.stack([outcome.vector for outcome in outcomes]), HashingEmbedder(8).embed(texts)
    )
    assert count == CallCount(calls=6, embedded=23, rejected=0)


def test_nothing_to_embed_calls_nothing():
    embedder = Recording()
    assert list(embed_in_order(embedder, iter([]))) == []
    assert embedder.calls == []


def test_a_batch_ends_at_its_number_of_inputs_or_of_characters():
    embedder = Recording()
    texts = ["a" * 600, "b" * 600, "c" * 3_000, *"defghi"]
    limits = BatchLimits(max_inputs=4, max_bytes=1_000, max_in_flight=1)
    list(embed_in_order(embedder, keyed(texts), limits=limits, role="query"))
    assert [[text[0] for text in call] for call, _ in embedder.calls] == [
        ["a"],
        ["b"],
        ["c"],
        ["d", "e", "f", "g"],
        ["h", "i"],
    ]
    assert {role for _, role in embedder.calls} == {"query"}


def test_a_refused_input_is_set_aside_and_its_companions_are_embedded():
    embedder = Recording(max_tokens=8)
    long = "one two three four five six seven"
    texts = ["a", long, "b", long, "c"]
    count = CallCount()
    outcomes = list(embed_in_order(embedder, keyed(texts), limits=SMALL, count=count))
    assert [type(outcome) for outcome in outcomes] == [
        Embedded,
        Rejected,
        Embedded,
        Rejected,
        Embedded,
    ]
    assert outcomes[1].found == "9 tokens"
    assert outcomes[1].expected == "at most 8 tokens"
    assert count == CallCount(calls=4, embedded=3, rejected=2)


def test_a_batch_of_refused_inputs_gives_rejections_only():
    long = "one two three four five six seven"
    outcomes = list(embed_in_order(Recording(max_tokens=8), keyed([long, long])))
    assert [type(outcome) for outcome in outcomes] == [Rejected, Rejected]


def test_inputs_are_read_no_further_ahead_than_the_batches_in_flight():
    read = []

    def inputs():
        for place in range(100):
            read.append(place)
            yield place, "text"

    iterator = embed_in_order(Recording(), inputs(), limits=SMALL)
    next(iterator)
    # Two batches with the embedder, one waiting, and the input that showed the last was full.
    assert len(read) <= 4 * 3 + 1
    iterator.close()


def test_no_more_batches_run_at_once_than_allowed():
    def slow(_, vectors):
        time.sleep(0.005)
        return vectors

    embedder = Recording(slow)
    list(embed_in_order(embedder, keyed(["text"] * 40), limits=SMALL))
    assert embedder.most_running == 2


def test_an_error_is_raised_after_what_was_embedded_and_loses_none_of_it():
    def broken(inputs, vectors):
        if "text 9" in inputs:
            raise UnavailableError("gone", kind="provider-gone")
        return vectors

    texts = [f"text {place}" for place in range(40)]
    count = CallCount()
    outcomes = embed_in_order(Recording(broken), keyed(texts), limits=SMALL, count=count)
    keys = []
    with pytest.raises(UnavailableError, match="gone"):
        keys.extend(outcome.key for outcome in outcomes)
    assert keys[:8] == [f"key {place}" for place in range(8)]
    assert len(keys) == len(set(keys)) == count.embedded
    assert "key 9" not in keys


def test_closing_the_iterator_ends_its_threads():
    before = threading.active_count()
    iterator = embed_in_order(Recording(), keyed(["text"] * 100), limits=SMALL)
    next(iterator)
    iterator.close()
    assert threading.active_count() == before


@pytest.mark.parametrize(
    "answer",
    [
        lambda _, vectors: vectors[:-1],
        lambda _, vectors: vectors[:, :-1],
        lambda _, vectors: vectors.astype(np.float64),
        lambda _, vectors: vectors * np.float32(1.01),
        lambda _, vectors: vectors * np.float32("nan"),
        lambda _, vectors: np.full_like(vectors, np.inf),
        lambda _, vectors: vectors * np.float32(0),
    ],
)
def test_an_answer_of_the_wrong_shape_type_or_length_is_refused(answer):
    with pytest.raises(UnavailableError) as caught:
        list(embed_in_order(Recording(answer), keyed(["one", "two"])))
    assert caught.value.kind == "bad-embedding-answer"


def test_a_refusal_of_an_input_that_was_not_sent_is_a_bug():
    def refuse(*_):
        raise InputRejectedError("no", index=7)

    with pytest.raises(BugError):
        list(embed_in_order(Recording(refuse), keyed(["one"])))


@pytest.mark.parametrize("name", ["max_inputs", "max_tokens", "max_bytes", "max_in_flight"])
def test_a_limit_under_one_is_an_input_error(name):
    with pytest.raises(InputError) as caught:
        BatchLimits(**{name: 0})
    assert (caught.value.kind, caught.value.subject) == ("bad-parameter", name)


def test_a_vector_does_not_keep_its_whole_batch_in_memory():
    (outcome, *_) = embed_in_order(Recording(), keyed(["one", "two"]))
    assert outcome.vector.base is None


def test_an_interrupt_in_the_middle_of_keeping_loses_no_answer():
    embedder, kept, interrupts = Recording(), [], [KeyboardInterrupt]

    def keep(outcomes):
        if interrupts:
            raise interrupts.pop()
        kept.extend(outcome.key for outcome in outcomes)

    inputs = [(f"text {n}", f"text {n}") for n in range(20)]
    with pytest.raises(KeyboardInterrupt):
        embed_and_keep(embedder, inputs, keep, limits=SMALL)
    answered = [text for texts, _ in embedder.calls for text in texts]
    assert answered
    assert sorted(kept) == sorted(answered)
