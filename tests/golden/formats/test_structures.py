"""The structure that each sample has always been given: a change lays users' documents out anew.

A `.structure` file holds a block a line: its range, kind and depth, path, the range that it
repeats, and its first characters. `python tests/golden/formats/test_structures.py` writes them anew
after a change that is meant, which also raises the parser's number in `PARSERS`.
"""

import json
from pathlib import Path

import pytest

from variorum.formats import parse
from variorum.records.text import Block, Text
from variorum.sources.naming import content_type_of

FOLDER = Path(__file__).parent
SAMPLES = sorted(
    path for path in FOLDER.iterdir() if path.suffix not in (".py", ".structure", ".pyc", "")
)


def line(characters: str, block: Block) -> str:
    repeats = f" repeats {block.repeats.start}-{block.repeats.end}" if block.repeats else ""
    path = " > ".join(block.heading_path)
    words = json.dumps(characters[block.start : block.end][:60], ensure_ascii=False)
    return f"{block.start}-{block.end} {block.kind} {block.depth} [{path}]{repeats} {words}"


def structure_lines(sample: Path) -> str:
    characters = sample.read_bytes().decode()
    structure = parse(Text(characters), content_type_of(sample.name.encode()))
    metadata = json.dumps(dict(structure.metadata), ensure_ascii=False)
    lines = [f"{structure.parser} {metadata} {structure.fallback!r}"]
    lines += [line(characters, block) for block in structure.blocks]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_structure_of_a_sample_is_the_recorded_one(sample: Path) -> None:
    recorded = sample.with_name(sample.name + ".structure")
    assert structure_lines(sample) == recorded.read_text(encoding="utf-8")


if __name__ == "__main__":
    for path in SAMPLES:
        recorded = path.with_name(path.name + ".structure")
        recorded.write_text(structure_lines(path), encoding="utf-8")
