"""The studies of strategies and of windows count what can be counted by hand."""

from collections.abc import Sequence

import numpy as np
import pytest
from bench.revisions import Pair
from bench.strategies import Material, figures_of
from bench.subjects import Ours
from bench.windows import cost

from recall_words import dataset, passage, question, reading
from unit.lab.words import WordSizer
from variorum.lab.counting import StudySizer
from variorum.lab.versions import Version
from variorum.records.protocols import Vectors

WORDS = " ".join(f"w{number:03d}" for number in range(100))
MARKDOWN = "text/markdown"


def sizer() -> StudySizer:
    return StudySizer(WordSizer(), 1_000)


def far(inputs: Sequence[str]) -> Vectors:
    """Every window is as far from the others as can be."""
    return np.eye(len(inputs), dtype=np.float32)


def test_the_measured_overlap_factor_nears_the_expected_one_as_texts_grow() -> None:
    counts = sizer()
    asked = question("q", "?", "a", (passage("a", (0, 4)),))
    material = Material.of(dataset([reading("a", WORDS)], [asked]), counts)
    subject = Ours("fixed(max_tokens=20, overlap_tokens=10)")
    found = figures_of(material, material.units(subject, counts), 2.0)
    # Windows at 0, 10, ... 80 hold 20 words each: 180 of a text of 100.
    assert found["units"] == 9
    assert found["overlap_factor"] == 1.8
    assert found["expected_overlap_factor"] == 2.0
    assert found["vectors_per_thousand_tokens"] == 90
    assert found["intact_span_coverage"]["mean"] == 1


def pair(old: str, new: str, counts: StudySizer) -> Pair:
    sides = (Version(one, MARKDOWN, counts.tokenizer) for one in (old, new))
    return Pair("a", "r", "en", *sides)


SENTENCES = [f"Sentence number {number} stands here now." for number in range(12)]


def test_an_edit_of_one_sentence_asks_for_the_three_windows_that_hold_it() -> None:
    counts = sizer()
    edited = [*SENTENCES[:6], "Sentence number six stands here now.", *SENTENCES[7:]]
    one = pair(" ".join(SENTENCES), " ".join(edited), counts)
    found = cost(one, "semantic(max_tokens=40, min_tokens=10)", counts, far)
    # Three windows of three sentences of six words, with two special tokens each.
    assert found.windows == 3 * (3 * 6 + 2)


@pytest.mark.parametrize("planner", [False, True])
def test_a_chunker_without_vectors_has_no_windows(planner: bool) -> None:
    counts = sizer()
    one = pair(" ".join(SENTENCES), " ".join(SENTENCES[1:]), counts)
    found = cost(one, "anchored(max_tokens=40, min_tokens=10)", counts, far, planner=planner)
    assert found.windows == 0
    assert 0 < found.inputs <= found.total
