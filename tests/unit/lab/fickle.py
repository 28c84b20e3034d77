"""Splitters of no library: one that never cuts a text alike, so that the controls have to fail."""

from variorum.lab.peers import Peer, Split
from variorum.records.text import Span


def a_peer(split: Split) -> Peer:
    return Peer("none", {"max_tokens": 1}, lambda *_: split)


def never_alike() -> Split:
    """A split into two whose middle is another one each time."""
    calls: list[int] = []

    def split(text: str) -> list[Span]:
        calls.append(len(text))
        middle = len(text) // (1 + len(calls))
        return [Span(0, middle), Span(middle, len(text))]

    return split
