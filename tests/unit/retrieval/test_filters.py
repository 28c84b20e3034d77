"""Which documents a search looks at, through the door: by metadata, language and date."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

import variorum
from variorum.records.errors import InputError
from variorum.retrieval.filters import Filter
from workbench import Bench, document, rule

FRONT = {
    "a.md": "year: 2019\nprice: 9.5\ndue: 2026-01-31\nlang: en",
    "b.md": "year: 2020\nprice: 10\ndue: 2026-02-01T08:00:00Z\nlang: zh-Hant",
    "c.md": 'year: "2021"\nowner: Finance\nlanguage: zh',
    "d.md": "draft: true\nowner: 財務",
}


@pytest.fixture
def shelf(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write({name: f"---\n{front}\n---\n{document(name[0])}" for name, front in FRONT.items()})
    bench.sync()
    return bench


def documents_of(answer: variorum.Answer) -> list[str]:
    return sorted({str(hit.document)[5] for hit in answer.hits})


def found(bench: Bench, **within: object) -> str:
    with bench.open() as index:
        return "".join(documents_of(index.search("words", 1000, **within)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (["year>=2020"], "b"),
        (["year<2020"], "a"),
        (["year=2021"], "c"),
        (["price>9.5"], "b"),
        (["price<=10", "price>=9.50"], "ab"),
        (["due<=2026-01-31"], "a"),
        (["due>2026-01-31"], "b"),
        (["due>=2026-02-01T09:00:00+01:00"], "b"),
        (["due>2026-02-01T09:00:00+01:00"], ""),
        (["owner=財務", "draft=true"], "d"),
        ({"draft": True}, "d"),
        ({"year": 2020.0}, "b"),
    ],
)
def test_metadata_compares_by_its_type(shelf: Bench, where: object, expected: str) -> None:
    assert found(shelf, where=where) == expected


def test_the_same_key_as_one_and_as_true_are_two_filters(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": "---\nn: 1\n---\nx\n", "b.md": "---\nn: true\n---\ny\n"})
    bench.sync()
    with bench.open() as index:
        for wanted, name in ((1, "a"), (True, "b"), (1, "a")):
            (hit,) = index.search("words", where={"n": wanted}).hits
            assert str(hit.document) == f"docs:{name}.md"


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        (["owner>=A"], "bad-parameter"),
        (["owner>=2020"], "metadata-type"),
        (["year>2020-01-01"], "metadata-type"),
        (["year"], "bad-parameter"),
        (["=2020"], "bad-parameter"),
        (["year=1", "year=2"], "bad-parameter"),
        (["owmer=Finance"], "unknown-metadata-key"),
        ("year=1", "bad-parameter"),
        (7, "bad-parameter"),
        ([7], "bad-parameter"),
    ],
)
def test_what_cannot_be_compared_is_refused(shelf: Bench, where: object, kind: str) -> None:
    with shelf.open() as index, pytest.raises(InputError) as refused:
        index.search("words", where=where)  # type: ignore[arg-type]
    assert refused.value.kind == kind


def test_an_unknown_key_is_told_with_those_near_it_that_the_asker_may_see(shelf: Bench) -> None:
    shelf.apply(rule("docs:a.md", "user:bob") + rule("docs:c.md", "user:ann"))
    told = {}
    for who in ("user:ann", "user:bob"):
        with shelf.open(principal=who) as index, pytest.raises(InputError) as refused:
            index.search("words", where=["ownr=x"])
        told[who] = refused.value
    assert told["user:ann"].remedy == "write 'owner'?"
    assert told["user:ann"].expected == "one of: owner, language, year"
    assert "owner" not in json.dumps(told["user:bob"].as_fields())


def test_a_long_list_of_keys_is_cut_after_the_near_ones(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    keys = "".join(f"k{n:02}: 1\n" for n in range(30)) + "owner: x\n"
    bench.write({"a.md": f"---\n{keys}---\n" + document("A")})
    bench.sync()
    with bench.open() as index, pytest.raises(InputError) as refused:
        index.search("words", where={"ownr": "x"})
    assert refused.value.expected.startswith("one of: owner, k00, ")
    assert refused.value.expected.endswith(", k10, …")


def test_a_key_of_what_is_kept_back_whole_is_not_known(shelf: Bench) -> None:
    closed = '[[rules.sections]]\nheading = ["Nowhere"]\nreaders = ["user:ann"]\n'
    shelf.apply(rule("docs:c.md", "everyone") + closed)
    with shelf.open(principal="user:bob") as index, pytest.raises(InputError) as refused:
        index.search("words", where={"owner": "Finance"})
    assert refused.value.expected == "one of: (no document has any)"


@pytest.mark.parametrize(
    ("language", "expected"), [("zh", "bc"), ("ZH_hant", "b"), ("en", "a"), ("zh-Hant", "b")]
)
def test_a_language_is_what_documents_declare(shelf: Bench, language: str, expected: str) -> None:
    assert found(shelf, language=language) == expected


def test_a_language_that_no_visible_document_declares_is_an_error(shelf: Bench) -> None:
    shelf.apply(rule("docs:a.md", "user:bob"))
    with shelf.open(principal="user:bob") as index, pytest.raises(InputError) as refused:
        index.search("words", language="zh")
    assert (refused.value.kind, refused.value.expected) == ("unknown-language", "one of: en")


def test_a_document_stands_as_it_does_since_it_was_published_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    times = [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3)]
    for moment, files in zip(
        times, ({"a": "One", "b": "Two"}, {"a": "Three"}, {"c": "Four"}), strict=True
    ):
        bench.write({f"{name}.md": document(title) for name, title in files.items()})
        with bench.open() as index:
            index.clock = lambda: moment  # noqa: B023
            index.sync()
    assert found(bench) == "abc"
    assert found(bench, changed_since="2026-02-01") == "ac"
    assert found(bench, changed_since=date(2026, 2, 2)) == "c"
    assert found(bench, changed_since="2026-03-01T00:00:01Z") == ""
    assert found(bench, changed_since="2026-02-01", as_of=1) == ""
    bench.apply('time_zone = "Pacific/Auckland"\n' + rule("docs:**", "everyone"))
    assert found(bench, changed_since="2026-02-02") == "c"
    assert found(bench, changed_since="2026-02-01T13:00:00") == "ac"
    with bench.open() as index, pytest.raises(InputError):
        index.search("words", changed_since="yesterday")


def test_a_filter_is_decided_once_and_again_after_a_change(
    shelf: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    decide = Filter.documents
    monkeypatch.setattr(
        Filter, "documents", lambda one, view: asked.append(one) or decide(one, view)
    )
    with shelf.open() as index:
        for _ in range(3):
            assert documents_of(index.search("words", where=["year>=2020"])) == ["b"]
        assert len(asked) == 1
        shelf.write({"e.md": "---\nyear: 2026\n---\nmore words\n"})
        shelf.sync()
        assert documents_of(index.search("words", where=["year>=2020"])) == ["b", "e"]
    assert len(asked) == 2
