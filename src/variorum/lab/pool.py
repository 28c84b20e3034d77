"""Many documents measured on all cores; each one's results kept as they arrive.

A result file is named by the hash of all that decides it, and written at once or not at all, so a
run that was killed goes on where it stopped, and another chunker is added to what is there.
"""

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from time import sleep

from variorum.embedding import embedder_from_spec
from variorum.lab.counting import StudySizer
from variorum.lab.histories import History
from variorum.lab.record import write_json
from variorum.lab.trial import Measured, Settings, Spent, Trial, measured
from variorum.records.protocols import Progress

RESULTS = "documents"


@dataclass(slots=True)
class Results:
    """Every document's results, in the order of the histories, and what measuring them took."""

    measured: list[Measured]
    spent: Spent = field(default_factory=Spent)
    reused: int = 0


def measure_all(
    histories: Sequence[History],
    specs: Sequence[str],
    settings: Settings,
    folder: Path,
    progress: Progress,
    workers: int | None = None,
) -> Results:
    """Measure every history under every spec; what `folder` holds already is not counted again.

    Raises:
        InputError: an unknown model.
        UnsupportedError: the model's package is not installed.
    """
    sizer = _sizer(settings)
    keys = [settings.key(one, sizer.tokenizer.fingerprint) for one in histories]
    known = {key: found for key in keys if (found := _read(folder, key))}
    missing = [
        place
        for place, key in enumerate(keys)
        if key not in known or not _complete(known[key], specs)
    ]
    results = Results([], reused=len(keys) - len(missing))
    jobs = [(histories[place], known.get(keys[place])) for place in missing]
    for done, (found, spent) in enumerate(_run(jobs, specs, settings, workers), 1):
        known[found.key] = found
        write_json(folder / RESULTS / f"{found.key}.json", found.as_fields())
        results.spent.add(spent)
        progress("documents", results.reused + done, len(keys))
    results.measured = [known[key] for key in keys]
    return results


def _complete(found: Measured, specs: Sequence[str]) -> bool:
    return bool(found.excluded) or all(spec in found.tried for spec in specs)


def _read(folder: Path, key: str) -> Measured | None:
    try:
        return measured(json.loads((folder / RESULTS / f"{key}.json").read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


Job = tuple[History, Measured | None]
Done = tuple[Measured, Spent]


def _run(
    jobs: Sequence[Job], specs: Sequence[str], settings: Settings, workers: int | None
) -> Iterator[Done]:
    """The results as they are ready, the largest documents begun first."""
    ordered = sorted(jobs, key=lambda job: -sum(len(one.text) for one in job[0].revisions))
    count = min(workers or usable_cores(), len(jobs))
    if count <= 1:
        trial = Trial(_sizer(settings), settings)
        for history, known in ordered:
            yield trial.measure(history, specs, known)
        return
    # Spawned, not forked: the tokenizer's own threads do not survive a fork.
    with ProcessPoolExecutor(
        count, get_context("spawn"), _begin, (settings, tuple(specs))
    ) as executor:
        futures: list[Future[Done]] = [executor.submit(_measure, job) for job in ordered]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _sizer(settings: Settings) -> StudySizer:
    return StudySizer(embedder_from_spec(settings.model), settings.cap_tokens)


_worker: list[tuple[Trial, tuple[str, ...]]] = []


def _begin(settings: Settings, specs: tuple[str, ...]) -> None:
    """Make a worker's own sizer, once; one core each, so that they do not fight for them."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _worker.append((Trial(_sizer(settings), settings), specs))


def _end_with(parent: int) -> None:
    """End this process once its parent is gone, however that was ended."""
    while os.getppid() == parent:
        sleep(1)
    os._exit(1)


def _measure(job: Job) -> Done:
    trial, specs = _worker[-1]
    return trial.measure(job[0], specs, job[1])
