"""Edits in atoms: the standard matcher's blocks, found fast enough, and the arithmetic by hand."""

import gzip
import json
from difflib import SequenceMatcher
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from variorum.lab.atoms import LongRangeMatcher, atoms, band, edit, longest_common_run

words = st.lists(st.sampled_from("abcd"), max_size=60)


def test_a_cjk_character_a_word_and_a_mark_are_one_atom_each() -> None:
    assert atoms("知识库 v2.0，ok。") == ["知", "识", "库", "v2", ".", "0", "，", "ok", "。"]
    assert atoms(" \n\t") == []
    assert atoms("カナ한글 naïve_x") == ["カ", "ナ", "한", "글", "naïve_x"]


@given(words, words)
def test_blocks_are_those_of_the_standard_matcher(before: list[str], after: list[str]) -> None:
    standard = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    assert LongRangeMatcher(before, after, 0).get_matching_blocks() == standard


@given(words, words)
def test_the_longest_common_run_is_the_earliest_of_the_longest(
    before: list[str], after: list[str]
) -> None:
    numbers = [np.array([ord(one) for one in side], dtype=np.int64) for side in (before, after)]
    found = SequenceMatcher(None, before, after, autojunk=False).find_longest_match()
    assert longest_common_run(*numbers) == (
        (found.a, found.b, found.size) if found.size else (0, 0, 0)
    )


@given(words, words)
def test_what_is_kept_removed_and_added_adds_up(before: list[str], after: list[str]) -> None:
    old, new = " ".join(before), " ".join(after)
    for strip in (False, True):
        found = edit(old, new, strip=strip)
        assert found.old_atoms - found.removed == found.new_atoms - found.added
        added = sum(len(atoms(new[start:end])) for start, end in found.added_spans)
        assert added == found.added
        assert 0 <= found.fraction <= 1


CONTRACTS = [
    # old, new, removed, added, fraction as (removed + added) / (old + new)
    ("a b c d", "a b c d", 0, 0, Fraction(0, 8)),
    ("a b c d", "a b x c d", 0, 1, Fraction(1, 9)),
    ("a b c d", "a c d", 1, 0, Fraction(1, 7)),
    ("a b c d", "a x c d", 1, 1, Fraction(2, 8)),
    # A move: "a b" stands behind "c d e" now; c d e is matched, 2 go and 2 come.
    ("a b c d e", "c d e a b", 2, 2, Fraction(4, 10)),
    ("", "a b", 0, 2, Fraction(2, 2)),
    ("a b", "", 2, 0, Fraction(2, 2)),
    ("", "", 0, 0, Fraction(0, 1)),
    ("a  b", "a\nb", 0, 0, Fraction(0, 4)),
    ("知识库", "知识仓库", 0, 1, Fraction(1, 7)),
    ("价格是5元。", "价格是6元。", 1, 1, Fraction(2, 12)),
]


@pytest.mark.parametrize(("old", "new", "removed", "added", "fraction"), CONTRACTS)
def test_an_edit_by_hand(old: str, new: str, removed: int, added: int, fraction: Fraction) -> None:
    found = edit(old, new)
    assert (found.removed, found.added, found.fraction) == (removed, added, fraction)


@pytest.mark.parametrize(
    ("fraction", "name"),
    [
        (Fraction(0), "small"),
        (Fraction(5, 100), "small"),
        (Fraction(50_001, 1_000_000), "medium"),
        (Fraction(20, 100), "medium"),
        (Fraction(21, 100), "large"),
        (Fraction(50, 100), "large"),
        (Fraction(51, 100), "extreme"),
        (Fraction(1), "extreme"),
    ],
)
def test_the_upper_end_of_a_band_belongs_to_it(fraction: Fraction, name: str) -> None:
    assert band(fraction) == name


def test_an_edit_at_both_ends_of_a_long_repetitive_text_is_found_quickly() -> None:
    """The standard matcher compares each of 20,000 like atoms with each other."""
    middle = "the cat , and the dog . " * 4_000
    found = edit(f"x {middle} y", f"z {middle} w")
    assert (found.removed, found.added) == (2, 2)


def test_every_published_edit_fraction_is_reproduced(shared: Path) -> None:
    with gzip.open(shared / "revisions" / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            found = edit(pair["old_text"], pair["new_text"])
            assert float(found.fraction) == pytest.approx(pair["edit_fraction"], abs=1e-6)
            assert (found.old_atoms, found.new_atoms) == (pair["n_atoms_old"], pair["n_atoms_new"])
            assert found.band == pair["band"]
