from pathlib import Path

import pytest

from variorum.ledger.exposition import write_metrics
from workbench import Bench, document

client = pytest.importorskip("prometheus_client", reason="an optional extra, not installed")


def test_the_figures_are_written_in_the_format_that_prometheus_reads(tmp_path: Path) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two", "Three")})
    bench.sync()
    bench.write({"a.md": document("One", "Two", "New")})
    bench.sync()
    with bench.open() as index:
        report, alerts = index.cost(usd_per_million_tokens=0.5), index.alerts()
        write_metrics(tmp_path / "variorum.prom", report, alerts, "default")
    families = text_string_to_metric_families((tmp_path / "variorum.prom").read_text())
    samples = {one.name: one.value for family in families for one in family.samples}
    assert samples["variorum_embedded_tokens"] == report.total.embedded_tokens
    assert samples["variorum_reprocessing_waste_ratio"] == 0
    assert samples["variorum_alerts"] == 0
    assert samples["variorum_usd"] == pytest.approx(report.total.embedded_tokens * 0.5 / 1e6)
