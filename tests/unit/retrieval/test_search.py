"""Exact search: the same ranking as brute force, in a total order, over the allowed documents."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from variorum.embedding import HashingEmbedder
from variorum.records.errors import InputError, NotFoundError, UnsupportedError
from variorum.records.hits import Hit
from variorum.retrieval.dense import final_scores
from variorum.retrieval.filters import Filter
from variorum.store.store import counted_statements
from workbench import Bench, Recorder, document, json_lines, section, words

VOCABULARY = [f"w{n}" for n in range(12)]


def ranked(bench: Bench, query: str) -> list[tuple[float, str, int]]:
    """Every chunk by (score, document, place), best first, computed one by one."""
    model = bench.embedder
    (wanted,) = model.inner.embed([query], "query").astype(np.float64)
    found = []
    for name, stored in bench.stored().documents.items():
        for place, text in enumerate(stored.slices):
            (vector,) = model.inner.embed([text.strip()]).astype(np.float64)
            found.append((-round(sum((vector * wanted).tolist()), 6), name, place))
    return [(-score, name, place) for score, name, place in sorted(found)]


def as_ranked(bench: Bench, hits: tuple[Hit, ...]) -> list[tuple[float, str, int]]:
    places = {
        (name, chunk.start): place
        for name, one in bench.stored().documents.items()
        for place, chunk in enumerate(one.chunks)
    }
    return [(h.score, str(h.document), places[str(h.document), h.start]) for h in hits]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Many chunks of few words, so that equal scores abound."""
    bench = Bench(tmp_path_factory.mktemp("crowd"), embedder=Recorder(16))
    draw = np.random.default_rng(3)
    files = {
        f"{n:02}.md": "\n\n".join(
            " ".join(draw.choice(VOCABULARY, 30)) for _ in range(int(draw.integers(1, 5)))
        )
        for n in range(30)
    }
    files["copy-a.md"] = files["copy-b.md"] = files["00.md"]
    bench.write(files)
    bench.sync()
    return bench


@settings(max_examples=25)
@given(
    query=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join),
    k=st.sampled_from([1, 2, 3, 7, 50, 1000]),
)
def test_hits_are_those_of_brute_force_ties_included(crowd: Bench, query: str, k: int) -> None:
    with crowd.open() as index:
        hits = index.search(query, k, mode="dense").hits
    assert as_ranked(crowd, hits) == ranked(crowd, query)[:k]
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def test_copies_tie_and_stand_in_the_order_of_their_names(crowd: Bench) -> None:
    with crowd.open() as index:
        text = index.search("w1 w2", 1, path="00.md").hits[0].text
        hits = index.search(text, 3, mode="dense").hits
    assert len({hit.score for hit in hits}) == 1
    assert [str(hit.document) for hit in hits] == ["docs:00.md", "docs:copy-a.md", "docs:copy-b.md"]


def test_a_smaller_k_gives_the_head_of_a_larger_one(crowd: Bench) -> None:
    with crowd.open() as index:
        every = index.search("w1 w5 w7", 1000).hits
        for k in range(1, 12):
            assert index.search("w1 w5 w7", k).hits == every[:k]
    assert len(every) == sum(len(one.chunks) for one in crowd.stored().documents.values())


@pytest.mark.parametrize("k", [0, -1, 1001])
def test_a_number_of_hits_out_of_range_is_refused(crowd: Bench, k: int) -> None:
    with crowd.open() as index, pytest.raises(InputError) as refused:
        index.search("w1", k)
    assert (refused.value.kind, refused.value.subject) == ("bad-parameter", "k")


@pytest.mark.parametrize("query", ["", " \n\t", "\u3000"])
def test_a_blank_query_is_refused(crowd: Bench, query: str) -> None:
    with crowd.open() as index, pytest.raises(InputError) as refused:
        index.search(query)
    assert refused.value.kind == "blank-query"


def test_a_query_longer_than_the_model_takes_is_refused_not_cut(crowd: Bench) -> None:
    with crowd.open() as index, pytest.raises(InputError) as refused:
        index.search("w " * 600)
    assert refused.value.kind == "input-rejected"
    assert refused.value.subject == "the query"
    assert "input 0" not in refused.value.message


def test_an_index_without_text_answers_with_no_hits(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"empty.md": "", "blank.md": " \n"})
    bench.sync()
    assert bench.found("anything") == []


def test_a_generation_that_was_never_published_is_not_found(crowd: Bench) -> None:
    with crowd.open() as index:
        for number in (0, 2, -1):
            with pytest.raises(NotFoundError) as fault:
                index.search("w1", as_of=number)
            assert fault.value.kind == "no-such-generation"


def test_vectors_of_another_model_are_never_compared(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One")})
    bench.sync()
    with bench.open(embedder=HashingEmbedder(64, 400)) as index:
        with pytest.raises(UnsupportedError) as refused:
            index.search("one", mode="dense")
        assert refused.value.kind == "model-mismatch"
        index.sync()
        assert len(index.search("one").hits) == 1
        with pytest.raises(UnsupportedError):
            index.search("one", as_of=1, mode="hybrid")


def test_a_generation_is_searched_with_the_model_that_made_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path, '[model]\nspec = "hashing(dimensions=32)"\n')
    bench.write({"a.md": document("One")})
    with bench.open(embedder=None) as index:
        index.sync()
    bench.configure('[model]\nspec = "hashing(dimensions=64)"\n')
    with bench.open(embedder=None) as index:
        assert index.sync().inputs.embed == 1
        old, new = (index.search(words("one", 4), as_of=n, mode="dense").hits[0] for n in (1, 2))
    assert old.document == new.document
    assert old.score != new.score


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Documents of two sources, two types and several metadata."""
    home = tmp_path_factory.mktemp("library")
    notes = '[sources.notes]\nkind = "jsonl"\nroot = "notes.jsonl"\n'
    bench = Bench(home, collections=notes)
    front = "---\ntitle: A\nlang: en\ndraft: true\n---\n\n"
    bench.write(
        {
            "a.md": front + section("Alpha"),
            "guide/b.md": section("Beta"),
            "guide/deep/c.txt": words("gamma"),
            "guide/d.txt": words("delta"),
        }
    )
    metadata = [{"n": 1}, {"n": 1.5, "lang": "de"}, {"n": True, "draft": False}]
    lines = [
        {"id": f"n{place}", "text": words(f"note{place}"), "metadata": one}
        for place, one in enumerate(metadata)
    ]
    (home / "notes.jsonl").write_text(json_lines(lines))
    bench.sync()
    return bench


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("guide", {"guide/b.md", "guide/d.txt", "guide/deep/c.txt"}),
        ("guide/", {"guide/b.md", "guide/d.txt", "guide/deep/c.txt"}),
        ("guide/*", {"guide/b.md", "guide/d.txt", "guide/deep/c.txt"}),
        ("guide/*.txt", {"guide/d.txt"}),
        ("*.txt", {"guide/d.txt", "guide/deep/c.txt"}),
        ("/*.md", {"a.md"}),
        ("**/c.*", {"guide/deep/c.txt"}),
        ("n?", {"n0", "n1", "n2"}),
        ("nowhere/**", set()),
        (r"\[a.md", set()),
        ("[[]a.md", set()),
        ("[a-b].md", {"a.md", "guide/b.md"}),
    ],
)
@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
def test_a_path_pattern_chooses_documents_as_gitignore_would(
    library: Bench, pattern: str, expected: set[str]
) -> None:
    found = library.found("alpha beta", k=100, path=pattern)
    assert {name.partition(":")[2] for name in found} == expected


UNREADABLE = ["!", "***[z-a]", "[", "guide/[ab", "[]", "[a/b]", "a\\", "#a.md", " ", "/", "!a.md"]


@pytest.mark.parametrize("pattern", UNREADABLE)
def test_a_pattern_that_cannot_be_read_is_refused(library: Bench, pattern: str) -> None:
    with library.open() as index, pytest.raises(InputError) as refused:
        index.search("alpha", path=pattern)
    assert (refused.value.kind, refused.value.subject) == ("bad-parameter", "path")


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("markdown", {"a.md", "guide/b.md"}),
        ("text/markdown", {"a.md", "guide/b.md"}),
        ("plain", {"guide/d.txt", "guide/deep/c.txt", "n0", "n1", "n2"}),
        ("html", set()),
    ],
)
def test_a_content_type_is_named_whole_or_by_its_end(
    library: Bench, content_type: str, expected: set[str]
) -> None:
    found = library.found("alpha", k=100, content_type=content_type)
    assert {name.partition(":")[2] for name in found} == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"n": "1"}, {"n0"}),
        ({"n": "1.5"}, {"n1"}),
        ({"n": "true"}, {"n2"}),
        ({"n": "True"}, set()),
        ({"lang": "en"}, {"a.md"}),
        ({"draft": "true"}, {"a.md"}),
        ({"draft": "false", "n": "true"}, {"n2"}),
        ({"draft": "false", "lang": "en"}, set()),
    ],
)
def test_metadata_must_agree_in_every_key_asked_for(
    library: Bench, where: dict[str, str], expected: set[str]
) -> None:
    found = library.found("alpha", k=100, where=where)
    assert {name.partition(":")[2] for name in found} == expected


def test_filters_are_joined_by_and(library: Bench) -> None:
    found = library.found("alpha", k=100, path="guide", content_type="plain")
    assert set(found) == {"docs:guide/d.txt", "docs:guide/deep/c.txt"}
    assert library.found("alpha", path="a.md", content_type="plain", where={"lang": "en"}) == []


def test_a_key_that_no_document_has_is_an_error_not_an_empty_answer(library: Bench) -> None:
    with library.open() as index, pytest.raises(InputError) as refused:
        index.search("alpha", where={"langg": "en"})
    assert refused.value.kind == "unknown-metadata-key"
    assert "lang" in refused.value.expected


def test_a_filtered_ranking_is_the_whole_one_without_the_others(library: Bench) -> None:
    with library.open() as index:
        every = index.search("alpha beta gamma", 100, mode="dense").hits
        chosen = index.search("alpha beta gamma", 100, path="guide", mode="dense").hits
    inside = [hit.citation for hit in every if str(hit.document).startswith("docs:guide/")]
    assert [hit.citation for hit in chosen] == inside


@settings(max_examples=60)
@given(
    count=st.sampled_from([1, 2, 3, 127, 128, 129, 257]),
    dimensions=st.sampled_from([1, 2, 8, 9, 64, 384, 1024]),
    seed=st.integers(0, 1000),
)
def test_a_score_is_summed_from_the_first_dimension_to_the_last(
    count: int, dimensions: int, seed: int
) -> None:
    """Whatever else is scored with it: not by blocks, as a sum of a row is."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((count, dimensions), dtype=np.float32)
    query = random.standard_normal(dimensions, dtype=np.float32)
    in_order = np.cumsum(vectors * query.astype(np.float64), axis=1)[:, -1]
    assert np.array_equal(final_scores(vectors, query), in_order)


def test_a_filter_that_is_used_again_is_not_looked_up_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{name}.md": document(name) for name in ("one", "two", "three")})
    bench.sync()
    with bench.open() as index:
        for path in (None, "o*.md", "t*.md"):
            index.search("one", mode="dense", path=path)
        for path in (None, "o*.md", "t*.md"):
            view = index.view()
            chosen = view.chosen(Filter.of(path, None, None).key, pytest.fail)
            with counted_statements(index.store.engine()) as statements:
                assert view.vectors(chosen)[1].size == chosen.size
            assert not statements


def test_rows_are_looked_up_again_once_vectors_were_loaded(tmp_path: Path) -> None:
    """A matrix that grows is put in order anew, so that rows of before would be others'."""
    bench = Bench(tmp_path)
    bench.write({f"{name}.md": document(name) for name in ("one", "two", "three", "four")})
    bench.sync()
    with bench.open() as index:
        alone = {p: index.search("one", 50, mode="dense", path=p).hits for p in ("t*.md", "f*.md")}
    for first, then in (("t*.md", "f*.md"), ("f*.md", "t*.md")):
        with bench.open() as index:
            assert index.search("one", 50, mode="dense", path=first).hits == alone[first]
            assert index.search("one", 50, mode="dense", path=then).hits == alone[then]
            assert index.search("one", 50, mode="dense", path=first).hits == alone[first]
