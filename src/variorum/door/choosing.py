"""Which sources a run reads: configured, known from earlier runs, or named on the spot."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from variorum.door.config import CollectionConfig, Config, SourceConfig
from variorum.door.naming import source_of_path, source_of_text
from variorum.records.arguments import place
from variorum.records.errors import ConflictError, InputError
from variorum.records.protocols import Source
from variorum.sources import FolderSource, GitSource, JsonLinesSource
from variorum.sources.git_place import PREFIX
from variorum.store.store import Store


@dataclass(frozen=True)
class Sources:
    """The sources that a collection can be synced from."""

    config: Config
    collection: CollectionConfig
    store: Store

    def chosen(self, source: str | Path | None, dropped: tuple[str, ...]) -> list[SourceConfig]:
        """Those of a run: the configured ones, the known ones, or the one that is named.

        Raises:
            InputError: it is no source, or there is none.
            ConflictError: its name stands for another folder.
        """
        if source is None:
            if self.collection.sources:
                return [self.config.sources[name] for name in self.collection.sources]
            return self._known(dropped)
        given = place("source", source)
        if given in self.collection.sources:
            return [self.config.sources[given]]
        if given.startswith(PREFIX):
            found = source_of_text(given, Path(), self.config.store)
            self._require_free_name(found)
            return [found]
        return [self._at(Path(given))]

    def _at(self, path: Path) -> SourceConfig:
        """The source whose root is `path`: a configured one, or one named after the folder."""
        for name in self.collection.sources:
            if self.config.sources[name].root.resolve() == path.resolve():
                return self.config.sources[name]
        if self.config.path is not None and not path.exists():
            known = ", ".join(self.collection.sources) or "(none is configured)"
            raise InputError(
                f"{str(path)!r} is neither a configured source nor a folder",
                kind="unknown-source",
                subject=str(path),
                expected=f"one of: {known}, or a path",
                found=str(path),
                remedy=f"name a source of {self.config.path}, or a folder that is there",
            )
        found = source_of_path(path, self.config.store)
        self._require_free_name(found)
        return found

    def _require_free_name(self, found: SourceConfig) -> None:
        collection_id, _ = self.store.head(self.collection.tenant, self.collection.name)
        known = self.store.sources(collection_id)
        root, _ = known.get(found.name, (found.recorded_root, False))
        configured = found.name in self.config.sources
        if configured or root != found.recorded_root:
            raise ConflictError(
                f"source {found.name!r} already stands for another folder",
                kind="source-name-taken",
                subject=found.name,
                expected=root if not configured else str(self.config.sources[found.name].root),
                found=found.recorded_root,
                remedy="configure it under a name of its own in variorum.toml: [sources.NAME]",
            )

    def _known(self, dropped: tuple[str, ...]) -> list[SourceConfig]:
        """The sources of earlier runs without a configuration, but for those to be dropped."""
        collection_id, _ = self.store.head(self.collection.tenant, self.collection.name)
        home = self.config.store.absolute().parent
        known = self.store.sources(collection_id)
        if known:
            return [
                source_of_text(root, home, self.config.store)
                for name, (root, _) in known.items()
                if name not in dropped
            ]
        raise InputError(
            "no source to sync",
            kind="no-source",
            expected="a folder, or a variorum.toml with a [sources.NAME] table",
            found="neither",
            remedy="run `variorum sync FOLDER`, or `variorum init`",
        )


def build(config: SourceConfig) -> Source:
    """The source that is configured so."""
    if config.kind == "jsonl":
        return JsonLinesSource(config.name, config.root, config.max_bytes)
    options: dict[str, object] = {"exclude": config.exclude, "max_bytes": config.max_bytes}
    if config.include:
        options["include"] = config.include
    if config.kind == "git":
        options |= {"revision": config.revision, "path": os.fsencode(config.path)}
        return cast(Callable[..., Source], GitSource)(config.name, config.root, **options)
    options["use_ignore_files"] = config.ignore_files
    return cast(Callable[..., Source], FolderSource)(config.name, config.root, **options)
