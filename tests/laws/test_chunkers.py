"""What holds for every chunker and for the planner over each, on any text."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.chunking_texts import edits, structured, texts
from unit.chunking.fakes import (
    Atoms,
    Bytes,
    Characters,
    ContextAtoms,
    FakeSizer,
    chunker_of,
    fake_embed,
    previous,
    recipe,
    structure_of,
    tabled,
)
from variorum import chunking
from variorum.chunking import (
    FixedCharacters,
    Structural,
    TokenMap,
    chunker_from_spec,
    render,
    sentences,
)
from variorum.chunking.differences import kept_stretches
from variorum.chunking.layout import content_room
from variorum.chunking.render import fold_line_ends
from variorum.records.layout import Layout
from variorum.records.text import BlockKind

WINDOW = "primary_mask_bits=3, window_words=4"
SPECS = [
    "anchored(max_tokens=12, min_tokens=4)",
    "anchored(max_tokens=40, min_tokens=1)",
    "fixed(max_tokens=12, overlap_tokens=0)",
    "fixed(max_tokens=1, overlap_tokens=0)",
    "recursive(max_tokens=12, rules=paper, terminators=any)",
    "recursive(max_tokens=30, rules=paper, terminators=spaced)",
    "recursive(max_tokens=12, rules=guide, terminators=any)",
    "recursive(max_tokens=12, rules=default, terminators=any)",
    "fixed_characters(max_characters=40, overlap_characters=0)",
    "structural(max_tokens=24, min_tokens=6, oversize=split)",
    "structural(max_tokens=12, min_tokens=1, oversize=split)",
    f"content_defined(backup_mask_bits=1, max_tokens=24, min_tokens=6, {WINDOW}, words=whole)",
    f"content_defined(backup_mask_bits=1, max_tokens=9, min_tokens=9, {WINDOW}, words=segmented)",
    "semantic(max_tokens=24, min_tokens=6, percentile=60.0, window=3)",
    "semantic(k=0.8, max_tokens=12, min_tokens=1, window=2)",
]
OVERLAPPING = [
    "fixed(max_tokens=12, overlap_tokens=5)",
    "fixed(max_tokens=7, overlap_tokens=6)",
    "fixed_characters(max_characters=30, overlap_characters=9)",
]
TOKENIZERS = [Atoms, Characters, Bytes, ContextAtoms]

lay_out = partial(chunking.lay_out, embed=fake_embed)
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
@given(structured(), any_spec, sizers, depths)
def test_any_blocks_give_a_layout_that_covers_the_text_and_fits(pair, spec, sizer, depth):
    text, structure = pair
    layout = lay_out(text, structure, recipe(spec, heading_depth=depth), sizer)
    check_layout(text, layout, sizer)
    for chunk, one in zip(layout.chunks, layout.inputs, strict=True):
        assert one == render(chunk.prefix, text[chunk.start : chunk.end])


@laws
@given(edits(), tiling_spec, sizers, depths)
def test_a_table_head_above_its_rows_is_planned_exactly(pair, spec, sizer, depth):
    old, new = pair
    planned = recipe(spec, planner=True, heading_depth=depth)
    first = lay_out(old, tabled(old), planned, sizer)
    second = lay_out(new, tabled(new), planned, sizer, previous(old, first))
    check_layout(new, second, sizer)
    again = lay_out(new, tabled(new), planned, sizer, previous(new, second))
    assert embedded(again, sizer, second.inputs) == 0


@laws
@given(texts, tiling_spec, sizers)
def test_without_overlap_the_chunks_join_to_the_text(text, spec, sizer):
    layout = lay_out(text, structure_of(text), recipe(spec), sizer)
    joined = "".join(text[chunk.start : chunk.end] for chunk in layout.chunks)
    assert joined == (text if text.strip() else "")


@laws
@given(texts, any_spec, st.sampled_from(TOKENIZERS))
def test_a_chunker_keeps_to_its_size_and_to_graphemes(text, spec, tokenizer):
    chunker = chunker_of(spec)
    tokens = TokenMap.of(text, tokenizer())
    spans = chunker.spans(text, structure_of(text), tokens)
    boundaries = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
    for start, end in spans:
        assert start < end
        assert {start, end} <= boundaries
        own = text[start:end].strip()
        if isinstance(chunker, FixedCharacters):
            if end - start > chunker.max_characters:
                assert len(regex.findall(r"\X", text[start:end])) == 1
        elif tokens.count(start, end) > chunker.shape.max_tokens:
            assert len(regex.findall(r"\X", text[start:end])) == 1
        elif tokenizer().count(own) > chunker.shape.max_tokens:
            assert len(regex.findall(r"\X", own)) == 1
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
@given(texts, st.integers(1, 12), st.integers(2, 4))
def test_structural_chunks_mix_no_section_that_fills_the_minimum(text, least, times):
    structure, tokens = structure_of(text), TokenMap.of(text, Atoms())
    headings = [block.kind is BlockKind.HEADING for block in structure.blocks]
    opens = [
        block.start
        for block, is_heading, after in zip(
            structure.blocks, headings, [False, *headings], strict=False
        )
        if is_heading and not after
    ]
    sections = list(pairwise(sorted({0, *opens, len(text)})))
    for start, end in Structural(least * times, least).spans(text, structure, tokens):
        held = [one for one in sections if one[0] < end and start < one[1]]
        if len(held) > 1:
            assert all(tokens.count(*one) < least for one in held)


@laws
@given(texts, st.booleans())
def test_sentences_hold_all_that_is_not_blank_in_order(text, structured):
    found = sentences(text, structure_of(text) if structured else None)
    places = [place for span in found for place in span]
    assert places == sorted(places)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in found)
    joined = "".join(text[start:end] for start, end in found)
    assert "".join(joined.split()) == "".join(text.split())


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
    spans = chunker_of(spec).spans(old, structure_of(old), TokenMap.of(old, Atoms()))
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
