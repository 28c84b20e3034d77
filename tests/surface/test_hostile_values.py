"""Whatever an option is given, the answer is a result or an error of ours: never a bug."""

import json
import os
from pathlib import Path
from zlib import crc32

import pytest

from variorum.surfaces.cli.app import variorum as command_line
from workplace import LEAVE, Result, Workplace

BUG = 70
VALUES = [
    "",
    " ",
    "\0",
    "a\0b",
    "-1",
    "0",
    "9" * 30,
    "-" + "9" * 30,
    "9" * 5000,
    "1e999",
    "nan",
    "inf",
    "-inf",
    "\udcff",
    "x" * 5000,
    "a\nb",
    "\x1b[31mred",
    "--",
    "[",
    "[]",
    "!",
    "\\",
    "=",
    "docs:leave.md",
    "docs:leave.md@00000000[0:1]",
    f"docs:leave.md@{'0' * 64}[{'9' * 18}:{'9' * 18}]",
    "..",
    "/dev/null",
    "😀",
]
NEEDED = {
    "search": ["leave"],
    "show": ["docs:leave.md@00000000[0:1]"],
    "diff": ["1", "1"],
    "restore": ["7"],
    "chunk": ["docs/leave.md"],
}
COMMANDS = sorted(set(command_line.commands) - {"demo", "watch"})  # `watch` does not end.
SHARE = 4
"""Without --long each option is given every fourth value, each another fourth."""


def calls() -> list[tuple[str, ...]]:
    """Every option that takes a value, and every argument, of every command."""
    found = []
    for name in COMMANDS:
        for parameter in command_line.commands[name].params:
            if parameter.param_type_name == "argument":
                found.append((name, ""))
            elif not getattr(parameter, "is_flag", False):
                found.append((name, parameter.opts[0]))
    return sorted(set(found))


def assert_ours(result: Result) -> None:
    assert result.code != BUG, result
    for line in result.out.splitlines():
        parsed = json.loads(line, parse_constant=pytest.fail)
        assert isinstance(parsed, dict)
    if result.code not in (0, 3):
        assert result.json["ok"] is False or "checks" in result.json
    assert result.err == ""


@pytest.mark.parametrize(("command", "option"), calls())
def test_no_value_of_any_option_or_argument_is_a_bug(
    published: Workplace, request: pytest.FixtureRequest, command: str, option: str
) -> None:
    first = crc32(f"{command} {option}".encode()) % SHARE
    for value in VALUES if request.config.getoption("--long") else VALUES[first::SHARE]:
        if command == "init":
            (published.folder / "variorum.toml").unlink(missing_ok=True)
        if option:
            given = [f"{option}={value}" if option.startswith("--") else f"{option}{value}"]
            arguments = [*given, *NEEDED.get(command, [])]
        else:
            others = NEEDED.get(command, [""])[1:]
            arguments = ["--", value, *others]
        result = published.run(command, "--json", *arguments)
        if not (value == "--" and not option):
            assert_ours(result)
        if command == "init":
            published.configure()


@pytest.mark.parametrize("value", ["9" * 30, "-" + "9" * 30, "0", "-1"])
@pytest.mark.parametrize("command", [("search", "leave", "--as-of"), ("diff", "1"), ("restore",)])
def test_a_number_that_no_generation_has(
    published: Workplace, command: tuple[str, ...], value: str
) -> None:
    arguments = (*command, f"{value}") if "--as-of" in command else (*command, "--", value)
    result = published.run(command[0], "--json", *arguments[1:])
    assert (result.code, result.json["kind"]) == (4, "no-such-generation")
    assert result.json["found"] == value


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "1e999"])
@pytest.mark.parametrize("option", ["--max-usd", "--usd-per-mtok"])
def test_an_amount_that_is_no_amount(published: Workplace, option: str, value: str) -> None:
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    more = [] if option == "--usd-per-mtok" else ["--usd-per-mtok", "1"]
    result = published.run("sync", f"{option}={value}", *more, "--json")
    assert (result.code, result.json["kind"]) == (2, "bad-parameter")
    assert result.json["subject"] == option
    assert "finite" in result.json["expected"]


def test_a_price_next_to_nothing_limits_nothing(published: Workplace) -> None:
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    done = published.json("sync", "--max-usd", "1e308", "--usd-per-mtok", "5e-324")
    assert done["generation"] == 2


@pytest.mark.parametrize("price", ["nan", "inf", "-inf", "-0.1", "1e400", "1" * 400, "true"])
def test_a_configured_price_that_is_no_price(place: Workplace, price: str) -> None:
    place.write("variorum.toml", f"[model]\nspec = 'hashing()'\nusd_per_million_tokens = {price}\n")
    result = place.run("plan", "docs", "--json")
    assert (result.code, result.json["kind"]) == (2, "bad-config")
    assert result.json["subject"] == "model.usd_per_million_tokens"


BAD_TOML = [
    ('[sources.docs]\nroot = "a\\u0000b"\n', "sources.docs.root"),
    ('[sources.docs]\nroot = ""\n', "sources.docs.root"),
    ('[store]\npath = "a\\u0000"\n', "store.path"),
    ('[store]\npath = ""\n', "store.path"),
    ('[model]\nspec = ""\n', "model.spec"),
    ('[collections.a]\ntenant = ""\n', "collections.a.tenant"),
    ('[sources.docs]\nroot = "docs"\ninclude = ["/etc/*"]\n', "sources.docs.include"),
    ('[sources.docs]\nroot = "~nobody-of-this-name/x"\n', "sources.docs.root"),
    ('[sources.docs]\nroot = "docs"\ninclude = []\n', "sources.docs.include"),
    ('[sources.docs]\nroot = "docs"\n[collections.a]\nsources = []\n', "collections.a.sources"),
    ('[sources.docs]\nroot = "docs"\ninclude = ["["]\n', "sources.docs.include"),
    ('[sources.docs]\nroot = "docs"\nexclude = [""]\n', "sources.docs.exclude"),
    (f"[sources.docs]\nroot = 'docs'\nmax_bytes = {'9' * 5000}\n", "variorum.toml"),
    (f"a = {'[' * 5000}\n", "variorum.toml"),
]


@pytest.mark.parametrize(("text", "subject"), BAD_TOML)
@pytest.mark.parametrize("command", ["plan", "doctor"])
def test_a_setting_that_is_not_sound(tmp_path: Path, text: str, subject: str, command: str) -> None:
    place = Workplace(tmp_path)
    place.write("variorum.toml", text)
    result = place.run(command, "--json")
    assert (result.code, result.json["kind"]) == (2, "bad-config")
    assert subject in result.json["subject"]


def test_a_byte_order_mark_before_the_configuration_is_no_setting(place: Workplace) -> None:
    text = (place.folder / "variorum.toml").read_bytes()
    place.write("variorum.toml", b"\xef\xbb\xbf" + text)
    assert place.json("plan")["documents"]["added"] == 2


@pytest.mark.parametrize("command", ["sync", "init", "chunk", "plan"])
def test_an_empty_path_is_not_the_current_folder(place: Workplace, command: str) -> None:
    (place.folder / "variorum.toml").unlink()
    result = place.run(command, "", "--json")
    assert (result.code, result.json["kind"]) == (2, "bad-parameter")
    assert not (place.folder / ".variorum").exists()


def test_a_deleted_current_folder(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = os.getcwd()
    for command in (("plan",), ("doctor",), ("init",), ("search", "leave")):
        place = Workplace(gone)
        gone.mkdir(exist_ok=True)
        os.chdir(gone)
        gone.rmdir()
        try:
            result = _in_this_folder(*command, "--json")
        finally:
            os.chdir(before)
        assert (result.code, result.json["kind"]) == (4, "no-current-folder"), place


def _in_this_folder(*arguments: str) -> Result:
    import contextlib
    import io

    from variorum.surfaces.cli.app import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(arguments))
    return Result(code, out.getvalue(), err.getvalue())


def test_a_file_name_that_is_no_utf8_and_drives_a_terminal(place: Workplace) -> None:
    name = os.fsdecode(b"docs/\xff\x1b[31m\n.md")
    place.write(name, LEAVE)
    shown = place.done("chunk", name).out
    assert "\x1b" not in shown
    assert "␛[31m␊.md: " in shown
    assert place.json("chunk", name)["path"] == name


def test_a_content_type_that_nothing_has(published: Workplace) -> None:
    result = published.run("search", "leave", "--type", "markdwon", "--json")
    assert (result.code, result.json["kind"]) == (2, "unknown-content-type")
    assert "text/markdown" in result.json["expected"]
    assert published.json("search", "leave", "--type", "html")["hits"] == []


def test_a_key_given_twice_is_refused(published: Workplace) -> None:
    result = published.run("search", "leave", "--where", "owner=A", "--where", "owner=B", "--json")
    assert (result.code, result.json["kind"]) == (2, "bad-parameter")
    assert result.json["found"] == "owner=A, owner=B"


def test_a_message_about_a_very_long_value_is_cut_for_people_only(published: Workplace) -> None:
    long = "x" * 5000
    assert len(published.run("plan", long).err) < 5000
    assert long in published.run("plan", long, "--json").json["found"]


# Names of sources


def sources(place: Workplace) -> set[str]:
    return {source["name"] for source in place.json("status")["sources"]}


def unconfigured(tmp_path: Path, *folders: str) -> Workplace:
    place = Workplace(tmp_path)
    place.write("variorum.toml", "[model]\nspec = 'hashing()'\n")
    for folder in folders:
        place.write(f"{folder}/leave.md", LEAVE)
    return place


def test_folders_in_any_script_are_sources_of_their_own(tmp_path: Path) -> None:
    place = unconfigured(tmp_path, "规则", "指南 二", "हिन्दी", "📚", "📁", "docs")
    for folder in ("规则", "指南 二", "हिन्दी", "📚", "📁", "docs"):
        place.done("sync", folder)
    names = sources(place)
    assert {"规则", "指南-二", "हिन्दी", "docs"} < names
    assert len([name for name in names if name.startswith("documents-")]) == 2
    hit = place.json("search", "leave", "-k", "1")["hits"][0]
    assert place.json("show", hit["citation"])["text"] == hit["text"]
    assert place.json("sync")["documents"]["unchanged"] == 6


@pytest.mark.parametrize("folder", ["docs", "规则", "my notes", ".", "📚", "feed.jsonl"])
def test_init_names_a_source_as_sync_does(tmp_path: Path, folder: str) -> None:
    place = unconfigured(tmp_path / "Home")
    if folder.endswith(".jsonl"):
        place.write(folder, '{"id": "a", "text": "leave"}\n')
    else:
        place.write(f"{folder}/leave.md", LEAVE)
    place.done("sync", folder)
    (place.folder / "variorum.toml").unlink()
    place.done("init", folder)
    text = (place.folder / "variorum.toml").read_text()
    place.write("variorum.toml", text.replace('"e5-small"', '"hashing()"'))
    again = place.json("sync")
    assert (again["generation"], again["documents"]["unchanged"]) == (None, 1)
    assert len(sources(place)) == 1


def test_init_of_a_folder_that_is_not_there(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    result = place.run("init", "docs", "--json")
    assert (result.code, result.json["kind"]) == (4, "no-such-folder")
    assert not (tmp_path / "variorum.toml").exists()


def test_overlap_needs_the_planner_off_and_the_message_says_so(place: Workplace) -> None:
    place.configure('[chunking]\nchunker = "fixed(overlap_tokens=9)"\n')
    for command in ("plan", "sync", "doctor"):
        result = place.run(command)
        assert "planner = false" in result.err + result.out, command
        assert result.code != 0
    assert not (place.folder / ".variorum").exists()
    refused = place.run("chunk", "docs/leave.md", "--given", "docs/leave.md", "--json")
    assert refused.code == 2
    assert "--given" in refused.json["remedy"]
    assert place.run("chunk", "docs/leave.md").code == 0


def test_a_folder_is_no_file_to_cut(place: Workplace) -> None:
    result = place.run("chunk", "docs", "--json")
    assert (result.code, result.json["kind"]) == (2, "not-a-file")


def test_a_price_that_is_small_is_not_shown_as_nothing(place: Workplace) -> None:
    assert "under 0.0001 USD" in place.done("plan", "--usd-per-mtok", "0.01").out
    assert "money      0.0000 USD" in place.done("plan", "--usd-per-mtok", "0").out


def test_what_is_no_regular_file_is_not_cut(place: Workplace) -> None:
    os.mkfifo(place.folder / "pipe")
    for name in ("pipe", "/dev/zero"):
        result = place.run("chunk", name, "--json")
        assert (result.code, result.json["kind"]) == (2, "not-a-file")
