"""Versions of the rules: raising one lays every document out anew, and may embed much of it again.

The golden cuts say when: a cut that moved without a new version would leave old layouts in place
that a fresh index would not have.
"""

from typing import Final

CHUNKERS: Final[dict[str, int]] = {
    "anchored": 2,
    "fixed": 2,
    "recursive": 2,
    "structural": 2,
    "semantic": 2,
    "content_defined": 2,
}
"""Chunkers whose cuts have changed since their first version."""
PLANNER: Final = 2
RENDER: Final = 1


def algorithm_of(spec: str, *, planner: bool) -> str:
    """The rules behind a canonical spec, with their versions: part of every recipe."""
    name = spec.partition("(")[0]
    rules = [f"{name}/{CHUNKERS.get(name, 1)}", f"render/{RENDER}"]
    return " ".join([*rules, f"planner/{PLANNER}"] if planner else rules)
