"""How far an edit reaches under `anchored`: the bound that its docstring proves."""

import gzip
import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unit.chunking.fakes import Atoms
from variorum.chunking import TokenMap, chunker_from_spec
from variorum.chunking.anchored import REACH_AFTER, REACH_BEFORE
from variorum.formats import parse
from variorum.records.text import Structure, Text

PAGES = Path(__file__).parent.parent / "golden" / "chunking"
PLAIN = Structure((), parser="none")
UNDIVIDED = 1_000_000
EDITS_A_PAGE = 5


def ranges(text, structure, min_tokens):
    """What stands between peaks: no range is large enough to be divided."""
    chunker = chunker_from_spec(f"anchored(max_tokens={UNDIVIDED}, min_tokens={min_tokens})")
    spans = chunker.spans(text, structure, TokenMap.of(text, Atoms()))
    return [text[start:end] for start, end in spans]


def most_changed(inserted, min_tokens):
    """The bound of the docstring."""
    return 4 + (REACH_BEFORE + REACH_AFTER + Atoms().count(inserted)) // min_tokens


@pytest.mark.parametrize("page", ["sample.en.md", "sample.zh.md"])
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_an_edit_changes_no_more_ranges_than_the_bound_allows(page, data):
    old = (PAGES / page).read_text(encoding="utf-8") * 2
    start = data.draw(st.integers(0, len(old)))
    end = data.draw(st.integers(start, min(len(old), start + 80)))
    inserted = data.draw(st.one_of(st.text(max_size=8), st.sampled_from([old[:40], "\n\n", "。"])))
    least = data.draw(st.sampled_from([5, 20, 44]))
    new = old[:start] + inserted + old[end:]
    known = set(ranges(old, PLAIN, least))
    changed = [one for one in ranges(new, PLAIN, least) if one not in known]
    assert len(changed) <= most_changed(inserted, least)


def read_alike(old, new):
    """Whether the parser finds the same blocks, their places apart."""
    kinds = [[(block.kind, block.depth) for block in one.blocks] for one in (old, new)]
    return kinds[0] == kinds[1]


def test_a_character_changed_in_a_real_page_changes_four_ranges_at_most(shared):
    random = Random(7)
    checked = 0
    with gzip.open(shared / "revisions" / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        pages = [json.loads(line)["new_text"] for line in lines]
    for old in (page.replace("\r\n", "\n") for page in pages):
        before = parse(Text(old), "text/markdown")
        known = set(ranges(old, before, 44))
        for place in random.choices(range(len(old)), k=EDITS_A_PAGE):
            new = old[:place] + random.choice(old) + old[place + random.randrange(2) :]
            after = parse(Text(new), "text/markdown")
            if read_alike(before, after):
                checked += 1
                assert sum(one not in known for one in ranges(new, after, 44)) <= 4
    assert checked > 0.9 * EDITS_A_PAGE * len(pages)
