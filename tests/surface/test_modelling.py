"""`model use` and `model list` at the command line."""

from json_shapes import SHAPES, shape
from workplace import MODEL, Workplace

OTHER = "hashing(dimensions=128)"


def test_a_switch_there_and_back_has_the_documented_fields(published: Workplace) -> None:
    found = shape(published.json("model", "use", OTHER))
    lists = {
        "held[]",
        "skipped[]",
        "fallbacks[]",
        "dropped[]",
        "orphaned[]",
        "shared_roots[]",
        "compared[]",
    }
    known = {name for name in SHAPES["model use"] if not name.startswith(tuple(lists))}
    assert found == known | lists
    listed = published.json("model", "list")
    assert shape(listed) == SHAPES["model list"]
    assert [(one["generations"], one["is_current"]) for one in listed["models"]] == [
        ([1], False),
        ([2], True),
    ]
    assert published.json("model", "use", MODEL)["inputs"]["embed"] == 0
    assert [row["kind"] for row in published.json("log")["generations"]] == [
        "model",
        "model",
        "sync",
    ]


def test_a_sync_says_how_to_follow_a_switch(published: Workplace) -> None:
    published.done("model", "use", OTHER)
    refused = published.run("sync", "--json")
    assert (refused.code, refused.json["kind"]) == (5, "model-switched")
    assert OTHER.partition("(")[0] in refused.json["remedy"]
    published.configure(model=OTHER)
    assert published.json("sync")["generation"] is None
    assert "* hashing(dimensions=128" in published.done("model", "list").out
