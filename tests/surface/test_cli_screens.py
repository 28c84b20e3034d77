"""What a person sees: short help, plain lines when piped, colour and wrapping on a terminal."""

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from rich.cells import cell_len

from command_tree import leaves
from variorum.records.errors import BugError
from variorum.surfaces.cli import searching
from variorum.surfaces.cli.app import run, variorum
from workplace import LEAVE, Workplace

COMMANDS = leaves(variorum)
SHARED_OPTIONS = ("--json", "--store", "--config", "--collection", "-q, --quiet")
LAB_OPTIONS = ("--json", "-q, --quiet")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(place: Workplace, *arguments: str, **variables: str) -> str:
    """What a terminal of 80 columns receives."""
    main, end = pty.openpty()
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": ":".join(filter(None, sys.path)),
        "TERM": "xterm-256color",
        "COLUMNS": "80",
        "LC_ALL": "C.UTF-8",
        **variables,
    }
    command = [sys.executable, "-m", "variorum", *arguments]
    with subprocess.Popen(
        command, cwd=place.folder, env=environment, stdin=end, stdout=end, stderr=end
    ) as process:
        os.close(end)
        received = bytearray()
        while select.select([main], [], [], 30)[0]:
            try:
                piece = os.read(main, 65536)
            except OSError:
                break
            if not piece:
                break
            received += piece
        process.wait(timeout=30)
    os.close(main)
    return received.decode()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_help_screen_fits_80_columns_and_says_what_the_command_does(
    name: str, place: Workplace
) -> None:
    screen = place.done(*name.split(), "--help").out
    assert max(map(len, screen.splitlines())) <= 80
    assert (COMMANDS[name].help or "").split("\n")[0][:40] in screen
    if name != "demo":
        shared = LAB_OPTIONS if name.startswith("lab ") else SHARED_OPTIONS
        assert all(option in screen for option in shared)


def test_the_overview_names_every_command_in_one_whole_line_each(place: Workplace) -> None:
    overview = place.done("--help").out
    assert "..." not in overview.replace("[ARGS]...", "")
    assert all(re.search(rf"^  {name} ", overview, re.MULTILINE) for name in variorum.commands)
    assert place.done().out == overview


def test_every_option_and_command_has_a_help_text() -> None:
    for command in [*variorum.commands.values(), *COMMANDS.values()]:
        assert command.help
        for option in command.params:
            assert isinstance(option, click.Argument) or getattr(option, "help", None), option


def test_version_prints_the_version(place: Workplace) -> None:
    assert re.fullmatch(r"variorum, version \d+\.\d+\.\d+\n", place.done("--version").out)


def test_a_search_shows_headings_lines_text_and_citation(published: Workplace) -> None:
    screen = published.done("search", "days of parental leave", "--path", "leave.md").out
    assert "Leave" in screen
    assert "lines " in screen
    assert "Parental leave is 80 working days at full pay." in screen
    assert re.search(r"docs:leave\.md@[0-9a-f]{16}\[\d+:\d+\]", screen)


def test_a_plan_names_documents_and_skipped_paths_when_asked(published: Workplace) -> None:
    published.write("docs/leave.md", LEAVE.replace("80", "90"))
    published.write("docs/logo.png", b"\x89PNG")
    (published.folder / "docs/travel.md").unlink()
    plain, verbose = published.done("plan").out, published.done("plan", "-v").out
    assert "1 changed, 0 unchanged, 1 removed" in plain
    assert "docs:logo.png" not in plain
    assert re.search(r"changed +\d+ of +\d+ tokens  docs:leave\.md", verbose)
    assert re.search(r"removed +docs:travel\.md", verbose)
    assert "skipped  docs:logo.png: not-included" in verbose


def test_a_log_says_what_each_generation_cost(revised: Workplace) -> None:
    revised.done("restore", "1")
    newest, second, first = revised.done("log").out.splitlines()
    assert newest.endswith("restore of 1")
    assert "+1 ~1 -1" in second
    assert "+2 ~0 -0" in first


def test_a_log_of_nothing_says_so(place: Workplace) -> None:
    place.run("sync", "--max-tokens", "0")
    assert "Nothing was published yet" in place.done("log").out


def test_show_marks_the_cited_lines(published: Workplace) -> None:
    hit = published.json("search", "parental leave", "-k", "1")["hits"][0]
    screen = published.done("show", hit["citation"]).out
    marked = [line[2:] for line in screen.splitlines() if line.startswith("> ")]
    assert "\n".join(marked).strip() == hit["text"].strip()


def test_show_says_where_a_revision_is_no_longer_shown(revised: Workplace) -> None:
    old = revised.json("search", "parental leave", "--as-of", "1", "--path", "leave.md")
    screen = revised.done("show", old["hits"][0]["citation"]).out
    assert "no longer shows this revision" in screen


def test_a_held_document_is_explained(place: Workplace) -> None:
    place.write("docs/bad.md", b"ok \xff")
    screen = place.run("sync").out
    assert "docs:bad.md: undecodable at byte 3" in screen
    assert "stays as it was last published" in screen


@pytest.mark.parametrize("arguments", [("search", "leave"), ("status",), ("plan", "-v"), ("log",)])
def test_nothing_is_coloured_when_piped(published: Workplace, arguments: tuple[str, ...]) -> None:
    result = published.done(*arguments)
    assert "\x1b" not in result.out + result.err


def test_no_document_drives_the_terminal(published: Workplace) -> None:
    published.write(
        "docs/evil.md", "# Evil \x1b]0;title\x07\n\nred \x1b[31mevil\x1b[0m text \x9b1m\n"
    )
    published.done("sync")
    result = published.done("search", "evil text", "--path", "evil.md")
    shown = published.done("show", published.json("search", "evil")["hits"][0]["citation"])
    cut = published.done("chunk", "docs/evil.md")
    for screen in (result.out, shown.out, cut.out):
        assert not set(screen) & {"\x1b", "\x07", "\x9b"}
    assert "red ␛[31mevil" in result.out


def test_quiet_changes_nothing_that_is_piped(published: Workplace) -> None:
    assert (
        published.done("plan", "-q").out.splitlines()[:4]
        == (published.done("plan").out.splitlines()[:4])
    )
    assert published.done("sync", "-q").err == ""


def test_a_terminal_gets_colour_and_wrapped_lines(published: Workplace) -> None:
    long = "Everybody may take the days in one stretch or in several. " * 6
    published.write("docs/leave.md", f"# Leave\n\n{long}\n\n假期可以一次休完，也可以分几次休。" * 3)
    published.done("sync")
    received = on_terminal(published, "search", "days", "--path", "leave.md")
    assert "\x1b[1m" in received
    lines = ESCAPE.sub("", received).splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert "Everybody may take the days" in lines[4]


STYLED = [
    ("search", "leave"),
    ("status",),
    ("plan",),
    ("doctor",),
    ("cost",),
    ("chunk", "docs/leave.md"),
    ("search", ""),
]


@pytest.mark.parametrize("arguments", STYLED)
def test_nothing_is_styled_on_a_terminal_where_no_color_is_set(
    published: Workplace, arguments: tuple[str, ...]
) -> None:
    assert "\x1b[" in on_terminal(published, *arguments)
    assert "\x1b" not in on_terminal(published, *arguments, NO_COLOR="1")
    assert "\x1b[" in on_terminal(published, *arguments, NO_COLOR="")


def test_a_bar_shows_only_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    from variorum.surfaces.cli import options

    now = [0.0]
    monkeypatch.setattr(options, "monotonic", lambda: now[0])
    with options._Bar() as bar:
        bar.report("plan", 1, 10)
        assert not bar._shown
        now[0] = 1.5
        bar.report("plan", 2, 10)
        assert bar._shown


def _failing(error: BaseException) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_an_unexpected_exception_is_a_bug_report_without_a_traceback(
    published: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "print_answer", _failing(ZeroDivisionError("surprise")))
    result = published.run("search", "leave")
    assert result.code == BugError.exit_code == 70
    assert "ZeroDivisionError: surprise" in result.err
    assert "VARIORUM_DEBUG=1" in result.err


def test_an_unexpected_exception_is_one_object_with_json(
    published: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("variorum.door.index.Index.search", _failing(RuntimeError("surprise")))
    result = published.run("search", "leave", "--json")
    assert (result.code, result.json["kind"]) == (70, "bug")


def test_a_bug_is_raised_where_debugging_is_asked_for(
    published: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VARIORUM_DEBUG", "1")
    monkeypatch.setattr(searching, "print_answer", _failing(ZeroDivisionError("surprise")))
    with pytest.raises(ZeroDivisionError):
        published.run("search", "leave")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()], ids=repr)
def test_an_interrupt_exits_130_and_says_what_stands(
    published: Workplace, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr("variorum.door.index.Index.sync", _failing(error))
    plain, as_json = published.run("sync"), published.run("sync", "--json")
    assert (plain.code, as_json.code) == (130, 130)
    assert "nothing was published" in plain.err
    assert as_json.json["kind"] == "interrupted"


def test_a_reader_that_stops_reading_is_no_error(published: Workplace) -> None:
    ran = subprocess.run(
        f"set -o pipefail; {sys.executable} -m variorum search leave | true",
        shell=True,
        executable="/bin/bash",
        cwd=published.folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""


def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "variorum", "status"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (4, "")
    assert "variorum sync" in ran.stderr


def test_the_demo_runs_and_leaves_what_it_is_asked_to_leave(place: Workplace) -> None:
    from workplace import MODEL

    screen = place.done("demo", "--keep", "kept", "--model", MODEL).out
    assert screen.count("$ variorum search") == 4
    assert (place.folder / "kept/handbook/en/leave.md").is_file()
    kept = Workplace(place.folder / "kept")
    assert kept.json("status")["generation"] == 2


def test_the_demo_never_works_in_a_folder_that_holds_something(place: Workplace) -> None:
    mine = place.write("mine/handbook/notes.md", "my own notes")
    result = place.run("demo", "--keep", "mine")
    assert result.code == 5
    assert mine.read_text() == "my own notes"


def test_run_gives_zero_for_help() -> None:
    assert run(["--help"]) == 0


def test_an_explanation_is_readable_on_80_columns(published: Workplace) -> None:
    published.write("docs/leave.md", LEAVE.replace("80 working days", "a hundred working days"))
    screen = on_terminal(published, "plan", "-v", "--explain", "docs:leave.md")
    lines = [ESCAPE.sub("", line) for line in screen.splitlines()]
    assert max(map(cell_len, lines)) <= 80
    text = "\n".join(lines)
    assert "docs:leave.md" in text
    assert re.search(r"changed: 1 input to embed, \d+ reused", text)
    assert re.search(r"edited +\d+ tokens, characters \d+–\d+", text)
    assert '"80" -> "a hundred"' in text
    stays = published.done("plan", "--explain", "docs:travel.md").out
    assert "docs:travel.md stays as it is." in stays
