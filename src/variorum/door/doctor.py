"""What is missing or wrong on this machine."""

import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from variorum.door.config import CollectionConfig, Config
from variorum.records.errors import VariorumError
from variorum.records.protocols import Embedder
from variorum.store.ann import LEAST_ROWS
from variorum.store.ann_file import is_installed
from variorum.store.file import is_writable, refuse_network_file_system
from variorum.store.store import Store
from variorum.sync.terming import catch_up

LOW_SPACE_BYTES = 500_000_000
OLDEST_SQLITE = (3, 35, 0)

State = Literal["ok", "warning", "wrong"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at, its state, what was found, and what to do where it is not ok."""

    name: str
    state: State
    found: str
    remedy: str = ""

    def as_fields(self) -> dict[str, object]:
        """The check as JSON fields."""
        return {
            "name": self.name,
            "state": self.state,
            "found": self.found,
            "remedy": self.remedy,
        }


Loads = Sequence[tuple[CollectionConfig, Callable[[], Embedder]]]
"""Collections, each with what loads its model."""


def examine(config: Config, loads: Loads) -> list[Check]:
    """Check the machine, the configuration, the store and the models, each of which is run once."""
    collections = [collection for collection, _ in loads]
    sources = dict.fromkeys(name for one in collections for name in one.sources)
    return [
        _python(),
        _sqlite(),
        Check("configuration", "ok", str(config.path or "none: defaults apply")),
        _ann(config),
        *_chunkers(collections),
        *(_source(config, name) for name in sources),
        _store(config.store),
        _space("free space for the store", _existing(config.store)),
        _space("free space for temporary files", Path(tempfile.gettempdir())),
        *_models(loads),
    ]


def _ann(config: Config) -> Check:
    name = "approximate index"
    if not config.ann:
        return Check(name, "ok", "turned off: every vector is looked at")
    if not is_installed():
        found = "not installed: every vector is looked at"
        return Check(name, "ok", f"{found}; `pip install 'variorum[ann]'` for large collections")
    return Check(name, "ok", f"made by a sync from {LEAST_ROWS:,} chunks on")


def _chunkers(collections: Sequence[CollectionConfig]) -> Iterator[Check]:
    alike = _alike((one.chunker, one.planner) for one in collections)
    for names, first in _named(collections, alike):
        yield _guarded(f"chunker{names}", partial(_chunker, collections[first]))


def _chunker(collection: CollectionConfig) -> str:
    return collection.sound_chunker().spec


def _models(loads: Loads) -> Iterator[Check]:
    alike = _alike(collection.model for collection, _ in loads)
    for names, first in _named([collection for collection, _ in loads], alike):
        yield _guarded(f"model{names}", partial(_model, loads[first][1]))


def _alike(settings: Iterable[Hashable]) -> list[list[int]]:
    """The places that have the same setting, together."""
    groups: dict[Hashable, list[int]] = {}
    for place, setting in enumerate(settings):
        groups.setdefault(setting, []).append(place)
    return list(groups.values())


def _named(
    collections: Sequence[CollectionConfig], alike: list[list[int]]
) -> Iterator[tuple[str, int]]:
    """For each group its collections in words, none where there is one group, and its first."""
    for group in alike:
        names = ", ".join(collections[place].name for place in group)
        yield (f" of {names}" if len(alike) > 1 else "", group[0])


def _python() -> Check:
    found = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    known = sys.platform == "linux"
    remedy = "" if known else "tested on Linux alone; see the README's statement of platforms"
    return Check("platform", "ok" if known else "warning", found, remedy)


def _sqlite() -> Check:
    new_enough = sqlite3.sqlite_version_info >= OLDEST_SQLITE
    remedy = "" if new_enough else "use a Python built with SQLite 3.35 or newer"
    state: State = "ok" if new_enough else "wrong"
    return Check("SQLite", state, sqlite3.sqlite_version, remedy)


def _guarded(name: str, check: Callable[[], str]) -> Check:
    try:
        return Check(name, "ok", check())
    except VariorumError as error:
        return Check(name, "wrong", error.message, error.remedy)


def _source(config: Config, name: str) -> Check:
    source = config.sources[name]
    if source.kind != "jsonl" and not source.root.is_dir():
        return Check(f"source {name}", "wrong", f"no folder at {source.root}", "check its root")
    if source.kind == "jsonl" and not source.root.is_file():
        return Check(f"source {name}", "wrong", f"no file at {source.root}", "check its root")
    return Check(f"source {name}", "ok", str(source.root))


def _store(folder: Path) -> Check:
    """The store's file read through, and whether this user may write it."""
    store = Store(folder, catch_up)
    try:
        refuse_network_file_system(folder)
        if not store.exists:
            return _place_for_a_store(folder)
        damage = store.damage()
        if damage is not None:
            raise damage
        found = f"{folder}, {store.size_bytes():,} bytes"
    except VariorumError as error:
        found = f"{error.message}: {error.found}" if error.found else error.message
        return Check("store", "wrong", found, error.remedy)
    finally:
        store.close()
    if is_writable(store.path):
        return Check("store", "ok", found)
    remedy = "it can be searched; to sync, check the permissions of the folder and the file"
    return Check("store", "warning", f"{found}, may only be read", remedy)


def _place_for_a_store(folder: Path) -> Check:
    existing = _existing(folder)
    if os.access(existing, os.W_OK):
        return Check("store", "ok", f"none yet at {folder}")
    remedy = "check its permissions, or name another folder with --store"
    return Check("store", "wrong", f"{existing} cannot be written", remedy)


def _existing(folder: Path) -> Path:
    current = folder.absolute()
    while not current.exists() and current != current.parent:
        current = current.parent
    return current


def _space(name: str, folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    low = free < LOW_SPACE_BYTES
    remedy = "free some space: a full disk stops a sync, though it loses nothing" if low else ""
    return Check(name, "warning" if low else "ok", f"{free / 1e9:.1f} GB at {folder}", remedy)


def _model(load: Callable[[], Embedder]) -> str:
    embedder = load()
    identity = embedder.identity
    vectors = embedder.embed(["ready?"], "query")
    return f"{identity.name}, {vectors.shape[1]} dimensions, at most {embedder.max_tokens} tokens"
