"""Die at the n-th write, sync, cut and change of names below the store: by a kill, by a power cut.

The engine's own file operations die, by a library that is compiled here and preloaded: statements
are counted elsewhere.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
RUNS = ("publish", "prune", "switch", "restore", "erase", "first")
WAYS = ("killed", "torn", "lost", "partly-lost")
SAMPLED = (
    ("publish", "lost"),
    ("publish", "partly-lost"),
    ("prune", "partly-lost"),
    ("switch", "torn"),
    ("restore", "lost"),
    ("erase", "partly-lost"),
    ("first", "lost"),
)
STRIDE = 29
"""Of the walks that the default run samples."""


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled library."""
    compiler = shutil.which("cc")
    if not sys.platform.startswith("linux") or compiler is None:
        pytest.skip("needs Linux and a C compiler")
    library = tmp_path_factory.mktemp("disk") / "dying_disk.so"
    source = HERE / "dying_disk.c"
    options = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(
        [compiler, *options, "-o", library, source, "-ldl", "-pthread"], check=True, timeout=60
    )
    return library


def on(disk: Path, *command: object) -> str:
    """What a Python process prints that has the library preloaded."""
    environment = {
        **os.environ,
        "LD_PRELOAD": str(disk),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    return done.stdout


def walk(disk: Path, home: Path, run: str, way: str, *, first: int = 1, stride: int = 1) -> Any:
    options = ("--first", first, "--stride", stride)
    seen = json.loads(on(disk, HERE / "dying_disk.py", run, way, home, *options))
    if not seen["changes"]["writes"]:
        pytest.skip("the engine of this Python does not write through the C library")
    assert seen["changes"]["syncs"] >= 5
    there = seen["changes"]["syncs"] if way == "lost" else sum(seen["changes"].values()) - first
    assert seen["deaths"] >= 0.9 * there // stride
    assert seen["seen"]["before"] + seen["seen"]["after"] == seen["deaths"]
    return seen


def test_a_publish_killed_at_every_third_change_of_its_files_is_all_or_nothing(
    disk: Path, tmp_path: Path
) -> None:
    seen = walk(disk, tmp_path, "publish", "killed", stride=3)["seen"]
    assert min(seen.values()) > 0


@pytest.mark.parametrize(("run", "way"), SAMPLED)
def test_a_run_that_dies_at_some_changes_of_its_files_loses_nothing_that_was_said_to_be_done(
    disk: Path, tmp_path: Path, run: str, way: str
) -> None:
    stride = 1 if way == "lost" else STRIDE
    walk(disk, tmp_path, run, way, first=1 + RUNS.index(run) % stride, stride=stride)


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("run", RUNS)
def test_a_run_that_dies_at_any_change_of_its_files_in_any_way_loses_nothing(
    disk: Path, tmp_path: Path, run: str, way: str
) -> None:
    seen = walk(disk, tmp_path, run, way)["seen"]
    assert min(seen["before"], seen["after"]) > 0


FORGETTING = """
import ctypes, os, sys
way, folder = int(sys.argv[1]), sys.argv[2]
below = os.path.join(folder, "store")
os.makedirs(below); os.makedirs(below + "-beside")
def sync(path):
    descriptor = os.open(path, os.O_RDONLY); os.fsync(descriptor); os.close(descriptor)
def put(name, data):
    with open(os.path.join(below, name), "wb") as file:
        file.write(data)
    return os.path.join(below, name)
put("old", b"before"); put("renamed", b"renamed"); put("removed", b"removed")
ctypes.CDLL(None).dying_disk_begin(below.encode(), (below + "-beside").encode(), 15, way, 1)
sync(put("synced", b"kept")); sync(below)                       # made, written, 2 syncs: 4
put("old", b"a longer text")                                    # cut, written: 6
put("half", b"synced"); sync(os.path.join(below, "half"))       # made, written, synced: 9
os.rename(os.path.join(below, "renamed"), os.path.join(below, "old-name"))  # 10
os.unlink(os.path.join(below, "removed"))                       # 11
put("synced", b"not kept")                                      # cut, written: 13
put("unsynced", b"x")                                           # made, and dies: 15
os._exit(0)
"""


def test_the_disk_that_dies_forgets_what_was_not_synced_and_nothing_else(
    disk: Path, tmp_path: Path
) -> None:
    """As killed, everything stands; as cut off, what was synced: bytes by file, names by folder."""
    found = {}
    for way in (0, 2):
        home = tmp_path / str(way)
        command = [sys.executable, "-c", FORGETTING, str(way), str(home)]
        environment = {**os.environ, "LD_PRELOAD": str(disk)}
        assert subprocess.run(command, env=environment, check=False).returncode == 77
        files = sorted((home / "store").iterdir())
        found[way] = {file.name: file.read_bytes() for file in files}
    assert found[0] == {
        "half": b"synced",
        "old": b"a longer text",
        "old-name": b"renamed",
        "synced": b"not kept",
        "unsynced": b"",
    }
    assert found[2] == {
        "old": b"before",
        "removed": b"removed",
        "renamed": b"renamed",
        "synced": b"kept",
    }
