"""Sources that a collection has documents of: which are configured no more, which share a root."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping

from variorum.records.errors import ConflictError, NotFoundError
from variorum.records.reports import SharedRoot, SourceNote
from variorum.sync.target import Target

Roots = Mapping[str, tuple[str, bool]]
"""Root, and whether a restore holds it, of every source that was listed and not dropped."""


def orphaned(
    target: Target, documents: Counter[str], roots: Roots
) -> tuple[tuple[SourceNote, ...], tuple[SourceNote, ...]]:
    """(dropped, orphaned) sources of a run; `documents` counts the parent's by source."""
    mine = {*(roots if target.configured is None else target.configured), *target.heard}
    dropped = _notes(target.dropped, documents, roots)
    names = (name for name in documents if name not in mine and name not in target.dropped)
    return dropped, _notes(names, documents, roots)


def _notes(names: Iterable[str], documents: Counter[str], roots: Roots) -> tuple[SourceNote, ...]:
    return tuple(
        SourceNote(name, roots.get(name, ("", False))[0], documents[name]) for name in sorted(names)
    )


def shared_roots(roots: Mapping[str, str]) -> tuple[SharedRoot, ...]:
    """The roots that several sources have, each with their names."""
    names: dict[str, list[str]] = {}
    for name, root in sorted(roots.items()):
        names.setdefault(os.path.normpath(root), []).append(name)
    return tuple(SharedRoot(root, tuple(of)) for root, of in names.items() if len(of) > 1)


def require_droppable(target: Target, documents: Counter[str], roots: Roots) -> None:
    """Refuse to drop a source that the next sync would bring back, or that is not there.

    Raises:
        ConflictError: it is configured, or listed in this run.
        NotFoundError: the collection has no source by the name.
    """
    for name in target.dropped:
        if name in (target.configured or frozenset()) | target.heard:
            raise ConflictError(
                f"source {name!r} is to be synced and dropped at once",
                kind="source-configured",
                subject=name,
                expected="a source that is not in the configuration any more",
                found="one that is, or that is named in this run",
                remedy=f"take [sources.{name}] out of variorum.toml first",
            )
        if name not in documents and name not in roots:
            raise NotFoundError(
                f"the collection has no source {name!r}",
                kind="no-such-source",
                subject=name,
                expected="one of: " + ", ".join(sorted({*documents, *roots})),
                found=name,
                remedy="`variorum status` names the sources",
            )
