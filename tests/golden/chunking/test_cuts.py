"""The cuts of every chunker on two pages, pinned.

`python -m golden.chunking.test_cuts` (with `tests` on the path) prints the cuts as they are now.
"""

import json
from functools import partial
from pathlib import Path

import pytest

from unit.chunking.fakes import FakeSizer, fake_embed, previous, recipe, structure_of
from variorum import chunking

HERE = Path(__file__).parent
EXPECTED = HERE / "cuts.json"
SMALL = "min_tokens=24, max_tokens=60, primary_mask_bits=5, backup_mask_bits=3"
SPECS = [
    "anchored(max_tokens=60, min_tokens=16)",
    "anchored(max_tokens=220, min_tokens=44)",
    "fixed(max_tokens=50, overlap_tokens=0)",
    "fixed(max_tokens=50, overlap_tokens=10)",
    "recursive(max_tokens=60, terminators=any)",
    "recursive(max_tokens=60, terminators=spaced)",
    "recursive(max_tokens=60, rules=guide)",
    "recursive(max_tokens=60, rules=default)",
    "fixed_characters(max_characters=240)",
    f"content_defined({SMALL})",
    f"content_defined({SMALL}, words=segmented)",
    "structural(max_tokens=80, min_tokens=16)",
    "semantic(max_tokens=80, min_tokens=16, percentile=70)",
    "semantic(max_tokens=80, min_tokens=16, k=1)",
]
lay_out = partial(chunking.lay_out, embed=fake_embed)
PLANNED = "planner over "
MESSAGE = (
    "the cuts of {} changed: released like this, it would re-embed every corpus. "
    "If that is meant, give the chunker a new name or setting and pin the new cuts beside the old"
)


def cuts(page: str, spec: str) -> list[str]:
    """The first twelve characters of each chunk and its tokens: readable, and exact enough."""
    text = (HERE / page).read_text(encoding="utf-8")
    layout = lay_out(text, structure_of(text), recipe(spec), FakeSizer())
    return _shown(text, layout)


def planned_cuts(page: str, spec: str) -> list[str]:
    """The cuts under the planner after a sentence is added in the middle."""
    old = (HERE / page).read_text(encoding="utf-8")
    planned = recipe(spec, planner=True)
    first = lay_out(old, structure_of(old), planned, FakeSizer())
    middle = old.index("##", len(old) // 3)
    new = f"{old[:middle]}Added sentence. 新的一句。\n\n{old[middle:]}"
    layout = lay_out(new, structure_of(new), planned, FakeSizer(), previous(old, first))
    return _shown(new, layout)


def _shown(text, layout) -> list[str]:
    return [f"{chunk.start} {chunk.tokens} {text[chunk.start :][:12]!r}" for chunk in layout.chunks]


def current() -> dict[str, list[str]]:
    pages = sorted(page.name for page in HERE.glob("sample.*.md"))
    plain = {f"{page} {spec}": cuts(page, spec) for page in pages for spec in SPECS}
    planned = {
        f"{page} {PLANNED}{spec}": planned_cuts(page, spec)
        for page in pages
        for spec in SPECS
        if "overlap_tokens=10" not in spec
    }
    return plain | planned


@pytest.mark.parametrize("name", sorted(json.loads(EXPECTED.read_text(encoding="utf-8"))))
def test_the_cuts_are_those_that_corpora_were_embedded_with(name):
    page, _, spec = name.partition(" ")
    if spec.startswith(PLANNED):
        found = planned_cuts(page, spec.removeprefix(PLANNED))
    else:
        found = cuts(page, spec)
    assert found == json.loads(EXPECTED.read_text(encoding="utf-8"))[name], MESSAGE.format(spec)


if __name__ == "__main__":
    print(json.dumps(current(), ensure_ascii=False, indent=1))
