"""The real conversion, under a real kill and a real race."""

import signal
import subprocess
import sys
import time

import pytest

from variorum.embedding.e5 import cache

pytestmark = pytest.mark.model

PROGRAM = (
    "import sys; from pathlib import Path; from variorum.embedding.e5.cache import *;"
    "print(converted_model(Path(sys.argv[1])))"
)


def start_conversion(root):
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(root)], stdout=subprocess.PIPE)


@pytest.mark.long
@pytest.mark.parametrize("moment", [0, 1, 2])
def test_a_killed_conversion_leaves_no_cache_and_the_next_one_succeeds(tmp_path, moment):
    process = start_conversion(tmp_path)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob(".*/*"))) <= moment and time.monotonic() < deadline:
        if process.poll() is not None:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    # The kill may come just after the rename: then the folder is there, and whole.
    folder = cache.converted_model(tmp_path)
    assert cache.read_vocabulary(folder).pieces
    assert cache.verified_file(folder, cache.MODEL_FILE)


def test_two_conversions_at_once_give_one_verified_folder(tmp_path):
    processes = [start_conversion(tmp_path) for _ in range(2)]
    printed = {process.communicate(timeout=120)[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    (folder,) = tmp_path.iterdir()
    assert printed == {f"{folder}\n".encode()}
    assert cache.verified_file(folder, cache.MODEL_FILE)
    assert cache.read_vocabulary(folder).pieces
