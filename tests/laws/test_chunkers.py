"""What holds for every chunker and for the planner over each, on any text."""

from dataclasses import replace

import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.chunking_texts import edits, texts
from unit.chunking.fakes import (
    Atoms,
    Bytes,
    Characters,
    ContextAtoms,
    FakeSizer,
    previous,
    recipe,
    structure_of,
)
from variorum.chunking import TokenMap, chunker_from_spec, lay_out, render
from variorum.chunking.differences import kept_stretches
from variorum.chunking.layout import content_room
from variorum.chunking.render import fold_line_ends
from variorum.records.layout import Layout

SPECS = [
    "anchored(max_tokens=12, min_tokens=4)",
    "anchored(max_tokens=40, min_tokens=1)",
    "fixed(max_tokens=12, overlap_tokens=0)",
    "fixed(max_tokens=1, overlap_tokens=0)",
    "recursive(max_tokens=12, terminators=any)",
    "recursive(max_tokens=30, terminators=spaced)",
]
OVERLAPPING = ["fixed(max_tokens=12, overlap_tokens=5)", "fixed(max_tokens=7, overlap_tokens=6)"]
TOKENIZERS = [Atoms, Characters, Bytes, ContextAtoms]

any_spec = st.sampled_from(SPECS + OVERLAPPING)
tiling_spec = st.sampled_from(SPECS)
sizers = st.builds(
    lambda limit, tokenizer: FakeSizer(limit, tokenizer()),
    st.sampled_from([16, 40, 512]),
    st.sampled_from(TOKENIZERS),
)
depths = st.sampled_from([0, 0, 1, 3])
laws = settings(max_examples=150, deadline=None)


def embedded(layout, sizer, known=()):
    """Tokens of the distinct inputs that are not known."""
    return sum(sizer.count(sorted(set(layout.inputs) - set(known))))


def check_layout(text, layout, sizer):
    starts = [chunk.start for chunk in layout.chunks]
    ends = [chunk.end for chunk in layout.chunks]
    assert starts == sorted(set(starts))
    assert ends == sorted(set(ends))
    assert len(layout.inputs) == len(layout.chunks)
    if text.strip():
        assert (starts[0], ends[-1]) == (0, len(text))
        assert all(start <= end for start, end in zip(starts[1:], ends, strict=False))
    else:
        assert not layout.chunks
    for chunk, one in zip(layout.chunks, layout.inputs, strict=True):
        assert one.endswith(fold_line_ends(text[chunk.start : chunk.end]).strip())
        assert text[chunk.start : chunk.end].strip()
        assert sizer.count([one]) == [chunk.tokens]
        assert chunk.tokens <= sizer.max_tokens


@laws
@given(texts, any_spec, sizers, depths)
def test_chunks_are_filled_slices_in_order_that_cover_the_text_and_fit(text, spec, sizer, depth):
    structure = structure_of(text)
    layout = lay_out(text, structure, recipe(spec, heading_depth=depth), sizer)
    check_layout(text, layout, sizer)
    assert layout == lay_out(text, structure, recipe(spec, heading_depth=depth), sizer)


@laws
@given(texts, tiling_spec, sizers)
def test_without_overlap_the_chunks_join_to_the_text(text, spec, sizer):
    layout = lay_out(text, structure_of(text), recipe(spec), sizer)
    joined = "".join(text[chunk.start : chunk.end] for chunk in layout.chunks)
    assert joined == (text if text.strip() else "")


@laws
@given(texts, any_spec, st.sampled_from(TOKENIZERS))
def test_a_chunker_keeps_to_its_size_and_to_graphemes(text, spec, tokenizer):
    chunker = chunker_from_spec(spec)
    tokens = TokenMap.of(text, tokenizer())
    spans = chunker.spans(text, structure_of(text), tokens)
    boundaries = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
    for start, end in spans:
        assert start < end
        assert {start, end} <= boundaries
        if tokens.count(start, end) > chunker.shape.max_tokens:
            assert len(regex.findall(r"\X", text[start:end])) == 1
    if not chunker.overlaps and text:
        assert [0, *(end for _, end in spans)] == [*(start for start, _ in spans), len(text)]


@laws
@given(texts, st.integers(2, 9))
def test_anchored_chunks_hold_the_minimum_or_the_whole_text(text, least):
    chunker = chunker_from_spec(f"anchored(max_tokens={2 * least}, min_tokens={least})")
    tokens = TokenMap.of(text, Atoms())
    spans = chunker.spans(text, structure_of(text), tokens)
    graphemes = max((len(match) for match in regex.findall(r"\X", text)), default=0)
    if len(spans) > 1:
        assert all(tokens.count(*span) > least - graphemes for span in spans)


@laws
@given(texts, tiling_spec, sizers, depths)
def test_planning_an_unchanged_text_embeds_nothing(text, spec, sizer, depth):
    structure = structure_of(text)
    planned = recipe(spec, planner=True, heading_depth=depth)
    first = lay_out(text, structure, planned, sizer)
    again = lay_out(text, structure, planned, sizer, previous(text, first))
    check_layout(text, again, sizer)
    assert embedded(again, sizer, first.inputs) == 0


@laws
@given(edits(), tiling_spec, sizers, depths)
def test_planning_embeds_no_more_than_a_fresh_layout_by_more_than_two_chunks(
    pair, spec, sizer, depth
):
    old, new = pair
    fresh_recipe = recipe(spec, heading_depth=depth)
    planned_recipe = recipe(spec, planner=True, heading_depth=depth)
    first = lay_out(old, structure_of(old), fresh_recipe, sizer)
    fresh = lay_out(new, structure_of(new), fresh_recipe, sizer)
    planned = lay_out(new, structure_of(new), planned_recipe, sizer, previous(old, first))
    check_layout(new, planned, sizer)
    allowed = (2 * chunker_from_spec(spec).shape.max_tokens + 16) * (1 + depth)
    spent = embedded(planned, sizer, first.inputs)
    assert spent <= embedded(fresh, sizer, first.inputs) + allowed


@laws
@given(edits(), tiling_spec)
def test_the_boundaries_that_stay_are_in_order_from_end_to_end(pair, spec):
    old, new = (fold_line_ends(one) for one in pair)
    spans = chunker_from_spec(spec).spans(old, structure_of(old), TokenMap.of(old, Atoms()))
    kept = [place for stretch in kept_stretches(old, spans, new) for place in stretch]
    assert kept == sorted(kept)
    assert (kept[0], kept[-1]) == (0, len(new))


@laws
@given(edits(), tiling_spec)
def test_knowing_the_old_counts_changes_no_layout(pair, spec):
    old, new = pair
    planned = recipe(spec, planner=True)
    first = lay_out(old, structure_of(old), planned, FakeSizer())
    arguments = (new, structure_of(new), planned)
    unknown = tuple(replace(chunk, tokens=0) for chunk in first.chunks)
    forgotten = previous(old, Layout(unknown, first.inputs))
    counted = lay_out(*arguments, FakeSizer(), forgotten)
    known = lay_out(*arguments, FakeSizer(), previous(old, first))
    assert known == counted


@laws
@given(texts, tiling_spec)
def test_a_change_of_line_ends_embeds_nothing(text, spec):
    unix = fold_line_ends(text)
    windows = unix.replace("\n", "\r\n")
    layouts = [
        lay_out(one, structure_of(one), recipe(spec), FakeSizer()) for one in (unix, windows)
    ]
    assert layouts[0].inputs == layouts[1].inputs


@laws
@given(texts)
def test_a_spec_reads_back_as_itself(text):
    for spec in SPECS + OVERLAPPING:
        assert chunker_from_spec(spec).spec == spec
    assert content_room(FakeSizer(16)) <= 14
    assert render("A > B\n\n", text) == "A > B\n\n" + fold_line_ends(text).strip()
