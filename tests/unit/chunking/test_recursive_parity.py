"""The `default` rules against the recursive character splitter that made them common.

Two differences are meant. That splitter sees no line end in CR LF, so texts are folded first, as a
layout folds them. And it cuts a word over the maximum after so many characters as the sum of their
counts allows, ours after so many tokens; texts with such a word are left out.
"""

import gzip
import json
from pathlib import Path

import pytest

from unit.chunking.fakes import Atoms, structure_of
from variorum.chunking import Recursive, TokenMap
from variorum.chunking.render import fold_line_ends

splitters = pytest.importorskip(
    "langchain_text_splitters", reason="langchain-text-splitters is not installed"
)

REVISIONS = Path(__file__).parents[3].parent / "shared" / "revisions" / "pairs.jsonl.gz"
ATOMS = Atoms()


def theirs(text: str, max_tokens: int) -> list[str]:
    splitter = splitters.RecursiveCharacterTextSplitter(
        chunk_size=max_tokens, chunk_overlap=0, length_function=ATOMS.count
    )
    return splitter.split_text(text)


def ours(text: str, max_tokens: int) -> list[str]:
    chunker = Recursive(max_tokens, rules="default")
    spans = chunker.spans(text, structure_of(text), TokenMap.of(text, ATOMS))
    slices = (text[start:end].strip() for start, end in spans)
    return [one for one in slices if one]


def is_comparable(text: str, max_tokens: int) -> bool:
    """Whether no word is so long that it is cut inside: that splitter counts its letters then."""
    return all(ATOMS.count(word) < max_tokens for word in text.split())


@pytest.mark.skipif(not REVISIONS.exists(), reason="the revision pairs are not beside the project")
@pytest.mark.parametrize("max_tokens", [100, 400])
def test_real_pages_are_cut_alike(max_tokens):
    compared = 0
    with gzip.open(REVISIONS, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = fold_line_ends(json.loads(line)["new_text"])
            if is_comparable(text, max_tokens):
                compared += 1
                assert ours(text, max_tokens) == theirs(text, max_tokens)
    assert compared > 60
