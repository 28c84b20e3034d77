"""Another model: built beside the old, switched to in one publish, gone back from for nothing."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import variorum
from variorum.embedding.hashing import HashingEmbedder
from variorum.embedding.throttled import Throttled
from variorum.records.errors import ConflictError, InputError, NotFoundError, UnavailableError
from variorum.records.protocols import Role, Vectors
from workbench import Bench, Recorder, document, key_of, vectors_stored, words

OLD, NEW = 64, 96


class Fragile(Recorder):
    """Fails for good at the passage after `left`."""

    def __init__(self, dimensions: int, left: int) -> None:
        super().__init__(dimensions)
        self.left = left

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if len(self.passages) + len(inputs) > self.left:
            raise UnavailableError("gone", kind="gone", expected="an answer", remedy="wait")
        return super().embed(inputs, role)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, embedder=Recorder(OLD))
    bench.write({f"{n}.md": document(f"One{n}", f"Two{n}", f"Three{n}") for n in range(12)})
    bench.write({"中.md": "# 差旅\n\n住宿限额为每人每晚四百五十元。\n"})
    bench.sync()
    return bench


def switched(bench: Bench, embedder: Recorder, **named: object) -> variorum.Report:
    with bench.open() as index:
        return index.use_model(embedder, **named)  # type: ignore[arg-type]


def answers(bench: Bench, embedder: Recorder, query: str, as_of: int | None = None) -> object:
    with bench.open(embedder=embedder) as index:
        return index.search(query, as_of=as_of).as_fields()["hits"]


def test_a_switch_is_one_publish_that_a_fresh_index_of_the_new_model_agrees_with(
    bench: Bench, tmp_path: Path
) -> None:
    new, query = Recorder(NEW), words("two2", 4)
    before = answers(bench, bench.embedder, query)
    report = switched(bench, new)
    assert (report.parent, report.generation) == (1, 2)
    assert len(new.taken()) == report.inputs.embed == len(bench.stored().tokens)
    fresh = Bench(tmp_path / "fresh", embedder=Recorder(NEW))
    fresh.write({path.name: path.read_bytes() for path in bench.root.iterdir()})
    fresh.sync()
    assert _without_times(answers(bench, new, query)) == _without_times(
        answers(fresh, fresh.embedder, query)
    )
    assert answers(bench, bench.embedder, query, as_of=1) == before
    with bench.open() as index:
        assert index.verify() == []


def _without_times(hits: object) -> list[dict[str, object]]:
    assert isinstance(hits, list)
    return [{name: hit[name] for name in hit if name != "changed_at"} for hit in hits]


def test_going_back_embeds_nothing_and_answers_as_before(bench: Bench) -> None:
    query = words("three1", 4)
    before = answers(bench, bench.embedder, query)
    switched(bench, Recorder(NEW))
    bench.embedder.taken()
    report = switched(bench, bench.embedder)
    assert (report.generation, report.inputs.embed, report.embedder_calls) == (3, 0, 0)
    assert bench.embedder.taken() == []
    assert answers(bench, bench.embedder, query) == before


def test_going_back_pays_for_what_changed_meanwhile_and_nothing_else(bench: Bench) -> None:
    switched(bench, Recorder(NEW))
    bench.write({"0.md": document("One0", "Two0", "Four")})
    with bench.open(embedder=Recorder(NEW)) as index:
        index.sync()
    report = switched(bench, bench.embedder)
    assert report.inputs.embed == 1


def test_a_model_that_breaks_off_leaves_the_old_one_answering_and_is_paid_once(
    bench: Bench,
) -> None:
    query = words("two2", 4)
    before = answers(bench, bench.embedder, query)
    wanted = len(bench.stored().tokens)
    with pytest.raises(UnavailableError):
        switched(bench, Fragile(NEW, wanted // 2))
    kept = set(vectors_stored(bench.store))
    assert bench.stored().generation == 1
    assert answers(bench, bench.embedder, query) == before
    again = Recorder(NEW)
    report = switched(bench, again)
    asked = again.taken()
    assert report.generation == 2
    assert 0 < len(asked) < wanted
    assert not {key_of(again, text) for text in asked} & kept


def test_a_dry_run_counts_and_writes_nothing(bench: Bench) -> None:
    before = vectors_stored(bench.store)
    promised = switched(bench, Recorder(NEW), dry_run=True)
    assert (promised.generation, bench.stored().generation) == (None, 1)
    assert vectors_stored(bench.store) == before
    assert switched(bench, Recorder(NEW)).inputs == promised.inputs


def test_a_model_that_is_in_use_already_publishes_nothing(bench: Bench) -> None:
    assert switched(bench, bench.embedder).generation is None


def test_a_switch_lists_no_source(bench: Bench) -> None:
    bench.write({"0.md": document("Other"), "new.md": document("New")})
    old = bench.stored().slices
    switched(bench, Recorder(NEW))
    assert bench.stored().slices == old


def test_a_limit_is_kept_before_anything_is_embedded(bench: Bench) -> None:
    new = Recorder(NEW)
    with pytest.raises(ConflictError) as refused:
        switched(bench, new, max_tokens=10)
    assert (refused.value.kind, new.taken()) == ("over-budget", [])


def test_a_sync_does_not_undo_a_switch_because_a_file_was_not_edited(bench: Bench) -> None:
    spec = "hashing(dimensions=48)"
    bench.configure('[model]\nspec = "hashing(dimensions=32)"\n' + bench.settings)
    with variorum.open(bench.home) as index:
        index.use_model("hashing(dimensions=32)")
        index.use_model(spec)
        with pytest.raises(ConflictError) as refused:
            index.sync()
        assert refused.value.kind == "model-switched"
        assert [(one.spec, one.is_current) for one in index.models()][-1] == (spec, True)
    with variorum.open(bench.home, model="hashing(dimensions=32)") as index:
        assert index.plan().report.inputs.embed == 0
    bench.configure(f'[model]\nspec = "{spec}"\n' + bench.settings)
    with variorum.open(bench.home) as index:
        assert index.sync().generation is None
        index.use_model("hashing(dimensions=32)")
    bench.configure('[model]\nspec = "hashing(dimensions=32)"\n' + bench.settings)
    with variorum.open(bench.home) as index:
        assert index.sync().generation is None


def test_a_restore_of_a_generation_of_the_old_model_answers_by_it(bench: Bench) -> None:
    query = words("two2", 4)
    before = answers(bench, bench.embedder, query)
    switched(bench, Recorder(NEW))
    with bench.open() as index:
        assert index.restore(1) == 3
        assert index.models()[0].is_current
    assert answers(bench, bench.embedder, query) == before


def test_what_is_not_published_has_no_model(tmp_path: Path) -> None:
    with Bench(tmp_path).open() as index, pytest.raises(NotFoundError):
        index.use_model("e5-small")


class ByHand:
    """A clock that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def test_a_throttled_model_is_never_asked_for_more_than_its_rate_in_any_minute() -> None:
    clock = ByHand()
    inner = HashingEmbedder(32, 64)
    throttled = Throttled.of(inner, 400, clock)
    sent: list[tuple[float, int]] = []
    for n in range(60):
        text = words(f"text{n}", 8)
        tokens = inner.count([text])[0]
        throttled.embed([text])
        sent.append((clock.time, tokens))
    for moment, _ in sent:
        assert sum(tokens for at, tokens in sent if moment <= at < moment + 60) <= 400
    assert throttled.batch_limits.max_tokens == 100


def test_a_rate_under_four_inputs_is_refused() -> None:
    with pytest.raises(InputError):
        Throttled.of(HashingEmbedder(32, 64), 255)
