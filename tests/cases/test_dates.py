"""Cases of the area dates, by id."""

from datetime import datetime
from pathlib import Path

import pytest

from variorum.records.errors import InputError, NotFoundError
from workbench import Bench, document, rule


def bench_of(tmp_path: Path, *names: str) -> Bench:
    bench = Bench(tmp_path)
    bench.write({f"{name}.md": document(name.title()) for name in names})
    bench.sync()
    return bench


def seen(bench: Bench, moment: str | datetime) -> list[str]:
    with bench.open(principal="user:a") as index:
        return sorted({str(h.document) for h in index.search("x", 100, effective=moment).hits})


def test_DAT_01_moments_are_compared_as_moments(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, "e", "s")
    bench.apply(
        rule("docs:e.md", "everyone", effective_until="2027-03-14T04:00:00Z")
        + rule("docs:s.md", "everyone", effective_from="2027-03-14T04:00:00Z")
    )
    assert seen(bench, "2027-03-14T15:00:00Z") == ["docs:s.md"]
    assert seen(bench, datetime.fromisoformat("2027-03-14T15:00:00Z")) == ["docs:s.md"]


def test_DAT_02_time_zones_are_compared_as_time_zones(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, "a")
    bench.apply(rule("docs:**", "everyone", effective_until="2027-05-02T09:30:00-03:00"))
    assert seen(bench, "2027-05-02T12:00:00Z") == ["docs:a.md"]
    assert seen(bench, "2027-05-02T12:30:01Z") == []


@pytest.mark.parametrize("by", ["policy", "front matter"])
def test_DAT_03_the_effective_date_counts_not_that_of_the_edit(tmp_path: Path, by: str) -> None:
    bench = Bench(tmp_path)
    front = "---\nvariorum:\n  effective_from: 2020-01-01\n  effective_until: 2020-12-31\n---\n"
    bench.write({"a.md": (front if by == "front matter" else "") + document("Alpha")})
    bench.sync()
    dates = {"effective_from": "2020-01-01", "effective_until": "2020-12-31"}
    bench.apply(rule("docs:**", "everyone", **(dates if by == "policy" else {})))
    assert seen(bench, "2020-06-01") == ["docs:a.md"]
    assert seen(bench, "2021-06-01") == []


@pytest.mark.parametrize(
    ("value", "is_sound"),
    [
        ('"2026-01-01T00:00:00"', True),
        ('"2026-01-01"', True),
        ("2026-01-01T00:00:00", True),
        ("2026-01-01", True),
        ('"2026-13-01"', False),
        ('""', False),
        ("12:00:00", False),
        ("2026", False),
    ],
)
def test_DAT_05_a_date_is_read_by_the_rule_or_refused_when_it_is_applied(
    tmp_path: Path, value: str, is_sound: bool
) -> None:
    bench = bench_of(tmp_path, "a")
    policy = rule("docs:**", "everyone", effective_from=value)
    if is_sound:
        bench.apply(policy)
        assert seen(bench, "2026-01-01T00:00:00Z") == ["docs:a.md"]
        assert seen(bench, "2025-12-31T23:59:59Z") == []
    else:
        with pytest.raises(InputError) as refused:
            bench.apply(policy)
        assert (refused.value.kind, refused.value.subject) == (
            "bad-policy",
            "rules[1].effective_from",
        )
    assert seen(bench, "any") == (["docs:a.md"] if is_sound else [])


def test_DAT_06_an_expired_document_is_on_no_path_unless_asked_for(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, "a")
    bench.apply(rule("docs:**", "everyone", effective_until="2020-12-31"))
    for principal in (None, "user:a"):
        with bench.open(principal=principal) as index:
            hit = index.search("alpha", effective="any").hits[0]
            assert index.show(hit.citation, effective="any").text == hit.text
            assert index.search("alpha").hits == ()
            assert index.status().documents == index.status().chunks == 0
            assert index.diff(1, 1).documents == ()
            with pytest.raises(NotFoundError):
                index.show(hit.citation)
