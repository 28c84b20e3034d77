"""Output that its stream cannot carry, streams that take nothing, and Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from variorum.door.index import Index
from workplace import TRAVEL, Workplace

SOURCE = Path(__file__).resolve().parents[2] / "src"
ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}


def process(
    place: Workplace, *arguments: str, stdout: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "variorum", *arguments]
    with open(stdout or os.devnull, "w", encoding="utf-8") as out:
        return subprocess.run(
            command,
            cwd=place.folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), **environment},
            stdout=out if stdout else subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            check=False,
        )


def test_what_ascii_lacks_is_written_plainly_or_escaped(published: Workplace) -> None:
    for command in (
        ("search", "住宿", "-k", "1"),
        ("status",),
        ("log",),
        ("plan", "-v"),
        ("chunk", "docs/travel.md"),
        ("search", "leave", "--type", "中文"),
        ("--help",),
        ("init", "--print"),
    ):
        ran = process(published, *command, **ASCII)
        assert (ran.stdout + ran.stderr).isascii()
        assert "Traceback" not in ran.stderr
        assert ran.returncode in (0, 2), ran
    shown = process(published, "search", "住宿", "-k", "1", "--path", "travel.md", **ASCII).stdout
    assert "lines 1-" in shown
    heading = TRAVEL.splitlines()[0].removeprefix("# ")
    assert heading.encode("ascii", "backslashreplace").decode() in shown


@pytest.mark.parametrize("command", [("plan",), ("sync",), ("chunk", "docs/leave.md")])
def test_a_size_over_the_model_s_limit_is_noted_on_stderr(
    place: Workplace, command: tuple[str, ...]
) -> None:
    place.configure('[chunking]\nchunker = "fixed(max_tokens=513)"\n')
    noted = place.run(*command, "--json")
    assert noted.json
    assert " ".join(noted.err.split()) == (
        "Note: fixed(max_tokens=513, overlap_tokens=0) asks for more than the 512 tokens that the "
        "model takes: its chunks are cut to what fits"
    )
    assert place.run(*command, "--json", "-q").err == ""
    place.configure('[chunking]\nchunker = "fixed(max_tokens=512)"\n')
    assert place.run(*command, "--json").err == ""


def test_json_is_the_same_in_every_encoding(published: Workplace) -> None:
    plain = process(published, "search", "住宿", "--json", PYTHONIOENCODING="utf-8").stdout
    escaped = process(published, "search", "住宿", "--json", **ASCII).stdout
    assert escaped.isascii()
    assert json.loads(escaped) == json.loads(plain)


def test_a_bracket_in_a_pattern_warns_nobody(published: Workplace) -> None:
    published.write("docs/.gitignore", "[[]draft*\n")
    for command in (("sync",), ("search", "leave", "--path", "[[]a*")):
        ran = process(published, *command, "--json")
        assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "command", [("log", "--json"), ("log",), ("--help",), ("nosuch", "--json"), ("init", "--print")]
)
def test_an_output_that_takes_nothing_is_an_error_on_stderr(
    published: Workplace, command: tuple[str, ...]
) -> None:
    ran = process(published, *command, stdout="/dev/full")
    assert ran.returncode == (2 if command[0] == "nosuch" else 7)
    assert ran.stderr.startswith("Error: ")
    assert "Traceback" not in ran.stderr


def test_a_closed_output_is_no_error(published: Workplace) -> None:
    shell = f'exec "{sys.executable}" -m variorum log --json >&-'
    ran = subprocess.run(
        ["/bin/sh", "-c", shell],
        cwd=published.folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


# Ctrl-C


@pytest.mark.parametrize("call", ["plan", "sync", "search"])
@pytest.mark.parametrize("as_json", [True, False])
def test_an_interruption_is_one_error(
    published: Workplace, monkeypatch: pytest.MonkeyPatch, call: str, as_json: bool
) -> None:
    def press(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Index, call, press)
    arguments = ["leave"] if call == "search" else []
    result = published.run(call, *arguments, *(["--json"] if as_json else []))
    assert result.code == 130
    if as_json:
        assert (result.json["kind"], result.err) == ("interrupted", "")
    else:
        assert result.out == ""
        assert result.err.startswith("Error: interrupted")


PRESSING = """
import os, signal, sys
import variorum.door.opened as door
from variorum.embedding.hashing import HashingEmbedder
from variorum.surfaces.cli import main

class Pressing(HashingEmbedder):
    def embed(self, inputs, role="passage"):
        os.kill(os.getpid(), signal.SIGINT)
        return super().embed(inputs, role)

door.embedder_from_spec = lambda *_: Pressing(32)
main(sys.argv[1:])
"""


@pytest.mark.parametrize("command", ["plan", "sync"])
@pytest.mark.parametrize("chunker", ["anchored", "semantic"])
def test_a_signal_in_the_middle_of_the_work_is_one_error(
    place: Workplace, command: str, chunker: str
) -> None:
    place.configure(f'[chunking]\nchunker = "{chunker}"\n')
    ran = subprocess.run(
        [sys.executable, "-c", PRESSING, command, "--json"],
        cwd=place.folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (130, "")
    assert json.loads(ran.stdout)["kind"] == "interrupted"
    assert place.run("log").code in (0, 4)
    assert place.json("sync")["generation"] == 1


def test_a_signal_while_the_program_loads_is_one_error(place: Workplace) -> None:
    loading = (
        "import os, signal, sys\n"
        "class Presses:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'variorum.surfaces.cli.app':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Presses())\n"
        "from variorum.surfaces.cli import main\n"
        "main(['status', '--json'])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", loading],
        cwd=place.folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (130, "")
    assert json.loads(ran.stdout)["kind"] == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
