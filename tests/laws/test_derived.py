"""After any edits, every chunk has what the functions make of its text and of its section, and each
text cost a call.

Against a set of (version, text) in plain Python.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import Bench, document, section

TITLES = ("One", "Two", "三", "Four")
NAMES = ("a.md", "b.md", "丙.md")
VERSIONS = ("1", "2")

Step = tuple[Mapping[str, Sequence[str]], str, bool]
"""The documents with their sections, the function's version, whether the last state is restored."""


class Made:
    """What the function was run over, by version."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def of(self, version: str, text: str) -> str:
        return f"{version}|{text[::-1]}"

    def function(self, version: str):  # type: ignore[no-untyped-def]
        def made(text: str) -> str:
            self.calls.append((version, text))
            return self.of(version, text)

        return made


STEPS = st.lists(
    st.tuples(
        st.dictionaries(
            st.sampled_from(NAMES), st.lists(st.sampled_from(TITLES), max_size=3), min_size=1
        ),
        st.sampled_from(VERSIONS),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


def write(bench: Bench, files: Mapping[str, Sequence[str]]) -> None:
    for path in bench.root.iterdir():
        path.unlink()
    bench.write({name: document(*titles) for name, titles in files.items()})


def check_newest(bench: Bench, made: Made, version: str, texts: Sequence[str]) -> None:
    with bench.open() as index:
        hits = index.search("one", 1000, mode="dense").hits if texts else ()
        sections = [index.show(str(hit.citation)).section.strip() for hit in hits]
        assert index.verify() == []
    assert sorted(hit.text.strip() for hit in hits) == sorted(texts)
    for hit, around in zip(hits, sections, strict=True):
        assert dict(hit.derived) == {
            "name": made.of(version, hit.text.strip()),
            "part": made.of(f"{version} of sections", around),
        }


def texts_of(bench: Bench) -> list[str]:
    return [one.strip() for slices in bench.stored().slices.values() for one in slices]


@given(steps=STEPS)
@settings(max_examples=5, deadline=None)
def test_every_chunk_has_its_output_and_each_text_costs_one_call(steps: list[Step]) -> None:
    made, ran = Made(), set()
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(Path(home))
        published = ""
        for files, version, restores in steps:
            write(bench, files)
            with bench.open(
                derive={f"name@{version}": made.function(version)},
                derive_sections={f"part@{version}": made.function(f"{version} of sections")},
            ) as index:
                promised = index.plan(allow_empty=True, release=True).report.derived
                report = index.sync(allow_empty=True, release=True)
            assert promised == report.derived
            texts = texts_of(bench)
            parts = {section(title).strip() for titles in files.values() for title in titles}
            new = {(version, text) for text in texts} | {
                (f"{version} of sections", text) for text in parts
            }
            new -= ran
            assert sorted(made.calls) == sorted(new)
            assert report.derived.run == len(new)
            ran |= new
            made.calls.clear()
            published = version if report.generation else published
            check_newest(bench, made, published, texts)
            if restores and report.generation:
                with bench.open() as index:
                    index.restore(report.generation)
                check_newest(bench, made, published, texts)
