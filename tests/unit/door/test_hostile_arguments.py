"""Every parameter of every public function, given what it never expects.

The signatures are walked, so a function or a parameter that comes later is tested too. The answer
is a result, or an error of ours that says what was expected and what to do.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import variorum
from variorum.embedding.hashing import HashingEmbedder
from variorum.records.errors import BugError, VariorumError


class Anything:
    def __init__(self, *arguments: object) -> None:
        pass


HOSTILE = {
    "nothing": None,
    "high surrogate": "\ud800",
    "low surrogate": "a\udfff",
    "escaped byte": "\udcff",
    "NUL": "\0",
    "NUL inside": "a\0b",
    "empty": "",
    "blank": " \n",
    "long": "x" * 5000,
    "bracket": "[",
    "git": "git:\ud800",
    "huge": 10**5000,
    "below": -(10**30),
    "three": 3,
    "true": True,
    "part": 1.5,
    "nan": float("nan"),
    "infinite": float("inf"),
    "complex": 1j,
    "bytes": b"\xff",
    "empty list": [],
    "list": ["\ud800", "\0"],
    "numbers": (1, 2),
    "empty map": {},
    "map": {"n": None},
    "map of surrogates": {"\ud800": "\ud800"},
    "map of a surrogate": {"n": "\ud800"},
    "map of huge": {"n": 10**5000},
    "map of nan": {"n": float("nan")},
    "map of lists": {"n": []},
    "object": object(),
    "class": Anything,
    "unprintable name": variorum.DocumentName("\ud800", b"\0"),
    "nameless": variorum.DocumentName("", b""),
    "path of NUL": Path("a\0b"),
    "path of a surrogate": Path("\ud800"),
    "path of bytes": Path("\udcff"),
}
NEEDED: dict[str, dict[str, Any]] = {
    "open": {"embedder": HashingEmbedder(32)},
    "search": {"query": "hm"},
    "context": {"query": "hm"},
    "show": {"citation": "docs:one.md@00000000[0:1]"},
    "diff": {"old": 1, "new": 1},
    "restore": {"generation": 7},
    "use_model": {"model": "hashing(dimensions=32)"},
    "export": {"file": "no-folder/file"},
    "import_": {"file": "nowhere"},
    "backup": {"file": "no-folder/file"},
    "erase": {"document": "docs:none.md"},
    "lift": {"document": "docs:none.md"},
    "for_principal": {"principal": "user:ann"},
    "Citation": {
        "document": variorum.DocumentName("docs", b"one.md"),
        "revision": "0" * 64,
        "start": 0,
        "end": 1,
    },
    "DocumentName": {"source": "docs", "path": b"one.md"},
    "Citation.parse": {"printed": "docs:one.md@00000000[0:1]"},
    "DocumentName.parse": {"printed": "docs:one.md"},
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[variorum.Index]:
    home = tmp_path_factory.mktemp("home")
    (home / "docs").mkdir()
    (home / "docs/one.md").write_text("---\nn: 1\n---\n# One\n\nhm\n")
    with variorum.open(home, embedder=HashingEmbedder(32)) as index:
        index.sync(home / "docs")
        yield index


def _methods() -> dict[str, Callable[..., Any]]:
    members = inspect.getmembers(variorum.Index, inspect.isfunction)
    return {name: member for name, member in members if not name.startswith("_")}


def _makers() -> dict[str, Callable[..., Any]]:
    return {
        "open": variorum.open,
        "Citation": variorum.Citation,
        "Citation.parse": variorum.Citation.parse,
        "DocumentName": variorum.DocumentName,
        "DocumentName.parse": variorum.DocumentName.parse,
    }


def _parameters() -> list[tuple[str, str]]:
    called = {**_methods(), **_makers()}
    return [
        (name, parameter)
        for name, call in sorted(called.items())
        for parameter in inspect.signature(call).parameters
        if parameter != "self"
    ]


def _use(made: Any) -> None:
    """What is made or given back is used as far as one would use it without a thought."""
    if isinstance(made, variorum.Index):
        with made:
            made.log()
            made.doctor()
    elif isinstance(made, AbstractContextManager):
        with made as pinned:
            assert pinned
    else:
        str(made)


def _wrong(call: Callable[[], Any]) -> str:
    """What is wrong with how a call ends; empty where it is a result or a sound error of ours."""
    try:
        _use(call())
    except VariorumError as error:
        fields = (error.kind, error.expected, error.found, error.remedy)
        is_sound = all(fields) and not isinstance(error, BugError)
        return "" if is_sound else f"{error.kind}: {fields}"
    except Exception as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize(("name", "parameter"), _parameters())
def test_a_hostile_argument_gives_a_result_or_an_error_with_fields(
    index: variorum.Index,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    parameter: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    call = _makers().get(name) or getattr(index, name)
    others = NEEDED.get(name, {})
    wrong = {
        kind: found
        for kind, value in HOSTILE.items()
        if (found := _wrong(lambda: call(**{**others, parameter: value})))  # noqa: B023
    }
    assert wrong == {}


def test_the_arguments_that_calls_need_are_sound(index: variorum.Index) -> None:
    for name, call in {**_methods(), **_makers()}.items():
        bound = getattr(index, name) if name in _methods() else call
        inspect.signature(bound).bind(**NEEDED.get(name, {}))
