"""The door of the room: from a text and a recipe to a layout."""

from collections.abc import Sequence

from variorum.chunking.chunker import (
    Chunker,
    Embed,
    NeedsVectors,
    Reading,
    refuse_without_model,
)
from variorum.chunking.fit import Fitted, Fitter, content_room
from variorum.chunking.folding import Folded
from variorum.chunking.headings import Headings, first_character
from variorum.chunking.known import KnownPrefixes, content_tokens, known_counts
from variorum.chunking.planner import OldLayout, plan_spans, refuse_overlap
from variorum.chunking.prefixes import Prefixes
from variorum.chunking.spec import chunker_from_spec
from variorum.chunking.tokens import TokenMap
from variorum.records.layout import Chunk, Layout, PreviousLayout, Recipe
from variorum.records.protocols import Sizer
from variorum.records.text import Span, Structure


def lay_out(
    text: str,
    structure: Structure,
    recipe: Recipe,
    sizer: Sizer,
    previous: PreviousLayout | None = None,
    embed: Embed | None = None,
) -> Layout:
    """Cut `text` as `recipe` says; the same arguments always give the same layout.

    The chunks cover `text` from end to end (a blank text has none), and every input is within
    `sizer.max_tokens` by the sizer's own count. With `recipe.planner`, `previous` is the parent
    layout under the same recipe, whose inputs are reused where they can be, and not counted again;
    no more is tokenized than the windows around the differences. `embed` is used only by a chunker
    that needs vectors, for windows of sentences.

    A structure without blocks is cut at blank lines, lines and sentences.

    Raises:
        InputError: `unknown-chunker` or `bad-parameter` for the recipe's chunker;
            `planner-needs-no-overlap`; `needs-a-model`, where the chunker needs vectors and there
            is no `embed`; `block-too-large`, where it is asked to refuse such a block;
            `model-limit-too-small`.
    """
    chunker = _chunker(recipe.chunker, embed)
    if recipe.planner and chunker.overlaps:
        refuse_overlap(chunker)
    if not text or text.isspace():
        return Layout((), ())
    folded = Folded(text)
    tokens = TokenMap.of(folded.characters, sizer.tokenizer)
    reading = Reading(folded.characters, folded.structure(structure), tokens)
    counted = KnownPrefixes(sizer, previous) if previous else sizer
    depth = recipe.heading_depth
    prefixes = Prefixes(reading.characters, reading.structure, depth, counted)
    old = _old_layout(previous, sizer) if recipe.planner and previous else None
    spans = _spans(reading, chunker.limited(content_room(sizer)), old, prefixes)
    fitter = Fitter(reading, sizer, prefixes, known_counts(previous))
    fitted = fitter.fit(_filled_spans(reading.characters, spans))
    return _layout(reading, fitted, folded)


def _chunker(spec: str, embed: Embed | None) -> Chunker:
    chunker = chunker_from_spec(spec)
    if not isinstance(chunker, NeedsVectors):
        return chunker
    if embed is None:
        refuse_without_model(chunker)
    return chunker.with_embed(embed)


def _old_layout(previous: PreviousLayout, sizer: Sizer) -> OldLayout:
    """The parent layout as the planner sees it, line ends folded."""
    folded = Folded(previous.characters)
    spans = tuple(map(folded.fold, previous.spans))
    tokens = content_tokens(previous, sizer)
    return OldLayout(folded.characters, spans, previous.layout.inputs, tokens)


def _spans(
    reading: Reading, chunker: Chunker, old: OldLayout | None, prefixes: Prefixes
) -> list[Span]:
    if old is None:
        return chunker.spans(reading.characters, reading.structure, reading.tokens)
    return plan_spans(reading, chunker, old, prefixes.text_at)


def _filled_spans(characters: str, spans: Sequence[Span]) -> list[Span]:
    """The spans with something in them; a blank one joins the one before it, or else after it."""
    filled: list[Span] = []
    leading: int | None = None
    for start, end in spans:
        if not characters[start:end].isspace():
            filled.append(Span(start if leading is None else leading, end))
            leading = None
        elif filled:
            filled[-1] = Span(filled[-1].start, max(end, filled[-1].end))
        elif leading is None:
            leading = start
    return filled


def _layout(reading: Reading, fitted: Sequence[Fitted], folded: Folded) -> Layout:
    headings = Headings(reading.structure)
    chunks = []
    for one in fitted:
        path = headings.path_at(first_character(reading.characters, *one.span))
        chunks.append(Chunk(*folded.unfold(one.span), one.tokens, path, one.prefix.rendered))
    return Layout(tuple(chunks), tuple(one.characters for one in fitted))
