"""The status names what each source's last listing held, whatever was published since."""

from pathlib import Path

import pytest

from workbench import Bench, document

BAD = b"caf\xe9"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two documents in each of two sources, all well."""
    bench = Bench(tmp_path, collections='\n[sources.other]\nroot = "other"\n')
    bench.write({"a.md": document("A"), "b.md": document("B")})
    (tmp_path / "other").mkdir()
    (tmp_path / "other/c.md").write_text(document("C"))
    bench.sync()
    return bench


def held(bench: Bench) -> dict[str, str]:
    with bench.open() as index:
        return {str(one.document): one.kind for one in index.status().held}


def test_a_sync_of_another_source_hides_nothing(bench: Bench) -> None:
    bench.write({"a.md": BAD})
    bench.sync()
    (bench.home / "other/c.md").write_text(document("D"))
    assert bench.sync(source="other")[0].generation == 2
    assert held(bench) == {"docs:a.md": "undecodable"}


def test_a_sync_with_nothing_to_publish_is_heard(bench: Bench) -> None:
    bench.write({"a.md": BAD})
    assert bench.sync()[0].generation is None
    assert held(bench) == {"docs:a.md": "undecodable"}
    bench.write({"a.md": document("A")})
    assert bench.sync()[0].generation is None
    assert held(bench) == {}


def test_a_restore_hides_nothing(bench: Bench) -> None:
    bench.write({"a.md": BAD, "b.md": document("New")})
    bench.sync()
    with bench.open() as index:
        index.restore(1)
    assert held(bench) == {"docs:a.md": "undecodable"}


def test_what_is_deleted_is_held_no_more(bench: Bench) -> None:
    bench.write({"a.md": BAD, "new.md": BAD})
    bench.sync()
    assert held(bench) == {"docs:a.md": "undecodable", "docs:new.md": "undecodable"}
    bench.remove("a.md", "new.md")
    bench.sync()
    assert held(bench) == {}


def test_a_dropped_source_holds_nothing(bench: Bench) -> None:
    (bench.home / "other/bad.md").write_bytes(BAD)
    bench.sync()
    assert held(bench) == {"other:bad.md": "undecodable"}
    bench.configure(bench.settings, collections="\n")
    bench.sync(drop_sources=["other"])
    assert held(bench) == {}


def test_a_plan_is_no_listing_that_counts(bench: Bench) -> None:
    bench.write({"a.md": BAD})
    bench.plan()
    assert held(bench) == {}


def test_a_restore_counts_what_it_changes(bench: Bench) -> None:
    bench.write({"a.md": document("Changed"), "d.md": document("D")})
    (bench.root / "b.md").rename(bench.root / "e.md")
    bench.sync()
    with bench.open() as index:
        index.restore(1)
        counts = index.log()[-1].counts
    assert counts == {"added": 1, "changed": 1, "unchanged": 1, "removed": 2, "held": 0}
