"""What the reference does not name fails here, and what it names must exist."""

import ast
import dataclasses
import inspect
import re
from pathlib import Path

import click
import pytest

import variorum
from command_tree import leaves, named
from json_shapes import COMMON_REPORT, CONTEXT, ERROR_SHAPE, SHAPES
from pages import ALL, PYTHON, README, REFERENCE, TUTORIAL, blocks, code_words, section, steps
from variorum.chunking.spec import CHUNKERS, chunker_from_spec
from variorum.door import config
from variorum.embedding.registry import MODELS, embedder_from_spec
from variorum.embedding.rerank.registry import RERANKERS
from variorum.lab.peers import PEERS
from variorum.ledger.alerts import NAMES as ALERTS
from variorum.ledger.thresholds import Thresholds
from variorum.records import errors
from variorum.sources import DEFAULT_INCLUDE, GIT_SKIP_REASONS, SKIP_REASONS
from variorum.sources.naming import KNOWN, content_type_of
from variorum.surfaces.cli.app import INTERRUPTED
from variorum.surfaces.cli.app import variorum as command_line

COMMANDS = leaves(command_line)
SHARED = {"as_json", "store", "config", "collection", "model", "quiet"}
LIMIT_OF_NAMES = 25


def own_options(name: str) -> list[click.Option]:
    """Its options but the shared ones; where it has no store, `--model` is its own."""
    has_store = any(option.name == "store" for option in COMMANDS[name].params)
    shared = SHARED if has_store else SHARED - {"model"}
    return [
        option
        for option in COMMANDS[name].params
        if isinstance(option, click.Option) and option.name not in shared
    ]


def documented_options(text: str) -> set[str]:
    return {word.split()[0] for word in code_words(text) if word.startswith("-")}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_option_is_documented_and_every_documented_one_exists(name: str) -> None:
    text = section(REFERENCE, f"### variorum {name}")
    table = "\n".join(line for line in text.splitlines() if line.startswith("| `-"))
    existing = {flag for option in own_options(name) for flag in option.opts}
    existing |= {"-h", "--help"} if name == "demo" else set()
    assert documented_options(table) == existing


def test_every_section_about_a_command_has_its_command() -> None:
    sections = re.findall(r"^### variorum (.+)$", REFERENCE.read_text(), re.MULTILINE)
    assert sorted(sections) == sorted(COMMANDS)


def test_the_shared_options_are_documented() -> None:
    text = section(REFERENCE, "### Options of every command")
    shared = {
        flag for option in COMMANDS["plan"].params if option.name in SHARED for flag in option.opts
    }
    assert documented_options(text) == shared | {"-h", "--help"}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_json_field_is_documented(name: str) -> None:
    text = section(REFERENCE, f"### variorum {name}")
    documented = code_words(text)
    fields = SHAPES[name]
    if name in ("plan", "sync", "model use"):
        documented |= code_words(section(REFERENCE, "### The report"))
    assert fields <= documented, fields - documented


def test_every_field_of_a_context_is_documented() -> None:
    documented = code_words(section(REFERENCE, "### variorum search"))
    assert documented >= CONTEXT


def test_every_documented_json_field_exists() -> None:
    known = set().union(*SHAPES.values(), COMMON_REPORT, CONTEXT, ERROR_SHAPE)
    paths = {
        word
        for word in code_words(section(REFERENCE, "## Commands") + section(REFERENCE, "## JSON"))
        if re.fullmatch(r"[a-z_]+(\[\])?(\.[a-z_]+(\[\])?)+|[a-z_]+\[\]", word)
    }
    files = {
        word for word in paths if word.endswith((".toml", ".sqlite", ".csv", ".json", ".jsonl"))
    }
    assert paths - known - files == set()


def test_the_error_fields_are_documented() -> None:
    assert code_words(section(REFERENCE, "### Errors")) >= ERROR_SHAPE


def test_the_exit_codes_are_exactly_those_of_the_errors() -> None:
    rows = re.findall(
        r"^\| (\d+) \| (?:`(\w+)`)? *\|", section(REFERENCE, "## Exit codes"), re.MULTILINE
    )
    documented = {(int(code), name) for code, name in rows}
    classes = {
        (one.exit_code, one.__name__)
        for one in vars(errors).values()
        if inspect.isclass(one)
        and issubclass(one, errors.VariorumError)
        and one not in (errors.VariorumError, errors.InputRejectedError)
    }
    assert documented == classes | {
        (0, ""),
        (errors.EXIT_HELD, ""),
        (errors.EXIT_ALERTS, ""),
        (INTERRUPTED, ""),
    }
    help_text = re.findall(r"\d+", command_line.epilog or "")
    assert sorted(map(int, help_text)) == sorted(code for code, _ in documented)


def settings_in_code() -> set[str]:
    """Every key that the configuration's reader asks a table for."""
    prefixes = {
        "section": "store",
        "model": "model",
        "chunking": "chunking",
        "_price": "model",
        "_source": "sources.NAME",
        "_collection": "collections.NAME",
        "_derivation": "derive.NAME",
        "_identity": "identity",
    }
    found = set()
    for function in ast.walk(ast.parse(inspect.getsource(config))):
        if not isinstance(function, ast.FunctionDef):
            continue
        for call in ast.walk(function):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                continue
            if call.func.attr not in ("take", "text", "strings", "globs") or not call.args:
                continue
            owner = call.func.value.id if isinstance(call.func.value, ast.Name) else ""
            prefix = prefixes.get(owner) or prefixes.get(function.name)
            if prefix and isinstance(call.args[0], ast.Constant):
                found.add(f"{prefix}.{call.args[0].value}")
    found |= {f"ledger.{one.name}" for one in dataclasses.fields(Thresholds)}
    return found | {"chunking.heading_depth", "collections.NAME.heading_depth"}


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \|", section(REFERENCE, "## variorum.toml"), re.MULTILINE)
    assert len(settings_in_code()) > 15
    assert set(rows) == settings_in_code()


def test_the_documented_defaults_are_those_of_the_code() -> None:
    rows = dict(
        re.findall(
            r"^\| `([\w.]+)` \| `([^`]+)` \|", section(REFERENCE, "## variorum.toml"), re.MULTILINE
        )
    )
    collection, source = config.CollectionConfig, config.SourceConfig
    assert rows["model.spec"] == f'"{config.DEFAULT_MODEL}"'
    assert rows["chunking.chunker"] == f'"{config.DEFAULT_CHUNKER}"'
    assert rows["collections.NAME.tenant"] == f'"{config.DEFAULT_TENANT}"'
    defaults = {one.name: one.default for one in source.__dataclass_fields__.values()}
    assert int(rows["sources.NAME.max_bytes"]) == defaults["max_bytes"]
    plain = {one.name: one.default for one in collection.__dataclass_fields__.values()}
    assert rows["chunking.planner"] == str(plain["planner"]).lower()


def test_the_lines_of_the_ledger_are_documented_with_their_defaults() -> None:
    rows = dict(
        re.findall(r"^\| `ledger\.(\w+)` \| `([\d.]+)` \|", REFERENCE.read_text(), re.MULTILINE)
    )
    assert {name: float(value) for name, value in rows.items()} == dataclasses.asdict(Thresholds())


def test_every_alert_is_documented() -> None:
    rows = re.findall(
        r"^\| `([A-Z][\w-]+)` \|", section(REFERENCE, "### variorum alerts"), re.MULTILINE
    )
    assert rows == list(ALERTS)


def test_skip_reasons_and_default_globs_are_documented() -> None:
    words = code_words(section(REFERENCE, "### Folders"))
    assert set(SKIP_REASONS) | set(DEFAULT_INCLUDE) <= words
    assert set(GIT_SKIP_REASONS) <= code_words(section(REFERENCE, "### Repositories"))


def test_peers_and_their_defaults_are_documented() -> None:
    rows = re.findall(r"^\| (.+) \| (.+) \|$", section(REFERENCE, "#### Peers"), re.MULTILINE)
    documented = {
        name: dict(re.findall(r"(\w+)=(\d+)", defaults))
        for names, defaults in rows
        for name in code_words(names)
    }
    assert documented == {
        name: {key: str(value) for key, value in peer.defaults.items()}
        for name, peer in PEERS.items()
    }


def test_content_types_and_their_suffixes_are_documented() -> None:
    rows = re.findall(
        r"^\| `(\S+)` \| (.+) \|$", section(REFERENCE, "### Content types"), re.MULTILINE
    )
    assert {content_type for content_type, _ in rows} == KNOWN
    for content_type, suffixes in rows:
        for suffix in code_words(suffixes):
            assert content_type_of(f"a.{suffix}".encode()) == content_type


def test_chunkers_and_models_are_documented_with_their_defaults() -> None:
    chunkers = re.findall(r"^\| `([^`]+)`", section(REFERENCE, "## Chunkers"), re.MULTILINE)
    names = {name: chunker_from_spec(name).spec for name in CHUNKERS}
    assert {spec.partition("(")[0]: spec for spec in chunkers} == names
    text = section(REFERENCE, "## Models").split("These are read from a folder")[0]
    models = re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)
    assert {embedder_from_spec(spec).identity.name for spec in models} == set(models)


def test_every_kind_of_model_and_its_settings_are_documented() -> None:
    text = section(REFERENCE, "## Models")
    kinds = {name: kind for name, kind in MODELS.items() if kind.required}
    rows = set(re.findall(r"^\| `([^`]+=…\))` \|", text, re.MULTILINE))
    assert rows == {f"{name}({kind.required[0]}=…)" for name, kind in kinds.items()}
    named = {field for kind in kinds.values() for field in kind.parameters}
    assert named == code_words(" ".join(re.findall(r"^\| (`[a-z_`, ]+`) \|", text, re.MULTILINE)))


def test_every_reranker_and_its_settings_are_documented() -> None:
    text = section(REFERENCE, "## Rerankers")
    rows = dict(re.findall(r"^\| `(\w+)\(([^`]+)\)` \|", text, re.MULTILINE))
    assert set(rows) == set(RERANKERS)
    for name, required in rows.items():
        line = next(one for one in text.splitlines() if one.startswith(f"| `{name}("))
        settings = set(RERANKERS[name]) - set(re.findall(r"(\w+)=", required))
        assert settings <= code_words(line), name


def test_the_door_is_small_and_is_exactly_the_documented_list() -> None:
    table = section(PYTHON, "# Python").split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    documented = set().union(*(code_words(row) for row in rows))
    assert len(variorum.__all__) <= LIMIT_OF_NAMES
    assert documented == set(variorum.__all__)
    assert all(hasattr(variorum, name) for name in variorum.__all__)


def commands_on(page: Path) -> list[str]:
    lines = [step.command for block in blocks(page, "console") for step in steps(block.body)]
    lines += [line for block in blocks(page, "sh") for line in block.body.splitlines()]
    lines += list(code_words(page.read_text(encoding="utf-8")))
    return [part for line in lines for part in re.split(r"&&|#", line)]


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_every_command_line_on_a_page_names_what_exists(page: Path) -> None:
    for line in commands_on(page):
        words = line.split()
        if words[:1] != ["variorum"] or len(words) == 1 or not words[1].islower():
            continue
        if words[1].startswith("-"):
            continue
        name, rest = named(COMMANDS, words[1:])
        flags = {flag for option in COMMANDS[name].params for flag in option.opts} | {"--help"}
        used = {word for word in rest if re.fullmatch(r"--[a-z-]+|-[a-z]", word)}
        assert used <= flags, line


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_every_anchor_is_a_heading(page: Path) -> None:
    for file, anchor in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        target = page.parent / file if file else page
        if "://" in file:
            continue
        titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
        assert anchor in slugs, anchor


def test_the_readme_names_the_tutorial_and_the_licence() -> None:
    text = README.read_text(encoding="utf-8")
    assert "docs/tutorial.md" in text
    assert "LICENSE" in text
    assert TUTORIAL.exists()
