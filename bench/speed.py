"""CPU of a layout beside that of tokenizing alone, of an update beside KARA's, and peak memory."""

import argparse
import gc
import gzip
import json
import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench.chains import CHAINS
from bench.locality import chosen
from bench.revisions import MODEL, PAIRS
from bench.study import Result, Study, Table, Target
from bench.subjects import SPLITTERS, Ours, Peer, Subject, installed_versions, split, word_vectors
from variorum.chunking import lay_out
from variorum.embedding import embedder_from_spec
from variorum.formats import parse
from variorum.lab.counting import OnceTokenizer
from variorum.records.layout import PreviousLayout, Recipe
from variorum.records.protocols import Embedder
from variorum.records.text import Text
from variorum.sources.naming import content_type_of

CHARACTERS = 300_000
REPEATS = 5
PAGE_BYTES = 57_000
MEGABYTES = (1.25, 2.5, 5.0)
MOST_RATIO = 2.0
LEAST_GAIN = 500
SIZE = 100
KARA_CHARACTERS = 1_600
DEFAULT = "anchored"
SEMANTIC = "semantic (hashed words)"
SENTENCE = " A sentence was put in here, which no version had before."
Done = TypeVar("Done")


def timed(work: Callable[[], Done]) -> tuple[float, Done]:
    """CPU seconds of all threads, and what came out."""
    gc.collect()
    started = time.process_time()
    done = work()
    return time.process_time() - started, done


def texts(language: str, file: Path = PAIRS) -> list[str]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [one["new_text"] for one in records if one["lang"] == language]


def sample(language: str, characters: int) -> str:
    return "\n\n".join(texts(language))[:characters]


def recipe(spec: str, *, planner: bool = True) -> Recipe:
    return Recipe(spec, planner, 0, "bench", "bench", "bench")


def ratios(model: Embedder, subjects: dict[str, Subject]) -> list[dict[str, object]]:
    """Each chunker's CPU as a multiple of tokenizing, the two alternating; medians."""
    found = []
    for language in ("en", "zh"):
        text = sample(language, CHARACTERS)
        structure = parse(Text(text), "text/markdown")
        megabytes = len(text.encode()) / 1e6
        for name, subject in subjects.items():
            whole_of = work(subject, text, structure, model)
            runs = [
                (timed(partial(model.tokenizer.starts, text))[0], timed(whole_of)[0])
                for _ in range(REPEATS if isinstance(subject, Ours) else 2)
            ]
            alone, whole = (median(column) for column in zip(*runs, strict=True))
            found.append(
                {
                    "language": language,
                    "chunker": name,
                    "tokenizing_s": alone,
                    "whole_s": whole,
                    "ratio": median(one / base for base, one in runs),
                    "megabytes_a_second": megabytes / whole,
                }
            )
    return found


def work(subject: Subject, text: str, structure: object, model: Embedder) -> Callable[[], object]:
    """The whole of a chunker on a text that is parsed, exact counts of its inputs included."""
    if isinstance(subject, Peer):
        # Every count is asked for once, as the peers' own caches do.
        return lambda: split(subject.name, subject.size, OnceTokenizer(model.tokenizer))(text)
    made = recipe(subject.spec, planner=False)
    return lambda: lay_out(text, structure, made, model, None, word_vectors)


def update(model: Embedder, spec: str, *, with_kara: bool) -> dict[str, object]:
    """One sentence put into the middle of a page: our planned layout, and KARA's update."""
    page = min(texts("en"), key=lambda text: abs(len(text.encode()) - PAGE_BYTES))
    middle = page.index(". ", len(page) // 2) + 1
    edited = page[:middle] + SENTENCE + page[middle:]
    made = recipe(spec)
    kind = content_type_of(b"page.md")
    first = lay_out(page, parse(Text(page), kind), made, model)
    structure = parse(Text(edited), kind)
    before = PreviousLayout(page, first)
    planned = [timed(lambda: lay_out(edited, structure, made, model, before)) for _ in range(9)]
    parsing = median(timed(lambda: parse(Text(edited), kind))[0] for _ in range(5))
    ours = median(seconds for seconds, _ in planned)
    new = set(planned[0][1].inputs) - set(first.inputs)
    found: dict[str, object] = {
        "page_bytes": len(page.encode()),
        "ours_s": ours,
        "ours_with_parsing_s": ours + parsing,
        "ours_new_inputs": len(new),
        "ours_chunks": len(first.inputs),
    }
    if with_kara:
        found |= kara_update(page, edited)
        found["gain"] = found["kara_s"] / ours
        found["gain_with_parsing"] = found["kara_s"] / (ours + parsing)
    return found


def kara_update(page: str, edited: str) -> dict[str, object]:
    """CPU, new chunks and peak memory of KARA's update with its character chunker."""
    from kara import CharacterChunker, KARAUpdater

    updater = KARAUpdater(CharacterChunker(chunk_size=KARA_CHARACTERS))
    first = updater.create_collection([page]).new_chunked_doc
    seconds, done = timed(lambda: updater.update_collection(first, [edited]))
    return {
        "kara_s": seconds,
        "kara_new_chunks": done.num_added,
        "kara_chunks": len(first.chunks),
        "kara_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def peaks(spec: str) -> list[dict[str, float]]:
    """Peak memory above what the loaded vocabulary takes, each size in a process of its own."""
    found = []
    for megabytes in MEGABYTES:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found.append(pool.apply(_peak, (spec, megabytes)))
    return found


def _peak(spec: str, megabytes: float) -> dict[str, float]:
    model = embedder_from_spec(MODEL)
    model.tokenizer.count("loaded")
    text = long_text(int(megabytes * 1e6))
    started = time.process_time()
    structure = parse(Text(text), "text/plain")
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    layout = lay_out(text, structure, recipe(spec), model)
    return {
        "megabytes": len(text.encode()) / 1e6,
        "peak_mb": (_resident("VmHWM") - before) / 1e3,
        "base_mb": before / 1e3,
        "cpu_s": time.process_time() - started,
        "chunks": len(layout.chunks),
    }


def long_text(size: int) -> str:
    """Distinct real documents of both languages, one after the other, up to `size` bytes."""
    parts: list[str] = []
    for name, file in (("pairs", PAIRS), ("chains", CHAINS)):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                parts += (
                    [record["new_text"]]
                    if name == "pairs"
                    else [step["text"] for step in record["revisions"]]
                )
                if sum(len(part.encode()) for part in parts) >= size:
                    break
    return "\n\n".join(parts).encode()[:size].decode(errors="ignore")


def _resident(key: str) -> int:
    """Kilobytes of this process's memory by the name that the kernel gives them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))


def run(arguments: argparse.Namespace) -> Result:
    model = embedder_from_spec(MODEL)
    model.tokenizer.count("loaded")
    subjects = {name: one for name, one in chosen(SIZE).items() if not name.endswith("+ planner")}
    result = Result(inputs=[PAIRS, CHAINS])
    memory = peaks(DEFAULT)
    speeds = ratios(model, subjects)
    changed = update(model, DEFAULT, with_kara=not arguments.without_kara)
    result.figures = {
        "packages": installed_versions(),
        "ratios": speeds,
        "update": changed,
        "memory": memory,
    }
    result.tables = [_speed_table(speeds), _update_table(changed), _memory_table(memory)]
    result.targets = _targets(speeds, changed, memory)
    return result


def _speed_table(rows: Sequence[dict[str, object]]) -> Table:
    names = dict.fromkeys(row["chunker"] for row in rows)
    by = {(row["chunker"], row["language"]): row for row in rows}
    cells = []
    for name in names:
        both = [by[name, language] for language in ("en", "zh")]
        cells.append(
            [
                name,
                " / ".join(f"{one['ratio']:.2f}" for one in both),
                " / ".join(f"{one['megabytes_a_second']:.2f}" for one in both),
            ]
        )
    columns = ("chunker, mean size about 100", "times tokenizing, en / zh", "MB a CPU second")
    return Table("The whole of each chunker against tokenizing once", columns, cells)


def _update_table(one: dict[str, object]) -> Table:
    rows = [["planned layout", f"{one['ours_s']:.3f}", one["ours_new_inputs"]]]
    if "kara_s" in one:
        rows.append(["KARA 0.3.2", f"{one['kara_s']:.1f}", one["kara_new_chunks"]])
    title = f"One sentence put into a page of {one['page_bytes'] / 1e3:.0f} KB"
    return Table(title, ("update", "CPU s", "new inputs"), rows)


def _memory_table(rows: Sequence[dict[str, float]]) -> Table:
    cells = [
        [f"{one['megabytes']:.2f}", f"{one['peak_mb']:.0f}", f"{one['cpu_s']:.1f}", one["chunks"]]
        for one in rows
    ]
    return Table("Laying out one long text", ("MB", "peak MB above", "CPU s", "chunks"), cells)


def _targets(
    speeds: Sequence[dict[str, object]],
    changed: dict[str, object],
    memory: Sequence[dict[str, float]],
) -> list[Target]:
    default = [one["ratio"] for one in speeds if one["chunker"] == DEFAULT]
    # A chunker that asks for vectors is held to no ratio: the model takes most of its time.
    ours = [one for one in speeds if one["chunker"] not in {*SPLITTERS, SEMANTIC}]
    slowest = max(ours, key=lambda one: one["ratio"])
    gain = changed.get("gain")
    slope = [one["peak_mb"] / one["megabytes"] for one in memory]
    return [
        Target(
            "anchored against tokenizing, en / zh",
            "at most 2",
            " / ".join(f"{ratio:.2f}" for ratio in default),
            max(default) <= MOST_RATIO,
        ),
        Target(
            "the slowest of ours, semantic apart",
            "at most 2",
            f"{slowest['ratio']:.2f}, {slowest['chunker']} ({slowest['language']})",
            slowest["ratio"] <= MOST_RATIO,
        ),
        Target(
            "CPU of KARA's update over ours",
            f"at least {LEAST_GAIN}",
            f"{gain:.0f}" if gain else "",
            gain >= LEAST_GAIN if gain else None,
        ),
        Target(
            "peak MB a MB of text, by size",
            "does not grow",
            ", ".join(f"{one:.0f}" for one in slope),
            slope[-1] <= 1.1 * slope[0],
        ),
    ]


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--without-kara", action="store_true", help="it takes about a minute")


STUDY = Study("speed", "CPU against tokenizing and against KARA, and peak memory", run, _arguments)
