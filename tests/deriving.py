"""A function that is run over texts, and what hits have of it."""

from variorum.records.hits import Hit
from workbench import Bench


class Counting:
    """A function that remembers what it was run over."""

    def __init__(self, mark: str = "len", fails: str = "\0") -> None:
        self.mark, self.fails = mark, fails
        self.texts: list[str] = []

    def __call__(self, text: str) -> str:
        self.texts.append(text)
        if self.fails in text:
            raise ValueError("not this one")
        return f"{self.mark}:{len(text)}:{text[:8]}"


def hits(
    bench: Bench, query: str = "one", principal: str | None = None, **named: object
) -> list[Hit]:
    with bench.open() as index:
        reader = index if principal is None else index.for_principal(principal)
        return list(reader.search("one", 50, **named).hits)  # type: ignore[arg-type]
