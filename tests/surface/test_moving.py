"""`export`, `import` and `backup` at the command line."""

import shutil

from json_shapes import SHAPES, shape
from workplace import Workplace


def test_each_has_the_documented_fields(published: Workplace) -> None:
    answer = published.json("search", "parental leave")
    for name in ("export", "backup"):
        assert shape(published.json(name, f"{name}.out")) == SHAPES[name]
    for name in ("export", "import"):
        assert SHAPES[name] == SHAPES["export"]
    imported = published.json("import", "export.out", "--store", "other")
    assert shape(imported) == SHAPES["import"]
    assert published.json("search", "parental leave", "--store", "other") == answer
    (published.folder / "copy").mkdir()
    shutil.copy(published.folder / "backup.out", published.folder / "copy/store.sqlite")
    assert published.json("search", "parental leave", "--store", "copy") == answer
    assert published.json("verify", "--store", "copy")["ok"]


def test_each_says_what_it_did_and_what_it_refuses(published: Workplace) -> None:
    assert "generation 1 into export.out" in published.done("export", "export.out").out
    assert "every row checked" in published.done("backup", "backup.out").out
    refused = published.run("export", "export.out", "--json")
    assert (refused.code, refused.json["kind"]) == (5, "file-exists")
    refused = published.run("import", "backup.out", "--store", "other", "--json")
    assert (refused.code, refused.json["kind"]) == (2, "not-an-export")
    published.write("cut.out", (published.folder / "export.out").read_bytes()[:-400])
    refused = published.run("import", "cut.out", "--store", "other", "--json")
    assert (refused.code, refused.json["kind"]) == (8, "export-damaged")
    assert not (published.folder / "other").exists()
