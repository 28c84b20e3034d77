"""Traces: off unless asked for, and without texts."""

from pathlib import Path

import pytest

from variorum.records.errors import NotFoundError
from workbench import Bench, document

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="a development extra, not installed")


@pytest.fixture(scope="module")
def spans():
    from opentelemetry import trace
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


def test_plans_syncs_and_searches_are_spans_with_counts(
    tmp_path: Path, spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans.clear()
    monkeypatch.setenv("VARIORUM_TRACES", "1")
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two")})
    with bench.open() as index:
        index.plan()
        index.sync()
        index.search("a question of mine")
    found = {span.name: dict(span.attributes) for span in spans.get_finished_spans()}
    assert list(found) == ["variorum.plan", "variorum.sync", "variorum.search"]
    assert found["variorum.sync"]["variorum.generation"] == 1
    assert found["variorum.sync"]["variorum.embedded_tokens"] > 0
    assert found["variorum.search"]["variorum.hits"] == 2
    assert "question" not in str(found)


def test_an_error_is_on_its_span(tmp_path: Path, spans, monkeypatch: pytest.MonkeyPatch) -> None:
    spans.clear()
    monkeypatch.setenv("VARIORUM_TRACES", "1")
    with Bench(tmp_path).open() as index, pytest.raises(NotFoundError):
        index.search("anything")
    (span,) = spans.get_finished_spans()
    assert not span.status.is_ok


@pytest.mark.parametrize("value", ["", "0", None])
def test_nobody_who_did_not_ask_gets_a_span(
    tmp_path: Path, spans, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    spans.clear()
    monkeypatch.delenv("VARIORUM_TRACES", raising=False)
    if value is not None:
        monkeypatch.setenv("VARIORUM_TRACES", value)
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One")})
    bench.sync()
    assert spans.get_finished_spans() == ()
