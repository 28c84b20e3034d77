"""Users' functions over sections: run once a text and version, read with every chunk in it."""

from pathlib import Path

import pytest

from deriving import Counting, hits
from variorum.formats import decode
from variorum.records.errors import InputError
from variorum.records.layout import output_key
from variorum.records.text import Revision
from variorum.sync import deriving, slices
from variorum.sync.deriving import texts_of
from workbench import Bench, rule, words


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write({"a.md": pages("One", "Two"), "休假.md": "# 休假\n\n每年有二十五天的年假。\n"})
    return bench


def pages(*titles: str) -> str:
    """Under each title a section that takes several chunks."""
    return "\n".join(
        f"## {title}\n\n" + "\n\n".join(words(f"{title.lower()}{n}") for n in range(3)) + "\n"
        for title in titles
    )


def synced(bench: Bench, version: str = "1", **functions: object) -> object:
    named = {f"{name}@{version}": function for name, function in functions.items()}
    with bench.open(derive_sections=named) as index:
        planned = index.plan().report
        report = index.sync()
        assert planned.derived == report.derived
        assert index.verify() == []
    return report


def check_outputs(bench: Bench, name: str, function: Counting) -> None:
    """Every hit has what the function makes of the section that is shown around its citation."""
    with bench.open() as index:
        found = index.search("one", 50).hits
        for hit in found:
            text = index.show(str(hit.citation)).section.strip()
            assert dict(hit.derived) == {name: Counting(function.mark)(text)}
    assert len(found) > len(function.texts) > 1


def test_each_section_is_run_over_once_however_many_chunks_it_has(bench: Bench) -> None:
    summary = Counting()
    report = synced(bench, summary=summary)
    assert [text.split("\n")[0] for text in summary.texts] == ["## One", "## Two", "# 休假"]
    assert report.derived.run == 3  # type: ignore[attr-defined]
    check_outputs(bench, "summary", summary)


def test_an_edit_runs_again_over_its_own_section_alone(bench: Bench) -> None:
    summary = Counting()
    synced(bench, summary=summary)
    bench.write({"a.md": "Before.\n\n" + pages("One", "Two") + "\nAn end.\n"})
    synced(bench, summary=summary)
    assert summary.texts[3:] == ["Before.", summary.texts[1] + "\n\nAn end."]


def test_a_function_that_is_given_sections_from_now_on_is_run_over_all(bench: Bench) -> None:
    of_chunks, of_sections = Counting("chunk"), Counting("section")
    with bench.open(derive={"summary@1": of_chunks}) as index:
        index.sync()
    assert synced(bench, summary=of_sections).generation == 2  # type: ignore[attr-defined]
    check_outputs(bench, "summary", of_sections)
    assert all(hit.derived["summary"].startswith("chunk:") for hit in hits(bench, as_of=1))


def test_both_kinds_stand_side_by_side(bench: Bench) -> None:
    with bench.open(
        derive={"length@1": lambda text: str(len(text))},
        derive_sections={"title@1": lambda text: text.split("\n")[0]},
    ) as index:
        index.sync()
        for hit in index.search("one", 50).hits:
            assert hit.derived["length"] == str(len(hit.text.strip()))
            assert hit.derived["title"].lstrip("# ") == hit.heading_path[-1]


def test_of_a_document_that_is_shown_in_part_nothing_of_sections_is_shown(bench: Bench) -> None:
    synced(bench, summary=Counting())
    hidden = '[[rules.sections]]\nheading = ["Two"]\nreaders = ["group:few"]\nmissing = "ignore"\n'
    bench.apply(rule("*:a.md", "everyone") + hidden)
    seen = hits(bench, principal="user:eve")
    assert {hit.heading_path[-1] for hit in seen} == {"One"}
    assert [dict(hit.derived) for hit in seen] == [{}] * len(seen)
    assert all(hit.derived for hit in hits(bench, principal="user:ann,group:few"))
    assert all(hit.derived for hit in hits(bench))


def test_an_output_of_another_section_is_found(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced(bench, summary=Counting())
    with bench.open() as index:
        others = lambda *given: [text + "!" for text in texts_of(*given)]  # noqa: E731
        monkeypatch.setattr(slices, "texts_of", others)
        assert {one.kind for one in index.verify()} == {"derived"}


def test_a_section_is_hashed_once_however_many_chunks_it_has(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write({"long.txt": "\n\n".join(words(f"long{n}") for n in range(40))})
    hashed: list[str] = []

    def counted(scope: str, name: str, version: str, text: str) -> bytes:
        hashed.append(text)
        return output_key(scope, name, version, text)

    monkeypatch.setattr(deriving, "output_key", counted)
    monkeypatch.setattr(slices, "output_key", counted)
    with bench.open(derive_sections={"summary@1": Counting()}) as index:
        assert index.sync().derived.run == 4
        assert len(hashed) == 4
        assert index.verify() == []
        assert len(hashed) == 8


def test_the_chunks_of_a_section_share_one_text() -> None:
    text = decode(Revision("# 标题\n\n一 two 三 four\n".encode(), "text/markdown"))
    first, second = texts_of(text, "text/markdown", [(0, 8), (8, 14)], "section")
    assert first is second


def test_one_name_is_of_chunks_or_of_sections(bench: Bench) -> None:
    with pytest.raises(InputError):
        bench.open(derive={"a@1": str}, derive_sections={"a@2": str})
    with pytest.raises(InputError):
        bench.open(derive_sections={"A": str})


def test_a_configured_function_says_what_it_is_given(bench: Bench) -> None:
    (bench.home / "ours_of_sections.py").write_text("def first(text):\n    return text[:6]\n")
    table = '[derive.first]\nfunction = "ours_of_sections:first"\nversion = "1"\nof = "section"\n'
    bench.configure(bench.settings, table)
    assert bench.sync()[0].derived.run == 3
    assert {hit.derived["first"] for hit in hits(bench)} == {"## One", "## Two", "# 休假\n\n"[:6]}
    bench.configure(bench.settings, table.replace('"section"', '"page"'))
    with pytest.raises(InputError, match=r"derive\.first\.of"):
        bench.open()
