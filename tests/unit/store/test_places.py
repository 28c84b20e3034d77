"""A store stands where its folder is named, whatever the name holds."""

from pathlib import Path

import pytest

from variorum.records.errors import InputError
from workbench import Bench, document


@pytest.mark.parametrize("name", ["why?", "x?mode=ro", "50%25", "a#b", "é 中", "a;b&c"])
def test_a_store_is_written_inside_its_folder(tmp_path: Path, name: str) -> None:
    bench = Bench(tmp_path / name)
    bench.write({"a.md": document("One")})
    bench.sync()
    assert (bench.store / "store.sqlite").stat().st_size > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]
    assert bench.found("one")[0] == "docs:a.md"


def test_a_source_named_twice_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, collections='\n[collections.c]\nsources = ["docs", "docs"]\n')
    bench.write({"a.md": document("One")})
    with pytest.raises(InputError, match="names a source twice"):
        bench.sync()
