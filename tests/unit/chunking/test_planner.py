"""What the reuse planner keeps, cuts anew, and how far it may drift."""

import random
from itertools import pairwise

import pytest

from unit.chunking.fakes import Atoms, FakeSizer, previous, recipe, structure_of
from variorum.chunking import TokenMap, chunker_from_spec, lay_out
from variorum.chunking.boundaries import boundaries
from variorum.chunking.chunker import Reading
from variorum.chunking.differences import kept_stretches
from variorum.chunking.occurrences import Finder, meeting_place
from variorum.chunking.planner import OldLayout, plan_spans
from variorum.chunking.pricing import MAX_PENALTY, Pricing, drift, usual
from variorum.records.text import Span

SPECS = [
    "anchored(max_tokens=40, min_tokens=10)",
    "fixed(max_tokens=40)",
    "recursive(max_tokens=40)",
    "structural(max_tokens=40, min_tokens=10)",
    "content_defined(min_tokens=20, max_tokens=40, primary_mask_bits=5, backup_mask_bits=3)",
]


def article(parts=30, seed=1):
    chosen = random.Random(seed)
    words = [f"w{number}" for number in range(400)]
    paragraphs = []
    for part in range(parts):
        if part % 5 == 0:
            paragraphs.append(f"## Part {part}")
        sentences = (
            " ".join(chosen.choices(words, k=chosen.randint(3, 12))).capitalize() + "."
            for _ in range(chosen.randint(1, 6))
        )
        paragraphs.append(" ".join(sentences))
    return "\n\n".join(paragraphs) + "\n"


def relaid(old, new, spec, depth=0):
    """(new inputs that are not old, first layout, second layout)."""
    planned = recipe(spec, planner=True, heading_depth=depth)
    first = lay_out(old, structure_of(old), planned, FakeSizer())
    second = lay_out(new, structure_of(new), planned, FakeSizer(), previous(old, first))
    return [one for one in second.inputs if one not in first.inputs], first, second


def excess_penalty(reading, chunker, spans):
    """How far the penalties of a layout exceed what the stated drift allows."""
    candidates = boundaries(reading.characters, reading.structure)
    pricing = Pricing(reading.tokens, candidates, chunker.shape)
    fresh = chunker.spans(reading.characters, reading.structure, reading.tokens)
    total = reading.tokens.total
    allowed = max(pricing.total([0, *(span.end for span in fresh)]), usual(chunker.shape, total))
    allowed += drift(chunker.shape, total)
    return pricing.total([0, *(span.end for span in spans)]) - allowed


@pytest.mark.parametrize("spec", SPECS)
def test_a_changed_word_embeds_the_chunk_that_holds_it_and_no_other(spec):
    old = article()
    first = relaid(old, old, spec)[1]
    for chunk in first.chunks[2:-2:5]:
        word = old.index(" ", chunk.start) + 1
        new = old[:word] + "changed" + old[old.index(" ", word) :]
        embedded, _, second = relaid(old, new, spec)
        assert len(embedded) <= 2
        assert len(second.chunks) <= len(first.chunks) + 1
        assert sum("changed" in one for one in embedded) == 1


@pytest.mark.parametrize("spec", SPECS)
def test_a_moved_chunk_and_a_repeated_chunk_embed_nothing_of_their_own(spec):
    old = article()
    first = relaid(old, old, spec)[1]
    moved = first.chunks[10]
    piece = old[moved.start : moved.end]
    rest = old[: moved.start] + old[moved.end :]
    cut = first.chunks[20].start - len(piece)
    for new in (
        rest[:cut] + piece + rest[cut:],
        old[: first.chunks[20].start] + piece + old[first.chunks[20].start :],
    ):
        assert relaid(old, new, spec)[0] == []


@pytest.mark.parametrize("spec", SPECS)
def test_an_insertion_embeds_about_what_was_inserted(spec):
    old = article()
    first = relaid(old, old, spec)[1]
    place = first.chunks[15].start
    embedded = relaid(
        old, old[:place] + "Entirely new words stand here now.\n\n" + old[place:], spec
    )[0]
    assert len(embedded) == 1
    assert FakeSizer().tokenizer.count(embedded[0]) <= 50


@pytest.mark.parametrize("spec", SPECS)
def test_an_edit_embeds_no_more_than_the_chunks_it_touches_and_what_it_inserts(spec):
    chosen = random.Random(7)
    sizer = FakeSizer()
    old = article(60)
    first = relaid(old, old, spec)[1]
    for _ in range(40):
        start = chosen.randrange(len(old))
        end = min(len(old), start + chosen.randrange(120))
        inserted = article(1, chosen.random())[: chosen.randrange(200)]
        touched = [c for c in first.chunks if c.start <= end and start <= c.end]
        embedded = relaid(old, old[:start] + inserted + old[end:], spec)[0]
        allowed = sum(chunk.tokens for chunk in touched) + sizer.count([inserted])[0]
        assert sum(sizer.count(embedded)) <= allowed + MAX_PENALTY * len(embedded)


def test_a_deleted_chunk_embeds_nothing():
    old = article()
    first = relaid(old, old, SPECS[0])[1]
    gone = first.chunks[7]
    assert relaid(old, old[: gone.start] + old[gone.end :], SPECS[0])[0] == []


def test_a_renamed_heading_embeds_its_section_again_under_a_heading_prefix_only():
    old = article()
    new = old.replace("## Part 5\n", "## Section five\n")
    embedded, _, second = relaid(old, new, SPECS[0], depth=1)
    under = [c for c in second.chunks if c.heading_path == ("Section five",)]
    assert len(embedded) == len(under)
    assert len(relaid(old, new, SPECS[0], depth=0)[0]) == 1


def test_a_chunk_of_another_section_with_the_same_words_is_not_taken_for_reuse():
    first, second = ("Alpha beta. " * 17).strip(), ("Gamma delta. " * 17).strip()
    old = f"# A\n\n{first}\n\n{second}\n"
    new = f"{old}\n# B\n\n{first}\n\n{second}\n"
    spec = "recursive(max_tokens=60)"
    assert f"A\n\n{second}" in relaid(old, old, spec, depth=1)[1].inputs
    assert f"B\n\n{second}" in relaid(old, new, spec, depth=1)[0]


def test_old_words_under_another_prefix_draw_no_boundary():
    words = "tail of one sentence " * 4 + "here. And the head of " * 3 + "another one"
    filler = "These words were never seen before in any text. " * 3
    new = f"{filler}Some {words} goes on. {filler}"
    reading = Reading(new, structure_of(new), TokenMap.of(new, Atoms()))
    chunker = chunker_from_spec(SPECS[0])
    start = new.index(words)
    for known, drawn in (("A\n\n", True), ("B\n\n", False)):
        old = OldLayout(words, (Span(0, len(words)),), (f"{known}{words}",))
        spans = plan_spans(reading, chunker, old, lambda _: "A\n\n")
        assert (start in {span.start for span in spans}) is drawn


def test_an_old_layout_of_poor_shape_is_not_kept_for_reuse_alone():
    chunker = chunker_from_spec(SPECS[0])
    old = article(40)
    places = TokenMap.of(old, Atoms()).starts[::3]
    spans = [Span(*ends) for ends in pairwise([0, *places[1:], len(old)])]
    new = old + "One more sentence. "
    reading = Reading(new, structure_of(new), TokenMap.of(new, Atoms()))
    planned = plan_spans(reading, chunker, OldLayout(old, tuple(spans)))
    assert len(planned) < len(spans) / 3
    assert excess_penalty(reading, chunker, planned) <= 0


def test_line_ends_of_a_whole_file_change_and_nothing_is_embedded():
    old = article()
    assert relaid(old, old.replace("\n", "\r\n"), SPECS[0])[0] == []


@pytest.mark.parametrize("spec", SPECS)
def test_over_a_long_chain_the_layout_stays_within_the_stated_drift_of_a_fresh_one(spec):
    chosen = random.Random(5)
    chunker = chunker_from_spec(spec)
    text = article()
    spans = chunker.spans(text, structure_of(text), TokenMap.of(text, Atoms()))
    for _ in range(150):
        old = OldLayout(text, tuple(spans))
        start = chosen.randrange(len(text))
        new = (
            text[:start] + article(1, chosen.random())[:-1] + text[start + chosen.randrange(150) :]
        )
        reading = Reading(new, structure_of(new), TokenMap.of(new, Atoms()))
        spans = plan_spans(reading, chunker, old)
        assert excess_penalty(reading, chunker, spans) <= 1e-6
        assert all(reading.tokens.count(*span) <= chunker.shape.max_tokens for span in spans)
        text = new


def test_an_edit_in_a_long_text_leaves_all_boundaries_but_its_neighbours():
    old = article(600)
    reading = Reading(old, structure_of(old), TokenMap.of(old, Atoms()))
    spans = chunker_from_spec(SPECS[0]).spans(old, reading.structure, reading.tokens)
    places = [spans[len(spans) // 4].start + 5, spans[3 * len(spans) // 4].start + 5]
    new = old[: places[0]] + "new " + old[places[0] : places[1]] + "new " + old[places[1] :]
    kept = kept_stretches(old, spans, new)
    assert kept[0][0] == 0
    assert kept[-1][-1] == len(new)
    assert sum(len(stretch) - 1 for stretch in kept) >= len(spans) - 14
    flat = [cut for stretch in kept for cut in stretch]
    assert flat == sorted(flat)


def test_chunks_meet_at_the_start_of_the_next_filled_line_or_at_the_next_filled_character():
    text = "one \n\n   two three  "
    assert meeting_place(text, 3) == meeting_place(text, 7) == text.index("   two")
    assert meeting_place(text, text.index(" three")) == text.index("three")
    assert meeting_place(text, text.index("  ", 15)) == len(text)


def test_short_contents_are_found_at_structural_boundaries_only():
    finder = Finder("cat catalog cat", ["cat"], lambda index, place: True)
    assert [(one.start, one.end) for one in finder.within(0, 15, [12])] == [(0, 4), (12, 15)]


def test_an_old_layout_without_spans_gives_a_fresh_layout():
    text = article(5)
    reading = Reading(text, structure_of(text), TokenMap.of(text, Atoms()))
    chunker = chunker_from_spec(SPECS[0])
    fresh = chunker.spans(text, reading.structure, reading.tokens)
    assert plan_spans(reading, chunker, OldLayout("", ())) == fresh
    assert (
        plan_spans(
            Reading("", structure_of(""), TokenMap([])), chunker, OldLayout("a", (Span(0, 1),))
        )
        == []
    )
