"""Every example runs: transcripts of pages, Python on pages, examples in docstrings."""

import builtins
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

import variorum
from pages import ACCESS, PYTHON, README, TUTORIAL, Step, blocks, steps
from variorum.embedding import embedder_from_spec
from workplace import LEAVE, MODEL, TRAVEL, Workplace

VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"), "DATE"),
    (re.compile(r"\d+\.\d s"), "SECONDS"),
    (re.compile(r"(meaning|words) -?\d+\.\d+"), r"\1"),
)
ELISION = "…"


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(variorum.__path__, "variorum."):
        if not re.search(r"migrations|__main__", found.name):
            yield importlib.import_module(found.name)


MODULES = list(modules())


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_example_in_a_docstring_runs(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def documented(module: ModuleType) -> Iterator[tuple[str, str]]:
    """(name, docstring) of the functions, classes and methods that a module defines."""
    for name, member in vars(module).items():
        if getattr(member, "__module__", None) != module.__name__ or not callable(member):
            continue
        yield name, inspect.getdoc(member) or ""
        if inspect.isclass(member):
            for inner, method in vars(member).items():
                function = method.fget if isinstance(method, property) else method
                if callable(function):
                    yield f"{name}.{inner}", inspect.getdoc(function) or ""


def raised(doc: str) -> list[str]:
    _, _, rest = doc.partition("Raises:\n")
    block = re.split(r"\n(?=\S)", rest)[0]
    return re.findall(r"^ {4}(\w+):", block, re.MULTILINE)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_error_under_raises_resolves(module: ModuleType) -> None:
    from variorum.records import errors

    for name, doc in documented(module):
        for error in raised(doc):
            places = (module, errors, builtins)
            found = next((vars(place)[error] for place in places if error in vars(place)), None)
            assert inspect.isclass(found), f"{module.__name__}.{name}: {error}"
            assert issubclass(found, Exception)


def test_the_door_raises_errors_of_its_own_only() -> None:
    from variorum.door import index
    from variorum.records import errors

    named = {error for _, doc in documented(index) for error in raised(doc)}
    assert len(named) > 4
    assert all(issubclass(getattr(errors, error), errors.VariorumError) for error in named)


def test_docstrings_do_say_what_is_raised() -> None:
    named = [error for module in MODULES for _, doc in documented(module) for error in raised(doc)]
    assert len(named) > 50


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = Workplace(tmp_path)
    place.write("variorum.toml", f'[model]\nspec = "{MODEL}"\n')
    place.write("notes/leave.md", LEAVE)
    place.write("notes/travel.md", TRAVEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [README, PYTHON, ACCESS], ids=lambda page: page.name)
@pytest.mark.usefixtures("notes")
def test_every_python_example_of_a_page_runs(page: Path) -> None:
    namespace: dict[str, object] = {"__name__": "example"}
    examples = blocks(page, "python")
    assert examples
    for example in examples:
        exec(compile(example.body, page.name, "exec"), namespace)


def normal(line: str) -> str:
    for pattern, word in VARYING:
        line = pattern.sub(word, line)
    return line.rstrip()


def groups(shown: Sequence[str]) -> list[list[str]]:
    """The shown lines between the lines that only say that something is left out."""
    found: list[list[str]] = [[]]
    for line in shown:
        if line == ELISION:
            found.append([])
        else:
            found[-1].append(normal(line))
    return found


def same(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Line for line; a shown line that ends in " …" says only how the printed one begins."""
    return len(shown) == len(printed) and all(
        line == other or (line.endswith(" …") and other.startswith(line.removesuffix("…")))
        for line, other in zip(shown, printed, strict=True)
    )


def agrees(shown: Sequence[str], printed: str) -> bool:
    """Whether the printed lines are the shown ones, where elisions stand for any lines."""
    lines = [normal(line) for line in printed.rstrip("\n").split("\n")]
    first, *others = groups(list(shown))
    if not same(first, lines[: len(first)]):
        return False
    position = len(first)
    for group in others:
        while not same(group, lines[position : position + len(group)]):
            position += 1
            if position > len(lines):
                return False
        position += len(group)
    return bool(others) or position == len(lines) or not shown


def run(place: Workplace, command: str) -> str:
    if command.startswith("variorum "):
        result = place.run(*shlex.split(command)[1:])
        return result.out + result.err
    ran = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=place.folder,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


@pytest.fixture(scope="module")
def model() -> object:
    return embedder_from_spec("e5-small")


@pytest.mark.model
def test_the_tutorial_runs_and_prints_what_it_shows(
    tmp_path: Path, model: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("variorum.door.opened.embedder_from_spec", lambda *_: model)
    place = Workplace(tmp_path)
    ran = 0
    for block in blocks(TUTORIAL):
        if block.file:
            place.write(block.file, block.body)
        elif block.language == "console":
            for step in steps(block.body):
                shown = [line.replace("….variorum", f"{tmp_path}/.variorum") for line in step.shown]
                printed = run(place, step.command)
                assert agrees(shown, printed), f"$ {step.command}\n{printed}"
                ran += 1
    assert ran > 20


@pytest.mark.model
def test_the_transcript_of_the_readme_is_what_the_demo_prints(
    tmp_path: Path, model: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("variorum.door.opened.embedder_from_spec", lambda *_: model)
    [block] = blocks(README, "console")
    _, *shown = block.body.rstrip("\n").split("\n")
    printed = run(Workplace(tmp_path), "variorum demo")
    assert agrees(shown, printed), printed


@pytest.mark.parametrize("title", re.findall(r"^## (An? .+)$", ACCESS.read_text(), re.MULTILINE))
def test_every_example_of_access_prints_what_it_shows(tmp_path: Path, title: str) -> None:
    place = Workplace(tmp_path)
    page = tmp_path.with_suffix(".md")
    _, _, rest = ACCESS.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    page.write_text(re.split(r"^## An? ", rest, flags=re.MULTILINE)[0], encoding="utf-8")
    ran = 0
    for block in blocks(page):
        if block.file:
            place.write(block.file, block.body)
        for step in steps(block.body) if block.language == "console" else ():
            printed = run(place, step.command)
            assert agrees(step.shown, printed), f"$ {step.command}\n{printed}"
            ran += 1
    assert ran > 4


def test_an_elision_stands_for_any_lines_and_a_difference_is_seen() -> None:
    printed = "a\nb 1.5 s\nc\nd\n"
    assert agrees(("a", "b 2.0 s", "c", "d"), printed)
    assert agrees(("a", "…", "d"), printed)
    assert agrees((), printed)
    assert agrees(("a", "b …", "c", "d"), printed)
    assert not agrees(("a", "b 2 …", "c", "d"), printed)
    assert not agrees(("a", "…", "x"), printed)
    assert not agrees(("a", "b 2.0 s"), printed)
    assert not agrees(("b 2.0 s", "…"), printed)


def test_steps_are_read_from_a_console_block() -> None:
    assert list(steps("$ one\nout\n$ two\n")) == [Step("one", ("out",)), Step("two", ())]
