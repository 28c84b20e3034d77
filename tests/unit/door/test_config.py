"""variorum.toml is read once and checked in full: what is wrong is named."""

from pathlib import Path

import pytest

import variorum
from variorum.door.config import load_config
from variorum.door.template import template
from variorum.embedding import HashingEmbedder
from variorum.records.errors import InputError, NotFoundError, VariorumError


def written(folder: Path, content: str) -> Path:
    file = folder / "variorum.toml"
    file.write_text(content)
    return file


def refusal(folder: Path, content: str) -> VariorumError:
    with pytest.raises(InputError) as refused:
        load_config(written(folder, content), None)
    assert refused.value.kind == "bad-config"
    assert "variorum.toml" in refused.value.message
    return refused.value


@pytest.mark.parametrize(
    ("content", "subject"),
    [
        ("colour = 1", "colour"),
        ("[store]\npaht = 'x'", "store.paht"),
        ("[store]\nvectors = 'float8'", "store.vectors"),
        ("[store]\npath = 3", "store.path"),
        ("[model]\nname = 'x'", "model.name"),
        ("[model]\nspec = true", "model.spec"),
        ("[model]\nusd_per_million_tokens = 'cheap'", "model.usd_per_million_tokens"),
        ("[chunking]\nplanner = 'yes'", "chunking.planner"),
        ("[chunking]\nplanner = 1", "chunking.planner"),
        ("[chunking]\nheading_depth = 7", "chunking.heading_depth"),
        ("[chunking]\nheading_depth = -1", "chunking.heading_depth"),
        ("[chunking]\nheading_depth = true", "chunking.heading_depth"),
        ("[chunking]\nheading_depth = 1.0", "chunking.heading_depth"),
        ("[sources.docs]\n", "sources.docs.root"),
        ("[sources.docs]\nroot = 1", "sources.docs.root"),
        ("[sources.docs]\nroot = 'x'\nkind = 'svn'", "sources.docs.kind"),
        ("[sources.docs]\nroot = 'x'\nmax_bytes = 0", "sources.docs.max_bytes"),
        ("[sources.docs]\nroot = 'x'\ninclude = '*.md'", "sources.docs.include"),
        ("[sources.docs]\nroot = 'x'\ninclude = [1]", "sources.docs.include"),
        ("[sources.docs]\nroot = 'x'\nextra = 1", "sources.docs.extra"),
        ("[sources]\ndocs = 'x'", "sources.docs"),
        ("[sources.'a b']\nroot = 'x'", "sources.a b"),
        ("[sources.'-a']\nroot = 'x'", "sources.-a"),
        ("sources = 1", "sources"),
        ("[collections.c]\nsources = ['nope']", "collections.c.sources"),
        ("[collections.c]\nheading_depth = 9", "collections.c.heading_depth"),
        ("[collections.c]\nowner = 'x'", "collections.c.owner"),
    ],
)
def test_a_setting_that_is_not_sound_is_named(tmp_path: Path, content: str, subject: str) -> None:
    assert refusal(tmp_path, content).subject == subject


@pytest.mark.parametrize("content", ["a = ", "[x\n", "a = 1\na = 2"])
def test_what_is_not_toml_is_refused_with_its_line(tmp_path: Path, content: str) -> None:
    assert "not valid TOML" in refusal(tmp_path, content).message


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "variorum.toml"
    file.write_bytes(b"# caf\xe9\n")
    with pytest.raises(InputError):
        load_config(file, None)


def test_a_named_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as fault:
        variorum.open(tmp_path, config=tmp_path / "other.toml")
    assert fault.value.kind == "no-config"


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    with variorum.open(tmp_path) as index:
        assert index.config.path is None
        assert index.config.store == tmp_path / ".variorum"
        assert (index.collection.name, index.collection.tenant) == ("default", "local")
        assert index.collection.planner


def test_the_template_is_sound_and_says_the_defaults(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, template("docs")), None)
    bare = load_config(written(tmp_path, "[sources.docs]\nroot = 'docs'\n"), None)
    assert config.collections == bare.collections
    assert config.sources == bare.sources
    assert (config.store, config.precision) == (bare.store, bare.precision)


def test_a_collection_takes_what_it_does_not_set_from_the_file(tmp_path: Path) -> None:
    content = """
        [model]
        spec = "hashing()"
        [chunking]
        planner = false
        heading_depth = 2
        [sources.a]
        root = "a"
        [sources.b]
        root = "b"
        [collections.whole]
        [collections.part]
        sources = ["b"]
        planner = true
        tenant = "other"
    """
    collections = load_config(written(tmp_path, content), None).collections
    whole, part = collections["whole"], collections["part"]
    assert (whole.sources, whole.planner, whole.tenant) == (("a", "b"), False, "local")
    assert (part.sources, part.planner, part.tenant) == (("b",), True, "other")
    assert {one.model for one in collections.values()} == {"hashing()"}
    assert {one.heading_depth for one in collections.values()} == {2}


def test_one_of_several_collections_must_be_named(tmp_path: Path) -> None:
    written(tmp_path, "[sources.a]\nroot = 'a'\n[collections.x]\n[collections.y]\n")
    for name in (None, "z"):
        with pytest.raises(InputError) as refused:
            variorum.open(tmp_path, collection=name)
        assert refused.value.kind == "unknown-collection"
        assert "x, y" in refused.value.expected
    assert variorum.open(tmp_path, collection="y").collection.name == "y"


def test_roots_and_store_are_relative_to_the_file(tmp_path: Path) -> None:
    content = "[store]\npath = 'state/here'\n[sources.a]\nroot = '../beside'\n"
    (tmp_path / "home").mkdir()
    config = load_config(written(tmp_path / "home", content), None)
    assert config.store == tmp_path / "home/state/here"
    assert config.sources["a"].root.resolve() == (tmp_path / "beside").resolve()


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ("[chunking]\nchunker = 'magic'", "unknown-chunker"),
        ("[chunking]\nchunker = 'anchored(size=3)'", "bad-parameter"),
        ("[model]\nspec = 'gpt'", "unknown-model"),
        ("[model]\nspec = 'hashing(dimensions=3)'", "bad-parameter"),
    ],
)
def test_a_spec_that_names_nothing_is_refused_before_a_store_is_made(
    tmp_path: Path, setting: str, kind: str
) -> None:
    written(tmp_path, setting + "\n[sources.docs]\nroot = 'docs'\n")
    (tmp_path / "docs").mkdir()
    with variorum.open(tmp_path) as index, pytest.raises(InputError) as refused:
        index.sync()
    assert refused.value.kind == kind
    assert not (tmp_path / ".variorum").exists()


def test_a_chunker_with_overlap_is_refused_with_the_planner_on(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("words")
    sources = "[sources.docs]\nroot = 'docs'\n"
    chunker = "[chunking]\nchunker = 'fixed(max_tokens=32, overlap_tokens=8)'\n"
    written(tmp_path, chunker + sources)
    embedder = HashingEmbedder(64)
    with variorum.open(tmp_path, embedder=embedder) as index, pytest.raises(InputError) as refused:
        index.sync()
    assert refused.value.kind == "planner-needs-no-overlap"
    written(tmp_path, chunker + "planner = false\n" + sources)
    with variorum.open(tmp_path, embedder=embedder) as index:
        assert index.sync().generation == 1
