"""Windows of the semantic chunker go through the store, and are counted apart."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import variorum
from variorum.embedding import HashingEmbedder
from variorum.records.errors import ConflictError
from variorum.records.reports import Report
from workbench import Bench, promise

SENTENCES = [
    f"Sentence {n} speaks of {word} at some length."
    for n in range(8)
    for word in ("tides", "gauges", "harbours")
]
SETTINGS = """
[sources.docs]
root = "docs"
[chunking]
chunker = "semantic(max_tokens=80, min_tokens=10)"
"""


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(64)
        self.asked: list[str] = []

    def embed(self, inputs, role="passage"):  # type: ignore[no-untyped-def]
        self.asked += inputs
        return super().embed(inputs, role)


def opened(home: Path, embedder: HashingEmbedder) -> variorum.Index:
    (home / "variorum.toml").write_text(SETTINGS)
    return variorum.open(home, embedder=embedder)


def write(home: Path, sentences: list[str]) -> None:
    (home / "docs").mkdir(exist_ok=True)
    (home / "docs/a.txt").write_text(" ".join(sentences))


def test_an_edit_embeds_the_windows_that_it_touched_and_two_where_the_planner_begins_and_ends(
    tmp_path: Path,
) -> None:
    embedder = Counting()
    write(tmp_path, SENTENCES)
    with opened(tmp_path, embedder) as index:
        first = index.sync()
        assert first.windows.embed == len(SENTENCES)
        write(tmp_path, [*SENTENCES[:10], "A new one stands here.", *SENTENCES[10:]])
        embedder.asked.clear()
        second = index.sync()
    assert second.windows.embed == 3 + 2
    assert 0 < second.windows.reuse < first.windows.embed
    assert len(embedder.asked) == second.windows.embed + second.inputs.embed


def test_a_plan_leaves_its_windows_out_of_the_store(tmp_path: Path) -> None:
    write(tmp_path, SENTENCES)
    with opened(tmp_path, Counting()) as index:
        assert index.plan().report.windows.embed == len(SENTENCES)
        assert not index.store.exists
        assert index.sync().windows.embed == len(SENTENCES)


def test_windows_count_against_the_budget_before_they_are_spent(tmp_path: Path) -> None:
    embedder = Counting()
    write(tmp_path, SENTENCES)
    with opened(tmp_path, embedder) as index, pytest.raises(ConflictError) as caught:
        index.sync(max_tokens=50)
    assert caught.value.kind == "over-budget"
    assert embedder.asked == []


def test_windows_and_inputs_share_one_budget(tmp_path: Path) -> None:
    write(tmp_path, SENTENCES)
    with opened(tmp_path, Counting()) as index:
        planned = index.plan().report
        windows, inputs = planned.windows.tokens, planned.tokens.embed
        with pytest.raises(ConflictError) as caught:
            index.sync(max_tokens=windows + inputs - 1)
        assert caught.value.found == f"{windows + inputs:,} tokens"
        assert f"{windows:,} of them went into finding the chunks" in caught.value.message
        assert index.log() == []
        assert index.sync(max_tokens=inputs).generation == 1  # the windows have their vectors


def test_many_documents_are_planned_by_meaning_before_there_is_a_store(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(6):
        (tmp_path / f"docs/{number}.txt").write_text(" ".join(SENTENCES[number:]))
    with opened(tmp_path, Counting()) as index:
        assert index.plan().report.documents.added == 6


POOL = (
    "The tide gauge was cleaned.",
    "The harbour closes at dusk.",
    "住宿限额为每人每晚四百五十元。",
    "高铁二等座可以全额报销。",
    "Leave is twenty-five days a year.",
    "Ask the desk.",
)
CORPORA = st.dictionaries(
    st.sampled_from(["a.txt", "b.txt", "c.md", "d.md"]),
    st.lists(st.sampled_from(POOL), min_size=1, max_size=7),
    max_size=4,
)


def promised(report: Report) -> dict[str, object]:
    return {**promise(report), "windows": report.as_fields()["windows"]}


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("window", [1, 3])
@settings(max_examples=10, deadline=None)
@given(editions=st.lists(CORPORA, min_size=2, max_size=3))
def test_a_sync_does_what_the_plan_counted_also_where_windows_equal_chunks_and_documents_share_them(
    window: int, precision: str, editions: list[dict[str, list[str]]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(
            Path(folder),
            f'[chunking]\nchunker = "semantic(max_tokens=40, min_tokens=4, window={window})"\n'
            f'[store]\nvectors = "{precision}"\n',
        )
        for edition in editions:
            shutil.rmtree(bench.root)
            bench.root.mkdir()
            bench.write({name: " ".join(lines) for name, lines in edition.items()})
            plan = bench.plan(allow_empty=True)
            report, asked = bench.sync(allow_empty=True)
            assert promised(report) == promised(plan)
            assert len(asked) == plan.windows.embed + plan.inputs.embed


def test_a_plan_embeds_a_window_that_two_documents_share_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, '[chunking]\nchunker = "semantic(max_tokens=40, min_tokens=4)"\n')
    bench.write({f"{n}.txt": " ".join(POOL) for n in range(2)} | {"3.txt": " ".join(POOL[:4])})
    with bench.open() as index:
        windows = index.plan().report.windows
    asked = bench.embedder.passages[: windows.embed]
    assert len(set(asked)) == len(asked) == windows.embed
