"""Every input to embed has its reason, told from the two revisions and their layouts alone."""

from pathlib import Path

import pytest

from unit.chunking.fakes import FakeSizer, previous, recipe, structure_of
from variorum.chunking import lay_out
from variorum.embedding import HashingEmbedder
from variorum.records.errors import InputError, NotFoundError
from variorum.records.reports import Reason
from variorum.sync.changes import Changes
from variorum.sync.explaining import Side, explain
from workbench import Bench, document, section, words

SPEC = "anchored(max_tokens=40, min_tokens=10)"
TITLES = [f"T{n}" for n in range(6)]


def side(text, spec=SPEC, depth=0, old=None, **settings):
    """A side of a text, planned over another side's layout where one is given."""
    named = recipe(spec, planner=True, heading_depth=depth)
    layout = lay_out(text, structure_of(text), named, FakeSizer(), old)
    chosen = {"chunker": spec, "heading_depth": depth, "model": "m", "parser": "p", **settings}
    return layout, Side(text, layout.chunks, chosen, overhead=2)


def explained(old, new, depth=0, fresh=False, spec=SPEC, **settings):
    """(reason, detail) of each new input that the old layout does not have, and the inputs."""
    before, one = side(old, spec, depth)
    parent = None if fresh else previous(old, before)
    after, other = side(new, spec, depth, parent, **settings)
    numbers = [n for n, text in enumerate(after.inputs) if fresh or text not in before.inputs]
    found = explain(one, other, numbers)
    assert [(f.start, f.end, f.tokens) for f in found] == [
        (after.chunks[n].start, after.chunks[n].end, after.chunks[n].tokens) for n in numbers
    ]
    return [(one.reason, one.detail) for one in found], [after.inputs[n] for n in numbers]


def test_every_input_of_a_new_document_is_new():
    layout, new = side(document(*TITLES))
    found = explain(None, new, range(len(layout.chunks)))
    assert {(one.reason, one.detail) for one in found} == {(Reason.NEW_DOCUMENT, "")}
    assert len(found) == len(layout.chunks)


@pytest.mark.parametrize(
    ("before", "after", "detail"),
    [
        ("twenty days of leave", "thirty days of leave", '"twenty" -> "thirty"'),
        ("twenty days of leave", "twenty full days of leave", 'added "full"'),
        ("twenty full days of leave", "twenty days of leave", 'removed "full"'),
        ("住宿限额为三百元", "住宿限额为四百元", '"三" -> "四"'),
    ],
)
def test_an_edited_input_says_the_first_words_that_changed(before, after, detail):
    old = document("One", "Two") + f"\n## Three\n\nThere are {before}.\n"
    found, _ = explained(old, old.replace(before, after))
    assert [one for one in found if one[0] is Reason.EDITED] == [(Reason.EDITED, detail)]


def test_an_edited_input_names_its_own_change_and_not_that_of_another():
    old = document(*TITLES)
    new = old.replace(words("t1").split()[3], "first").replace(words("t4").split()[5], "second")
    details = [detail for _, detail in explained(old, new)[0]]
    assert [detail.split(" -> ")[1] for detail in details] == ['"first"', '"second"']


def test_long_words_are_cut_short_and_stand_on_one_line():
    old = document("One")
    (found,), _ = explained(old, old + "\nMany more words stand on this line\nand on the next.\n")
    assert found[1] == 'added "Many more words stand on this l…"'


def paragraph(seed, count):
    return f"{words(seed, count)}\n\n"


def test_text_cut_off_a_chunk_that_grew_says_how_far():
    first, second = paragraph("first", 14), paragraph("second", 20)
    old = f"## A\n\n{first}{second}## B\n\n{paragraph('b', 30)}"
    new = old.replace(first, f"{words('grown', 14)} {first}")
    found, inputs = explained(old, new, spec="anchored(max_tokens=44, min_tokens=19)")
    assert inputs[1:] == [second.strip()]
    for reason, detail in found[1:]:
        assert reason is Reason.BOUNDARY_MOVED
        assert detail.startswith("was in one larger chunk; one grew from 39 to 54 tokens, past 44")
        assert ': added "grown' in detail


def test_text_joined_to_a_neighbour_that_shrank_says_so():
    old = f"## A\n\n{paragraph('a', 30)}{paragraph('first', 34)}{paragraph('second', 20)}"
    layout, one = side(old)
    joined = old[old.index(words("first", 34)) + 60 :]
    new = old.replace(words("first", 34), words("first", 34)[60:])
    place = new.index(joined[:20])
    other = Side(new, [*layout.chunks[:1], layout.chunks[2]], one.settings)
    chunk = layout.chunks[2]
    moved = type(chunk)(place, len(new), 50, chunk.heading_path)
    found = explain(one, Side(new, [layout.chunks[0], moved], other.settings), [1])
    assert found[0].reason is Reason.BOUNDARY_MOVED
    assert found[0].detail.startswith("was in 2 chunks; ")
    assert 'removed "' in found[0].detail


def test_the_same_text_cut_anew_is_a_moved_boundary_without_a_neighbour_to_blame():
    old = paragraph("a", 60)
    layout, one = side(old)
    halves = [type(layout.chunks[0])(0, 20, 9), type(layout.chunks[0])(20, len(old), 60)]
    (found, _) = explain(one, Side(old, halves, one.settings), [0, 1])
    assert (found.reason, found.detail) == (Reason.BOUNDARY_MOVED, "the same text, cut anew")


def test_a_renamed_heading_shows_the_path_before_and_after_where_prefixes_are_asked_for():
    old = "# Guide\n\n" + document(*TITLES)
    found, inputs = explained(old, old.replace("# Guide", "# Manual"), depth=2)
    renamed = [one for one in found if one[0] is Reason.HEADING_PATH_CHANGED]
    assert len(inputs) == len(found)
    assert len(renamed) >= len(found) - 1 > 3
    assert renamed[0][1] == "Guide > T1 -> Manual > T1"
    assert Reason.HEADING_PATH_CHANGED not in dict(
        explained(old, old.replace("Guide", "Manual"))[0]
    )


def test_a_repeated_head_that_changed_is_shown_where_the_path_is_the_same():
    text = "| 1 | 2 |\n"
    layout, _ = side(text)
    old, new = (
        Side(text, [type(layout.chunks[0])(0, 9, 7, ("Prices",), head)], {"chunker": SPEC})
        for head in ("| a | b |\n", "| a | c |\n")
    )
    (found,) = explain(old, new, [0])
    assert (found.reason, found.detail) == (
        Reason.HEADING_PATH_CHANGED,
        "| a | b | -> | a | c |",
    )


def test_a_changed_setting_is_shown_with_its_values():
    old = document(*TITLES)
    found, _ = explained(old, old, fresh=True, parser="q", heading_depth=1)
    assert set(found) == {(Reason.RECIPE_CHANGED, "heading_depth: 0 -> 1; parser: p -> q")}


def test_a_new_model_is_the_reason_also_for_edited_text():
    old = document(*TITLES)
    found, _ = explained(old, old.replace("##", "###"), fresh=True, model="n")
    assert set(found) == {(Reason.RECIPE_CHANGED, "model: m -> n")}


def test_another_chunker_does_not_hide_an_edit():
    old = document(*TITLES)
    word = words("t3").split()[4]
    found, inputs = explained(old, old.replace(word, "changed"), fresh=True, chunker="fixed")
    by_input = dict(zip(inputs, found, strict=True))
    edited = [one for text, one in by_input.items() if "changed" in text]
    assert edited == [(Reason.EDITED, f'"{word}" -> "changed"')]
    assert {one[0] for one in found} == {Reason.EDITED, Reason.RECIPE_CHANGED}


def test_changes_map_positions_and_cover_every_difference():
    old, new = "a b\nc d\n\ne f\n", "a x b\nc d\ne g\n"
    changes = Changes(old, new)
    assert [changes.moved(old.index(one)) for one in "ac"] == [new.index(one) for one in "ac"]
    assert changes.words(changes.nearest(9, 10)) == "white space"
    assert changes.words(changes.in_new(new.index("e"), len(new))) == '"f" -> "g"'
    assert changes.words(Changes("same", "same").in_new(0, 4)) == ""


# Through the index


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write({"a.md": document(*TITLES), "b.md": document("Beside")})
    bench.sync()
    return bench


def test_the_index_explains_a_document_of_a_plan(bench: Bench) -> None:
    word = words("t2").split()[3]
    bench.write({"a.md": document(*TITLES).replace(word, "changed"), "c.md": section("Fresh")})
    with bench.open() as index:
        view = index.plan(explain="docs:a.md", reasons=True)
        fresh = index.plan(explain="docs:c.md").explanations
        beside = index.plan(explain="docs:b.md")
    (one,) = view.explanations
    assert (one.reason, one.detail) == ("edited", f'"{word}" -> "changed"')
    assert view.explained is not None
    assert (view.explained.embed, view.explained.reuse) == (1, len(TITLES) - 1)
    assert view.explained.tokens_by_reason == {Reason.EDITED: view.explained.embed_tokens}
    assert [one.reason for one in fresh] == ["new-document"]
    assert (beside.explained, beside.explanations) == (None, ())
    split = [one.tokens_by_reason for one in view.documents]
    assert split == [{"edited": one.tokens}, {"new-document": fresh[0].tokens}]


def test_reasons_split_exactly_the_tokens_to_embed(tmp_path: Path) -> None:
    settings = f'[chunking]\nchunker = "{SPEC}"\nheading_depth = {{}}\n'
    bench = Bench(tmp_path, settings.format(2))
    text = "# Guide\n\n" + document(*TITLES) + "\n" + section("T1")
    bench.write({"a.md": text, "b.md": text + "More.\n"})
    bench.sync()
    bench.write({"a.md": text.replace("# Guide", "# Manual"), "b.md": text + "More words.\n"})
    with bench.open() as index:
        documents = index.plan(reasons=True).documents
    for one in documents:
        assert sum((one.tokens_by_reason or {}).values()) == one.embed_tokens > 0
    assert Reason.HEADING_PATH_CHANGED in (documents[0].tokens_by_reason or {})
    assert Reason.HEADING_PATH_CHANGED not in (documents[1].tokens_by_reason or {})


def test_a_new_model_and_a_new_chunker_are_named(bench: Bench) -> None:
    with bench.open(embedder=HashingEmbedder(32)) as index:
        found = index.plan(explain="docs:a.md").explanations
    assert {one.reason for one in found} == {Reason.RECIPE_CHANGED}
    assert "model: hashing" in found[0].detail
    assert "-> hashing" in found[0].detail
    bench.configure('[chunking]\nchunker = "fixed(max_tokens=30)"\n')
    with bench.open() as index:
        found = index.plan(explain="docs:a.md").explanations
    assert f"chunker: {SPEC} -> fixed(max_tokens=30, overlap_tokens=0)" in found[0].detail


def test_a_relayout_is_explained_as_moved_boundaries(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    lines = [words(f"s{n}", 7) for n in range(40)]
    for step in range(12):
        lines.insert(3 * step, words(f"new{step}", 5))
        bench.write({"a.md": "\n\n".join(lines) + "\n"})
        bench.sync()
    with bench.open() as index:
        found = index.plan(explain="docs:a.md", relayout=True).explanations
    assert {(one.reason, one.detail) for one in found} == {
        (Reason.BOUNDARY_MOVED, "the same text, cut anew")
    }


def test_a_name_that_is_none_and_a_document_that_is_not_there_are_errors(bench: Bench) -> None:
    with bench.open() as index:
        with pytest.raises(NotFoundError) as missing:
            index.plan(explain="docs:none.md")
        assert missing.value.kind == "no-such-document"
        with pytest.raises(InputError):
            index.plan(explain="no name")
