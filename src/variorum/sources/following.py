"""Following folders: what the system says was touched, in bursts."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import time

POLL_MS = 500
"""How often nothing is said too, so that what failed can be tried again."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Paths that were touched shortly after each other, absolute, each with when it was (Unix s).

    Empty where nothing was for a while.
    """

    touched: dict[bytes, float]


def bursts(
    roots: Sequence[Path],
    besides: Sequence[Path],
    *,
    settle_ms: int,
    longest_ms: int,
    stop: Event,
    clock: Callable[[], float] = time,
) -> Iterator[Burst]:
    """What is touched below `roots`, but for what lies below `besides` or in a `.git` folder.

    A burst ends when nothing was touched for `settle_ms`, or after `longest_ms`. The first burst is
    empty: from then on nothing is missed.
    """
    # Imported here: only a watch needs it.
    from watchfiles import watch

    passed_over = [os.fsencode(one.absolute()) + b"/" for one in besides]
    since = clock()
    for changes in watch(
        *roots,
        watch_filter=None,
        debounce=longest_ms,
        step=settle_ms,
        stop_event=stop,
        rust_timeout=POLL_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
    ):
        now = clock()
        paths = {os.fsencode(path) for _, path in changes}
        kept = [path for path in paths if not _is_passed_over(path, passed_over)]
        yield Burst({path: _touched_at(path, since, now) for path in kept})
        since = now


def _is_passed_over(path: bytes, folders: Sequence[bytes]) -> bool:
    below = path + b"/"
    return b"/.git/" in below or any(below.startswith(folder) for folder in folders)


def _touched_at(path: bytes, since: float, now: float) -> float:
    """When a file was written or renamed, between the last look and this; of one that is gone, now.

    By the time of its inode, which a copy that keeps the old time of writing sets too.
    """
    try:
        return min(max(os.lstat(path).st_ctime, since), now)
    except OSError:
        return now
