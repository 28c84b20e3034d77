"""Articles within the corpora of `chunking_evaluation`, and the questions that share one.

A corpus is many articles in one file. Questions on one article depend on each other, those on
different articles hardly do, so articles are what is resampled and what a split keeps together.
Where they begin is told by what stands at their head:

| corpus | an article begins |
|---|---|
| `chatlogs` | at a line that opens a list of turns |
| `finance` | after a blank line |
| `pubmed` | at a line with a PMID |
| `state_of_the_union` | nowhere: it is one speech |
| `wikitexts` | at a title between single equals signs, without a semicolon |
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

_HEADS = {
    "chatlogs": re.compile(r"^\[\{", re.MULTILINE),
    "finance": re.compile(r"(?<=\n\n)(?=[^\n])"),
    "pubmed": re.compile(r"^PMID: ", re.MULTILINE),
    "wikitexts": re.compile(r"^ = [^=;\n]+ = $", re.MULTILINE),
}


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the articles of a corpus begin."""

    starts: tuple[int, ...]

    def of(self, position: int) -> int:
        """Where the article that holds `position` begins."""
        return self.starts[bisect_right(self.starts, position) - 1]


def parts_of(corpus: str, text: str) -> Parts:
    """The articles of a corpus. Linear in its text."""
    head = _HEADS.get(corpus)
    found = {match.start() for match in head.finditer(text)} if head else set()
    return Parts(tuple(sorted({0, *found})))


def linked(articles: Mapping[str, AbstractSet[tuple[str, int]]]) -> dict[str, str]:
    """The cluster of each question: those that share an article, also by way of others, share one.

    A cluster has the name of its first article.
    """
    owner: dict[tuple[str, int], tuple[str, int]] = {}

    def root(article: tuple[str, int]) -> tuple[str, int]:
        while owner.setdefault(article, article) != article:
            article = owner[article]
        return article

    for group in articles.values():
        first = min(root(article) for article in group)
        for article in group:
            owner[root(article)] = first
    return {
        query_id: "{}#{}".format(*min(root(article) for article in group))
        for query_id, group in articles.items()
    }
