"""BM25 against a model in plain Python, over what the asker may see and nothing else."""

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from variorum.analysis import query_terms, terms
from variorum.records.hits import Hit
from workbench import Bench, Stored

K1, B = 0.9, 0.4
WORDS = [
    "pier",
    "piers",
    "wharf",
    "tide",
    "tide-table",
    "max_tokens",
    "10,000",
    "水位",
    "监测站",
    "水",
]
Place = tuple[str, int]


def occurrences(text: str, term: str, *, is_prefix: bool) -> int:
    held = terms(text)
    if is_prefix:
        return sum(count for one, count in held.items() if one.startswith(term))
    return held[term]


def model(stored: Stored, query: str, allowed: set[str] | None = None) -> list[tuple[float, Place]]:
    """Every chunk with a term of the query, best first: one chunk, one term at a time."""
    chunks = {
        (name, place): text.strip()
        for name, one in stored.documents.items()
        if allowed is None or name in allowed
        for place, text in enumerate(one.slices)
    }
    lengths = {where: sum(terms(text).values()) for where, text in chunks.items()}
    mean = sum(lengths.values()) / max(1, len(lengths))
    scores: Counter[Place] = Counter()
    for term, times in sorted(query_terms(query).items()):
        counts = {
            where: occurrences(text, term.text, is_prefix=term.is_prefix)
            for where, text in chunks.items()
        }
        holding = sum(count > 0 for count in counts.values())
        rarity = math.log(1 + (len(chunks) - holding + 0.5) / (holding + 0.5))
        for where, count in counts.items():
            if count:
                norm = K1 * (1 - B + B * lengths[where] / mean)
                scores[where] += times * rarity * count * (K1 + 1) / (count + norm)
    return sorted(
        ((round(s, 6), where) for where, s in scores.items()), key=lambda x: (-x[0], x[1])
    )


def as_ranked(stored: Stored, hits: tuple[Hit, ...]) -> list[tuple[float, Place]]:
    places = {
        (name, chunk.start): place
        for name, one in stored.documents.items()
        for place, chunk in enumerate(one.chunks)
    }
    return [(h.score, (str(h.document), places[str(h.document), h.start])) for h in hits]


def same(found: list[tuple[float, Place]], wanted: list[tuple[float, Place]]) -> bool:
    """Alike in order and, but for the last digit of a sum in another order, in scores."""
    return len(found) == len(wanted) and all(
        one[1] == other[1] and abs(one[0] - other[0]) <= 1e-6
        for one, other in zip(found, wanted, strict=True)
    )


paragraphs = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join)
documents = st.lists(paragraphs, max_size=4).map("\n\n".join)
corpora = st.dictionaries(st.sampled_from([f"{n}.md" for n in range(6)]), documents, max_size=6)
queries = st.lists(
    st.sampled_from([*WORDS, "table", "tokens", "10000", "位", "nothing"]), min_size=1
)


@settings(max_examples=7)
@given(
    states=st.lists(corpora, min_size=1, max_size=3),
    asked=st.lists(queries, min_size=3, max_size=6),
)
def test_lexical_hits_are_those_of_the_model_after_any_edits_in_any_generation(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str]], asked: list[list[str]]
) -> None:
    bench = Bench(tmp_path_factory.mktemp("bm25"))
    bench.write({"always.md": "the pier at 水位 监测站"})
    kept = {}
    for state in states:
        for path in bench.root.glob("?.md"):
            path.unlink()
        bench.write(state)
        report, _ = bench.sync(allow_empty=True, allow_shrink=True)
        kept[report.generation or max(kept)] = bench.stored()
    with bench.open() as index:
        for number, stored in kept.items():
            for words in asked:
                query = " ".join(words)
                answer = index.search(query, 1000, mode="lexical", as_of=number)
                assert same(as_ranked(stored, answer.hits), model(stored, query))
                within = index.search(query, 1000, mode="lexical", as_of=number, path="[0-2].md")
                allowed = {f"docs:{n}.md" for n in range(3)}
                assert same(as_ranked(stored, within.hits), model(stored, query, allowed))
        assert index.verify() == []


def test_scores_tell_nothing_of_what_is_not_searched(tmp_path: Path) -> None:
    few = Bench(tmp_path / "few")
    few.write({"a/1.md": "the pier is open", "a/2.md": "the wharf and the tide table"})
    few.sync()
    many = Bench(tmp_path / "many")
    many.write({"a/1.md": "the pier is open", "a/2.md": "the wharf and the tide table"})
    many.write({f"b/{n}.md": "pier " * n + "wharf" for n in range(1, 30)})
    many.sync()
    for query in ("pier", "the wharf", "tide open"):
        answers = []
        for bench in (few, many):
            with bench.open() as index:
                answer = index.search(query, path="a/*", mode="lexical", explain=True)
            answers.append([(hit.score, hit.text, hit.terms) for hit in answer.hits])
        assert answers[0] == answers[1] != []
