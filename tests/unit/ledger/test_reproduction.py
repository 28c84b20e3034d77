"""The pattern's reproduction through `sync`: ten small edits, under full reprocessing and ours."""

from pathlib import Path

import pytest

from variorum.ledger.alerts import FULL_REPROCESSING
from variorum.records.errors import UnavailableError
from workbench import Bench, Recorder, document, section

SECTIONS = 80
EDITS = 10
CHUNKER = "anchored(max_tokens=200, min_tokens=60)"
FIXED = "fixed(max_tokens=150)"


def page(edits: int) -> str:
    """A document of 80 sections of which the first words of `edits` were changed."""
    sections = []
    for number in range(SECTIONS):
        text = section(f"Part {number}", count=70)
        if number % (SECTIONS // EDITS) == 0 and number // (SECTIONS // EDITS) < edits:
            text = text.replace("\n\n", f"\n\nNow revised as item {number}: ", 1)
        sections.append(text)
    return "\n".join(sections)


def run(home: Path, chunker: str, planner: str, prepend: bool = False) -> Bench:
    bench = Bench(home, settings=f'[chunking]\nchunker = "{chunker}"\nplanner = {planner}\n')
    for edits in range(EDITS + 1):
        # A word in front of everything shifts every window of a fixed chunker.
        bench.write({"policy.md": ("word " * edits if prepend else "") + page(edits)})
        bench.sync()
    return bench


def test_ten_small_edits_embed_what_they_changed_and_little_else(tmp_path: Path) -> None:
    bench = run(tmp_path, CHUNKER, "true")
    with bench.open() as index:
        report, alerts = index.cost("generation"), index.alerts()
    one = report.total
    assert (one.ingests, one.updates, one.rebuilds) == (1, EDITS, 0)
    assert EDITS <= one.changed_inputs <= 2 * EDITS
    assert one.reprocessing_waste_ratio == 0
    ratio = one.update_cost_to_full_ingestion_cost_ratio
    assert ratio is not None
    assert ratio < 0.15
    assert one.floor_tokens <= one.update_tokens <= 1.1 * one.floor_tokens
    assert alerts == []
    assert [name for name, _ in report.groups] == [str(n) for n in range(1, EDITS + 2)]


def test_ten_small_edits_under_full_reprocessing_waste_nearly_everything(tmp_path: Path) -> None:
    bench = run(tmp_path, FIXED, "false", prepend=True)
    with bench.open() as index:
        report, alerts = index.cost(), index.alerts()
    one = report.total
    assert one.updates == EDITS
    waste = one.reprocessing_waste_ratio
    ratio = one.update_cost_to_full_ingestion_cost_ratio
    assert waste is not None
    assert ratio is not None
    assert waste > 0.9
    assert ratio > 0.9
    assert FULL_REPROCESSING in {alert.name for alert in alerts}


def test_the_ledger_counts_what_the_model_was_asked_for(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two", "Three"), "b.md": document("Four")})
    _, first = bench.sync()
    bench.write({"a.md": document("One", "Two", "New", "Three")})
    bench.remove("b.md")
    _, second = bench.sync()
    with bench.open() as index:
        report = index.cost("document")
    asked = bench.embedder.count([*first, *second])
    assert report.total.embedded_tokens == sum(asked)
    assert report.total.embedded_inputs == len(asked)
    by_name = dict(report.groups)
    assert by_name["docs:a.md"].update_tokens == sum(bench.embedder.count(second))
    assert by_name["docs:b.md"].updates == 0


def test_a_change_of_recipe_is_a_rebuild_and_no_update(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two", "Three")})
    bench.sync()
    bench.embedder = Recorder(32)
    bench.sync()
    with bench.open() as index:
        total = index.cost().total
        assert index.alerts() == []
    assert (total.ingests, total.updates, total.rebuilds) == (1, 0, 1)
    assert total.reprocessing_waste_ratio is None


def test_a_document_that_moves_or_comes_back_costs_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two")})
    bench.sync()
    bench.remove("a.md")
    bench.write({"b.md": document("One", "Two")})
    bench.sync()
    with bench.open() as index:
        groups = dict(index.cost("document").groups)
    assert groups["docs:b.md"].embedded_tokens == 0


class Failing(Recorder):
    """Away from the second call on."""

    def embed(self, inputs, role="passage"):
        if self.calls:
            self.calls += 1
            raise UnavailableError("away", kind="provider-away")
        return super().embed(inputs, role)


def test_what_a_failed_run_embedded_is_written_down_with_the_reason(tmp_path: Path) -> None:
    bench = Bench(tmp_path, embedder=Failing())
    bench.write({f"{n}.md": document(f"D{n}") for n in range(40)})
    with bench.open() as index, pytest.raises(UnavailableError):
        index.sync()
    asked = bench.embedder.taken()
    bench.embedder = Recorder()
    bench.sync()
    with bench.open() as index:
        report = index.cost()
    assert [(one.inputs, one.kind) for one in report.unpublished] == [(16, "provider-away")]
    spent = sum(one.tokens for one in report.unpublished)
    assert spent == sum(bench.embedder.count(asked[:16]))
    everything = bench.embedder.count([text for d in bench.stored().slices.values() for text in d])
    assert report.total.embedded_tokens + spent == sum(everything)


def test_a_held_document_that_changes_often_is_not_covered(tmp_path: Path) -> None:
    settings = '[chunking]\nchunker = "anchored(max_tokens=40, min_tokens=10)"\n'
    bench = Bench(tmp_path, settings=settings + "[ledger]\nfrequent_updates = 2\n")
    for text in ("One", "Two", "Three"):
        bench.write({"a.md": document(text), "b.md": document(f"B {text}")})
        bench.sync()
    with bench.open() as index:
        assert index.cost().coverage == 1.0
    bench.write({"a.md": b"\xff\xff bad", "b.md": document("B more")})
    bench.sync()
    with bench.open() as index:
        assert index.cost().coverage == 0.5


def test_chinese_edits_are_measured_as_english_ones_are(tmp_path: Path) -> None:
    def chinese(word: str) -> str:
        body = "".join(chr(0x4E00 + (7 * n) % 900) for n in range(60))
        return "\n\n".join(f"## 第{n}节\n\n{word if n == 7 else ''}{body}{n}。" for n in range(20))

    bench = Bench(tmp_path, settings=f'[chunking]\nchunker = "{CHUNKER}"\n')
    bench.write({"zh.md": chinese("")})
    bench.sync()
    bench.write({"zh.md": chinese("新增的规定，")})
    bench.sync()
    with bench.open() as index:
        total = index.cost().total
    assert total.changed_inputs == 1
    assert total.edited_tokens == 6
    assert total.reprocessing_waste_ratio == 0
