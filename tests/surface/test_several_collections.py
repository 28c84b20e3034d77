"""What needs no collection to be named, where the configuration has several."""

from pathlib import Path
from typing import Any

import pytest

from workplace import LEAVE, TRAVEL, Workplace


def configured(folder: Path, one: str = "", other: str = "", more: str = "") -> Workplace:
    place = Workplace(folder)
    place.write("docs/leave.md", LEAVE)
    place.write("rules/travel.md", TRAVEL)
    place.write(
        "variorum.toml",
        "[model]\nspec = 'hashing()'\n"
        "[sources.docs]\nroot = 'docs'\n[sources.rules]\nroot = 'rules'\n"
        f"[collections.one]\nsources = ['docs']\n{one}\n"
        f"[collections.other]\nsources = ['rules']\n{other}\n{more}",
    )
    return place


def checks(place: Workplace, *arguments: str) -> dict[str, Any]:
    return {one["name"]: one for one in place.json("doctor", *arguments)["checks"]}


def test_doctor_looks_at_every_collection(tmp_path: Path) -> None:
    place = configured(tmp_path)
    found = checks(place)
    assert {"source docs", "source rules", "chunker", "model"} <= set(found)
    (tmp_path / "rules/travel.md").unlink()
    (tmp_path / "rules").rmdir()
    assert checks(place)["source rules"]["state"] == "wrong"
    assert "source rules" not in checks(place, "--collection", "one")


def test_doctor_names_the_collections_whose_settings_differ(tmp_path: Path) -> None:
    other = "chunker = 'fixed(overlap_tokens=9)'\nmodel = 'hashing(dimensions=64)'"
    found = checks(configured(tmp_path, other=other))
    assert found["chunker of one"]["state"] == "ok"
    assert found["chunker of other"]["state"] == "wrong"
    assert "64 dimensions" in found["model of other"]["found"]
    assert "256 dimensions" in found["model of one"]["found"]


def test_doctor_looks_at_a_setting_that_collections_share_once(tmp_path: Path) -> None:
    third = "[collections.third]\nmodel = 'hashing(dimensions=64)'\n"
    found = checks(configured(tmp_path, more=third))
    assert {"chunker", "model of one, other", "model of third"} <= set(found)
    assert len([name for name in found if name.startswith("source")]) == 2


def test_verify_looks_at_the_whole_store(tmp_path: Path) -> None:
    place = configured(tmp_path)
    for name in ("one", "other"):
        place.done("sync", "--collection", name)
    assert place.json("verify") == {"ok": True, "findings": []}


def test_chunk_needs_no_collection_where_all_cut_alike(tmp_path: Path) -> None:
    place = configured(tmp_path, other="chunker = 'anchored()'\nplanner = false")
    cut = place.json("chunk", "docs/leave.md")
    assert cut == place.json("chunk", "docs/leave.md", "--collection", "other")


@pytest.mark.parametrize(
    ("other", "option"),
    [
        ("chunker = 'fixed'", "--chunker=anchored"),
        ("heading_depth = 2", "--collection=one"),
        ("model = 'hashing(dimensions=64)'", "--model=hashing()"),
    ],
)
def test_chunk_says_in_what_the_collections_differ(tmp_path: Path, other: str, option: str) -> None:
    place = configured(tmp_path, other=other)
    refused = place.run("chunk", "docs/leave.md", "--json")
    assert (refused.code, refused.json["kind"]) == (2, "unknown-collection")
    setting = other.partition(" ")[0]
    assert setting in refused.json["message"]
    assert "one" in refused.json["expected"]
    assert place.run("chunk", "docs/leave.md", option).code == 0


def test_what_no_collection_answers_to_is_refused(tmp_path: Path) -> None:
    place = configured(tmp_path)
    for command in (("doctor",), ("verify",), ("chunk", "docs/leave.md")):
        result = place.run(*command, "--collection", "none", "--json")
        assert (result.code, result.json["kind"]) == (2, "unknown-collection")
    assert place.run("search", "leave", "--json").json["kind"] == "unknown-collection"
