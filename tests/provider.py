"""A provider of embeddings over HTTP, in this process, that fails on a given schedule."""

import json
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from variorum.embedding import HashingEmbedder
from variorum.embedding.batches import BatchLimits
from variorum.embedding.remote.embedder import RemoteEmbedder, RemoteModel
from variorum.embedding.remote.pace import Pace, PaceLimits

DIMENSIONS = 64
STATUSES = {
    "429": (429, None),
    "429-later": (429, "1"),
    "500": (500, None),
    "502": (502, None),
    "503-later": (503, "2"),
    "400": (400, None),
    "401": (401, None),
    "404": (404, None),
}
ROWS = ("nan", "infinite", "narrow", "null", "zero")
"""Ways of spoiling one row of an answer."""

WHOLE = ("429", "429-later", "500", "502", "503-later", "slow", "reset", "cut", "no-json", "short")
"""Ways of losing a whole answer for a moment."""

SOUND = ("", "reversed")
SLOW_S = 0.3


@dataclass
class Request:
    """What arrived: its number, its inputs, when, and what was done to it."""

    number: int
    inputs: list[str]
    fault: str
    at: float
    model: str
    headers: dict[str, str]


@dataclass
class FakeClock:
    """Time that passes when somebody sleeps, and at once."""

    time: float = 0.0
    slept: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> float:
        with self.lock:
            return self.time

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.time += seconds
            self.slept.append(seconds)


@dataclass
class Provider:
    """`schedule[n]` is what is done to request n; past its end, requests are answered soundly.

    A request that holds `poison` is refused whole, with status 400.
    """

    schedule: Sequence[str] = ()
    poison: str = ""
    clock: FakeClock = field(default_factory=FakeClock)
    model: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(DIMENSIONS))
    requests: list[Request] = field(default_factory=list)
    running: int = 0
    most_running: int = 0
    pause_s: float = 0.0
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def serving(self) -> Iterator["Provider"]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def arrived(self, body: dict[str, Any], headers: dict[str, str]) -> Request:
        with self.lock:
            number = len(self.requests)
            fault = self.schedule[number] if number < len(self.schedule) else ""
            if self.poison and any(self.poison in text for text in body["input"]):
                fault = "400"
            now = self.clock.now()
            request = Request(number, body["input"], fault, now, body["model"], headers)
            self.requests.append(request)
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        return request

    def left(self) -> None:
        with self.lock:
            self.running -= 1

    def spec(self, **settings: object) -> str:
        """The spec of this provider's model."""
        printed = {"model": "tiny", "url": self.url, "dimensions": DIMENSIONS}
        printed |= {"max_tokens": 512, "tokenizer": "bytes", **settings}
        return f"openai({', '.join(f'{name}={value}' for name, value in printed.items())})"

    def embedder(self, limits: BatchLimits | None = None, **pace: Any) -> RemoteEmbedder:
        """An embedder of this provider on its clock, in no hurry to time out on a busy machine."""
        model = RemoteModel(
            self.url, "tiny", DIMENSIONS, 512, "bytes", timeout_s=pace.pop("timeout_s", 30.0)
        )
        paced = Pace(PaceLimits(**pace), self.clock, jitter=lambda: 0.0)
        return RemoteEmbedder(model, paced, limits or BatchLimits(max_inputs=4), Path())


def schedule(seed: int, length: int, share: float, kinds: Sequence[str]) -> list[str]:
    """A seeded schedule in which `share` of the requests meet a fault, each kind equally often."""
    generator = random.Random(seed)
    kinds_in_turn = [kinds[place % len(kinds)] for place in range(round(share * length))]
    sound = [SOUND[place % 2] for place in range(length - len(kinds_in_turn))]
    mixed = kinds_in_turn + sound
    generator.shuffle(mixed)
    return mixed


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = provider.arrived(body, {k.lower(): v for k, v in self.headers.items()})
            time.sleep(provider.pause_s)
            provider.left()
            self.answer(request)

        def answer(self, request: Request) -> None:
            if request.fault in STATUSES:
                status, later = STATUSES[request.fault]
                error = {"error": {"message": f"no: {request.headers.get('authorization')}"}}
                return self.send(json.dumps(error), status, later)
            if request.fault == "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                return self.connection.close()
            if request.fault == "slow":
                time.sleep(SLOW_S)
            if request.fault == "no-json":
                return self.send("<html>busy</html>")
            return self.send(_answer(provider, request), cut=request.fault == "cut")

        def send(self, text: str, status: int = 200, later: str | None = None, cut=False) -> None:
            data = text.encode()
            try:
                self.send_response(status)
                if later:
                    self.send_header("Retry-After", later)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if cut else data)
            except OSError:
                pass  # who asked has gone
            self.close_connection = cut

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _answer(provider: Provider, request: Request) -> str:
    vectors = provider.model.embed(request.inputs).tolist()
    rows = [{"index": place, "embedding": row} for place, row in enumerate(vectors)]
    spoiled = rows[request.number % len(rows)]
    match request.fault:
        case "nan":
            spoiled["embedding"][3] = float("nan")
        case "infinite":
            spoiled["embedding"][3] = float("inf")
        case "narrow":
            spoiled["embedding"].pop()
        case "null":
            spoiled["embedding"] = None
        case "zero":
            spoiled["embedding"] = [0.0] * DIMENSIONS
        case "short":
            rows.pop()
        case "reversed":
            rows.reverse()
    return json.dumps({"object": "list", "data": rows, "model": request.model})
