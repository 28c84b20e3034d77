"""Following folders: each burst of edits becomes one publish, and its lag is measured."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from variorum.door.config import SourceConfig
from variorum.records.changes import Changes, Mention
from variorum.records.errors import (
    BugError,
    InputError,
    NotFoundError,
    UnsupportedError,
    VariorumError,
)
from variorum.records.reports import Report
from variorum.sources.following import Burst
from variorum.sync.target import Target

RETRY_S = 5.0
"""How long after a failure the same edits are tried again where nothing else is touched."""

_FOR_THE_USER = (InputError, NotFoundError, UnsupportedError)
"""What no waiting mends: raised where even the first comparison fails by it."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What came of a burst of edits: a publish, or the error that kept it from one.

    `lags_s` are the seconds from each edit until it could be searched for, the first edit first.
    """

    report: Report | None
    lags_s: tuple[float, ...] = ()
    error: VariorumError | None = None

    def as_fields(self) -> dict[str, object]:
        """The publish, or the error, as JSON fields."""
        if self.error is not None or self.report is None:
            return {"ok": False, **(self.error.as_fields() if self.error else {})}
        fields = self.report.as_fields()
        return {
            "ok": True,
            "generation": self.report.generation,
            "documents": fields["documents"],
            "inputs": fields["inputs"],
            "tokens": fields["tokens"],
            "compared": fields["compared"],
            "elapsed_s": self.report.elapsed_s,
            **lag_fields(self.lags_s),
        }


def lag_fields(lags_s: Iterable[float]) -> dict[str, object]:
    """Edits and their lag as JSON fields."""
    lags = list(lags_s)
    return {
        "edits": len(lags),
        "lag_s": {
            "median": round(median(lags), 3) if lags else None,
            "longest": round(max(lags), 3) if lags else None,
        },
    }


def watched(
    bursts: Iterable[Burst], sync: Callable[[Changes | None], Report], clock: Callable[[], float]
) -> Iterator[Watched]:
    """What comes of each burst; nothing is said of one that changes nothing.

    First everything is compared. Edits whose sync failed are tried again with the next burst, or
    after a while; an error that stays the same is told once.
    """
    edits: dict[bytes, float] = {}
    is_all, retry_at, told = True, 0.0, ""
    for burst in bursts:
        for path, at in burst.touched.items():
            edits.setdefault(path, at)
        if not (burst.touched or (retry_at and clock() >= retry_at) or (is_all and not told)):
            continue
        try:
            report = sync(None if is_all else _changes(edits))
        except VariorumError as error:
            if isinstance(error, BugError) or (is_all and isinstance(error, _FOR_THE_USER)):
                raise
            retry_at = clock() + RETRY_S
            if told != error.kind:
                yield Watched(None, error=error)
            told = error.kind
            continue
        now = clock()
        lags = tuple(now - at for at in sorted(edits.values()))
        edits, is_all, retry_at, told = {}, False, 0.0, ""
        if report.generation is not None:
            yield Watched(report, lags)


def limited(target: Target, names: Collection[str], changes: Changes) -> Target:
    """The target with the named sources alone, and what changed in them."""
    sources = [one for one in target.sources if one.name in names]
    roots = {name: root for name, root in target.roots.items() if name in names}
    return replace(target, sources=sources, roots=roots, changes=changes)


def require_folders(folders: Sequence[SourceConfig]) -> None:
    """Refuse to follow what no folder is.

    Raises:
        InputError: there is none.
        NotFoundError: one of them is not there.
    """
    if not folders:
        raise InputError(
            "there is no folder to follow",
            kind="nothing-to-follow",
            expected="a source that is a folder",
            found="none",
            remedy="name a folder, or configure one; sync other sources by `variorum sync`",
        )
    for one in folders:
        if not one.root.is_dir():
            raise NotFoundError(
                f"the folder {str(one.root)!r} does not exist",
                kind="no-such-folder",
                subject=str(one.root),
                expected="a folder",
                found="nothing at that path",
                remedy="check the path, and that the disk it is on is mounted",
            )


def _changes(edits: Iterable[bytes]) -> Changes:
    return Changes(tuple(Mention(path) for path in edits))
