"""Hand-computed contracts of an update's cost.

One word is one token, every input has two special tokens, so a chunk of n words counts n + 2. Each
case gives the old and the new version as chunks; `|` ends a chunk.
"""

from fractions import Fraction

import numpy as np
import pytest

from unit.lab.words import WordSizer
from variorum.lab.atoms import edit
from variorum.lab.costs import Step, edited_tokens, kept_tokens, step, steps
from variorum.lab.subjects import Cut
from variorum.lab.versions import Version
from variorum.records.text import Span

SIZER = WordSizer()


def cut(chunks: str) -> Cut:
    """`a b | c` as the text `a b c` in the chunks `a b` and `c`."""
    pieces = [piece.strip() for piece in chunks.split("|") if piece.strip()]
    text = " ".join(pieces)
    spans, place = [], 0
    for piece in pieces:
        spans.append(Span(place, place + len(piece)))
        place += len(piece) + 1
    return Cut(Version(text, "text/plain", SIZER.tokenizer), spans, pieces)


def cost(old: str, new: str) -> Step:
    before, after = cut(old), cut(new)
    found = edit(before.version.text, after.version.text)
    places = edited_tokens(after.version, found)
    return step(before, after, set(before.inputs), places, SIZER)


CONTRACTS = {
    # name: (old, new, recomputed tokens, tokens of all distinct new inputs)
    "nothing changed": ("a b | c d", "a b | c d", 0, 4 + 4),
    "a word inserted into one chunk": ("a b | c d", "a x b | c d", 5, 5 + 4),
    "a chunk inserted at the start": ("a b | c d", "x y | a b | c d", 4, 4 + 4 + 4),
    "a chunk inserted in the middle": ("a b | c d", "a b | x | c d", 3, 4 + 3 + 4),
    "a chunk inserted at the end": ("a b | c d", "a b | c d | x", 3, 4 + 4 + 3),
    "a word at the start shifts every window": ("a b | c d | e f", "x a | b c | d e | f", 15, 15),
    "a word deleted from one chunk": ("a b c | d e", "a c | d e", 4, 4 + 4),
    "a chunk deleted": ("a b | c d | e f", "a b | e f", 0, 4 + 4),
    "a deletion that merges two chunks": ("a b | c d", "a d", 4, 4),
    "a word replaced": ("a b | c d", "a b | c x", 4, 4 + 4),
    "every word replaced": ("a b | c d", "w x | y z", 8, 8),
    "two chunks swapped": ("a b | c d", "c d | a b", 0, 4 + 4),
    "a word moved from one chunk to another": ("a b | c d", "a | b c d", 3 + 5, 3 + 5),
    "a boundary moved": ("a b | c d", "a b c | d", 5 + 3, 5 + 3),
    "a chunk repeated": ("a b | c d", "a b | c d | a b", 0, 4 + 4),
    "a repeated new chunk counts once": ("a b", "a b | x y | x y", 4, 4 + 4),
    "a repeated old chunk is one input": ("a b | a b", "a b", 0, 4),
    "one of two equal chunks edited": ("a b | a b", "a b | a x", 4, 4 + 4),
    "two chunks merged": ("a | b", "a b", 4, 4),
    "one chunk split": ("a b", "a | b", 3 + 3, 3 + 3),
    "from nothing": ("", "a b | c", 4 + 3, 4 + 3),
    "to nothing": ("a b", "", 0, 0),
    "nothing to nothing": ("", "", 0, 0),
    "case is content": ("a b", "A b", 4, 4),
    "Chinese words": ("知识 库 | 更新", "知识 库 | 已 更新", 4, 4 + 4),
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_tokens_recomputed_by_hand(name: str) -> None:
    old, new, recomputed, total = CONTRACTS[name]
    found = cost(old, new)
    assert (found.recomputed, found.total) == (recomputed, total)
    assert found.recompute_fraction == (Fraction(recomputed, total) if total else 0)


def test_there_are_twenty_contracts_or_more() -> None:
    assert len(CONTRACTS) >= 20


def test_the_floor_by_hand() -> None:
    """Old chunks `a b` and `c d` stand whole in `a b x c d`: 4 of 5 words; the floor is 1/5."""
    assert cost("a b | c d", "a b x | c d").floor == Fraction(1, 5)
    assert cost("a b | c d", "a b x c | d").floor == Fraction(1, 5)
    assert cost("a b c d", "a x b c d").floor == 1
    assert cost("a b", "").floor == 0


def test_the_floor_takes_the_heaviest_set_without_overlap() -> None:
    """`a b` (2) and `b c d` (3) overlap in `a b c d`, so 3; `a b` and `c d` do not, so 4."""
    new = cut("a b c d").version
    assert kept_tokens(["a b", "b c d"], new) == 3
    assert kept_tokens(["a b", "b c d", "c d"], new) == 4
    assert kept_tokens(["x"], new) == 0
    assert kept_tokens([""], new) == 0


def test_the_excess_is_what_a_chunker_pays_above_the_floor() -> None:
    """R = 5/9 (the chunk `a x b`), floor = 3/5 (only `c d` is intact): 5/9 - 3/5 = -2/45."""
    found = cost("a b | c d", "a x b | c d")
    assert found.excess_over_floor == Fraction(5, 9) - Fraction(3, 5)


def test_edited_tokens_come_from_the_atoms_and_not_from_the_chunks() -> None:
    """One word of `a b | c x` is new, though the whole chunk `c x` is embedded again."""
    found = cost("a b | c d", "a b | c x")
    assert (found.edited, found.edited_inside, found.recomputed) == (1, 1, 4)
    assert found.amplification == 4
    assert found.waste_ratio == 1 - Fraction(1, 4)


def test_a_moved_boundary_edits_nothing_and_wastes_everything() -> None:
    found = cost("a b | c d", "a b c | d")
    assert (found.edited, found.recomputed) == (0, 8)
    assert found.amplification is None
    assert found.waste_ratio == 1


def test_where_nothing_is_embedded_there_is_no_waste_ratio() -> None:
    found = cost("a b | c d", "a b")
    assert (found.recomputed, found.waste_ratio, found.verbatim_presence) == (0, None, None)


def test_full_reprocessing_of_a_long_document_wastes_what_the_pattern_says() -> None:
    """80 chunks of 100 words, 2 edited in full, all 80 embedded: 1 - 200/8160 = 97.5 %."""
    pages = [" ".join(f"w{chunk}x{word}" for word in range(100)) for chunk in range(80)]
    edited = [" ".join(f"n{chunk}x{word}" for word in range(100)) for chunk in range(2)]
    old, new = cut(" | ".join(pages)), cut(" | ".join([*pages[:40], *edited, *pages[42:]]))
    places = edited_tokens(new.version, edit(old.version.text, new.version.text))
    forgetful = Cut(old.version, old.spans, ["nothing kept"])
    found = step(forgetful, new, set(), places, SIZER)
    assert found.recomputed == 80 * 102
    assert found.waste_ratio == 1 - Fraction(200, 8160)
    assert float(found.waste_ratio) == pytest.approx(0.975, abs=0.001)


def test_text_that_only_moved_between_chunks_is_present_verbatim() -> None:
    """`b` and `c` stand whole in the old text, `a x` does not: 3 + 3 of 10 tokens."""
    found = cost("a b c", "a x | b | c")
    assert found.verbatim_presence == Fraction(6, 10)


def test_a_revert_costs_against_the_previous_version_but_not_against_history() -> None:
    cuts = [cut("a b | c d"), cut("a b | c x"), cut("a b | c d")]
    places = [np.empty(0, dtype=np.int64)] * 2
    first, second = steps(cuts, places, SIZER)
    assert (first.recompute_fraction, first.embedded_fraction) == (Fraction(1, 2), Fraction(1, 2))
    assert (second.recompute_fraction, second.embedded_fraction) == (Fraction(1, 2), 0)


def test_a_token_with_an_added_character_is_edited_however_small_the_addition() -> None:
    version = Version("one t-wo three", "text/plain", SIZER.tokenizer)
    places = edited_tokens(version, edit("one two three", version.text))
    assert places.tolist() == [4]


def test_vectors_per_thousand_tokens_by_hand() -> None:
    """Three distinct inputs over five words."""
    assert cost("a b", "a b | c d | e").vectors_per_thousand_tokens == Fraction(3000, 5)
