"""Tune and held-out: each data set is split once, by clusters of questions, and by a seed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from variorum.lab.questions.records import SPLITS, Split

SEED = 20250214


@dataclass(frozen=True, slots=True)
class CommittedSplit:
    """Which questions of a published set are used, and on which side each stands."""

    split: Mapping[str, Split]
    excluded: Mapping[str, str]


def committed_split(name: str) -> CommittedSplit | None:
    """The split of a published set as it is kept in this package; None for any other set."""
    file = files("variorum.lab.questions") / f"{name}.json"
    if not file.is_file():
        return None
    content = json.loads(file.read_text(encoding="utf-8"))
    sides = {query_id: side for side in SPLITS for query_id in content[side]}
    return CommittedSplit(sides, content["excluded"])


def drawn_split(
    name: str, clusters: Mapping[str, str], strata: Mapping[str, str]
) -> CommittedSplit:
    """Draw a split: `clusters` is the cluster of each question, `strata` what a cluster belongs to.

    The clusters of a stratum, in an order that only the seed and their names decide, go to
    `held-out` until it has half of the stratum's questions, the others to `tune`.
    """
    members: dict[str, list[str]] = {}
    for query_id, cluster in clusters.items():
        members.setdefault(cluster, []).append(query_id)
    split: dict[str, Split] = {}
    for stratum in sorted(set(strata.values())):
        ordered = sorted(
            (cluster for cluster in members if strata[cluster] == stratum),
            key=lambda cluster: _order(name, cluster),
        )
        split.update(_filled(ordered, members))
    return CommittedSplit(split, {})


def _filled(ordered: Sequence[str], members: Mapping[str, Sequence[str]]) -> dict[str, Split]:
    total = sum(len(members[cluster]) for cluster in ordered)
    found: dict[str, Split] = {}
    for cluster in ordered:
        side: Split = "held-out" if 2 * len(found) < total else "tune"
        found.update(dict.fromkeys(members[cluster], side))
    return found


def hashed_split(name: str, cluster: str) -> Split:
    """The side of a cluster of a user's own set: by the seed and its name alone."""
    return "tune" if _order(name, cluster)[0] % 2 == 0 else "held-out"


def _order(name: str, cluster: str) -> bytes:
    return hashlib.sha256(f"{SEED} {name} {cluster}".encode()).digest()
