"""`init` writes a configuration that loads as it is, and with any comment made a setting."""

import re
from pathlib import Path

import pytest

from variorum.door.config import load_config
from variorum.door.template import template
from workplace import LEAVE, MODEL, Workplace

COMMENTED = re.findall(r"^# (\w+ = .*)$", template("docs"), re.MULTILINE)


@pytest.fixture
def bare(tmp_path: Path) -> Workplace:
    place = Workplace(tmp_path)
    place.write("docs/leave.md", LEAVE)
    return place


def use_fast_model(place: Workplace) -> None:
    file = place.folder / "variorum.toml"
    file.write_text(file.read_text().replace('"e5-small"', f'"{MODEL}"'))


def test_init_then_plan_then_sync(bare: Workplace) -> None:
    written = bare.done("init", "docs").out
    assert "variorum.toml" in written
    use_fast_model(bare)
    assert bare.json("plan")["documents"]["added"] == 1
    bare.done("sync")


def test_print_writes_nothing_and_prints_what_would_be_written(bare: Workplace) -> None:
    printed = bare.done("init", "docs", "--print").out
    assert not (bare.folder / "variorum.toml").exists()
    bare.done("init", "docs")
    assert (bare.folder / "variorum.toml").read_text() == printed


def test_init_never_overwrites(bare: Workplace) -> None:
    mine = bare.write("variorum.toml", "# mine\n")
    result = bare.run("init")
    assert result.code == 5
    assert "already" in result.err
    assert mine.read_text() == "# mine\n"


@pytest.mark.parametrize("setting", COMMENTED)
def test_every_commented_setting_is_valid_when_uncommented(bare: Workplace, setting: str) -> None:
    assert len(COMMENTED) >= 5
    text = template("docs").replace(f"# {setting}", setting)
    assert text != template("docs")
    file = bare.write("variorum.toml", text)
    load_config(file, None)
    use_fast_model(bare)
    bare.done("plan")


@pytest.mark.parametrize("chunker", re.findall(r"\w+\(\w+=\d+\)", template("docs")))
def test_every_chunker_of_the_comments_is_known(bare: Workplace, chunker: str) -> None:
    bare.write("variorum.toml", template("docs").replace('"anchored"', f'"{chunker}"'))
    use_fast_model(bare)
    bare.done("plan")


@pytest.mark.parametrize("root", ["文档", 'a "quoted" folder', "back\\slash", "with space", "{x}"])
def test_any_folder_name_survives(bare: Workplace, root: str) -> None:
    (bare.folder / "docs").rename(bare.folder / root)
    bare.done("init", root)
    use_fast_model(bare)
    assert bare.json("plan")["documents"]["added"] == 1


def test_a_file_that_cannot_be_written_says_so(bare: Workplace) -> None:
    result = bare.run("init", "--config", "missing/variorum.toml")
    assert result.code == 7
    assert "cannot be written" in result.err


def test_a_configuration_elsewhere_finds_the_documents(bare: Workplace) -> None:
    (bare.folder / "settings").mkdir()
    bare.done("init", "docs", "--config", "settings/mine.toml")
    file = bare.folder / "settings/mine.toml"
    assert 'root = "../docs"' in file.read_text()
    file.write_text(file.read_text().replace('"e5-small"', f'"{MODEL}"'))
    plan = bare.json("plan", "--config", "settings/mine.toml")
    assert plan["documents"]["added"] == 1


def test_another_store_than_the_configured_one(bare: Workplace) -> None:
    bare.done("init", "docs")
    use_fast_model(bare)
    bare.done("sync", "--store", "other")
    assert (bare.folder / "other/store.sqlite").is_file()
    assert not (bare.folder / ".variorum").exists()
