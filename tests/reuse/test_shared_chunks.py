"""A chunk that every document holds is planned in steps that follow the documents."""

from pathlib import Path

import pytest
from bench.effort import measured_effort

from workbench import Bench, section

LICENCE = section("Licence", 30)


def edition(count: int, tag: str) -> dict[str, str]:
    return {f"{n}.md": f"{LICENCE}\n{section(f'T{n}{tag}', 30)}" for n in range(count)}


def steps_a_document(home: Path, count: int, *, edited: bool) -> float:
    bench = Bench(home)
    bench.write(edition(count, "a"))
    if edited:
        bench.sync()
        bench.write(edition(count, "b"))
    with bench.open() as index:
        engine = index.store.engine()
        with measured_effort(engine) as effort:
            report = index.plan().report
    assert report.inputs.embed == count + (not edited)
    return effort.steps_without_scan() / count


@pytest.mark.parametrize("edited", [False, True])
def test_a_chunk_of_all_documents_costs_each_the_same_however_many_there_are(
    tmp_path: Path, edited: bool
) -> None:
    small = steps_a_document(tmp_path / "small", 60, edited=edited)
    large = steps_a_document(tmp_path / "large", 480, edited=edited)
    assert large < 1.25 * small
