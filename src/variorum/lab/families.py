"""Chunkers with one size left open: what a study varies, and what calibration searches over."""

from collections.abc import Callable, Iterable
from typing import NoReturn

from variorum.lab.peers import PEERS
from variorum.records.errors import InputError

SizeSpec = Callable[[int], str]


def _bounded(name: str, tenths: int) -> SizeSpec:
    """A maximum, and a minimum of so many tenths of it."""
    return lambda size: f"{name}(max_tokens={size}, min_tokens={max(1, tenths * size // 10)})"


def _halved(name: str) -> SizeSpec:
    """A maximum and a minimum of half of it, as the published content-defined settings have."""
    return lambda size: f"{name}(min_tokens={max(1, size // 2)}, max_tokens={size})"


def _peer(name: str) -> SizeSpec:
    (setting,) = PEERS[name].defaults
    return lambda size: f"{name}({setting}={size})"


FAMILIES: dict[str, SizeSpec] = {
    "fixed": lambda size: f"fixed(max_tokens={size})",
    "recursive": lambda size: f"recursive(max_tokens={size}, terminators=spaced)",
    "content_defined": _halved("content_defined"),
    "structural": _bounded("structural", 3),
    "anchored": _bounded("anchored", 2),
    "anchored+planner": lambda size: f"{_bounded('anchored', 2)(size)}+planner",
    "semantic": _bounded("semantic", 3),
    "steadlith": _halved("steadlith"),
    **{name: _peer(name) for name, peer in PEERS.items() if len(peer.defaults) == 1},
}
"""Each family by name: from a size to a spec. A size counts tokens, but where a peer's own setting
counts characters or bytes."""

PAPER = ("fixed", "recursive", "content_defined")
"""The families that the paper compares."""


def families(names: Iterable[str]) -> dict[str, SizeSpec]:
    """The named families.

    Raises:
        InputError: kind `unknown-family`.
    """
    return {name: FAMILIES[name] if name in FAMILIES else _refuse(name) for name in names}


def _refuse(name: str) -> NoReturn:
    known = ", ".join(FAMILIES)
    raise InputError(
        f"{name!r} names no family of chunkers",
        kind="unknown-family",
        subject=name,
        expected=f"one of {known}",
        found=name,
        remedy="write for instance recursive or anchored+planner",
    )
