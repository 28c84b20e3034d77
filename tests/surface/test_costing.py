"""`cost` and `alerts` on the terminal and as JSON."""

from json_shapes import SHAPES, shape
from workplace import LEAVE, Workplace

SMALL = '[chunking]\nchunker = "fixed(max_tokens=12)"\nplanner = false\n'


def often_edited(place: Workplace, more: str = "") -> Workplace:
    """A long document whose every chunk shifts with each of six edits of a word."""
    place.configure(SMALL + "[ledger]\nfrequent_updates = 3\n" + more)
    for edit in range(7):
        words = " ".join(f"word{number}" for number in range(200))
        place.write("docs/leave.md", f"{'more ' * edit}{words}")
        place.done("sync")
    return place


def test_cost_has_the_documented_fields(place: Workplace) -> None:
    often_edited(place)
    found = place.json("cost", "--by", "document", "--price", "0.5")
    assert shape(found) == SHAPES["cost"]
    assert found["chunk_hash_manifest_coverage_percent"] == 100.0
    assert found["total"]["reprocessing_waste_ratio"] > 0.9


def test_alerts_end_with_a_code_of_their_own(place: Workplace) -> None:
    often_edited(place)
    result = place.run("alerts", "--json")
    assert result.code == 10
    assert result.json["ok"] is False
    assert shape(result.json) == SHAPES["alerts"]
    shown = place.run("alerts")
    assert shown.code == 10
    assert "P3 Full-Reprocessing-On-Small-Edit: docs:leave.md" in shown.out
    assert "P3 Persistent-Reprocessing-Gap" in shown.out


def test_no_alert_is_code_0(published: Workplace) -> None:
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    published.done("sync")
    assert "No alert." in published.done("alerts").out
    assert published.json("alerts") == {"ok": True, "alerts": []}


def test_lines_are_settings(place: Workplace) -> None:
    more = "waste_alert = 1\nupdate_alert = 1\ngap_factor = 99\nchurn_factor = 1000\n"
    often_edited(place, more)
    place.done("alerts")
    place.configure("[ledger]\nwaste_alert = -1\n")
    assert place.run("alerts").code == 2


def test_cost_is_told_in_a_few_lines(published: Workplace) -> None:
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    published.done("sync")
    out = published.done("cost", "--price", "0.02", "--by", "source").out
    assert "2 ingests, 1 update" in out
    assert "USD" in out
    assert "target 20.0 %, alert 70.0 %" in out
    assert "docs" in out


def test_metrics_are_written_where_asked(published: Workplace) -> None:
    published.done("cost", "--prometheus", "variorum.prom")
    assert "variorum_embedded_tokens" in (published.folder / "variorum.prom").read_text()
    assert published.run("cost", "--prometheus", "gone/variorum.prom").code == 7


def test_before_the_first_publish_there_is_nothing_to_sum_up(place: Workplace) -> None:
    assert place.run("cost").code == 4
    assert place.run("alerts").code == 4
