"""The blocks of one program in each language, as recorded in the golden folder."""

from pathlib import Path

import pytest

from variorum.formats import parse
from variorum.records.text import Text
from variorum.sources.naming import content_type_of

FOLDER = Path(__file__).parents[2] / "golden" / "code"
PROGRAMS = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".blocks")


def described(name: str) -> str:
    """One line for each block: its lines, kind and path; then the imports."""
    text = Text((FOLDER / name).read_text(encoding="utf-8"))
    structure = parse(text, content_type_of(name.encode()))
    rows = [
        f"{text.line_of(block.start)}-{text.line_of(block.end - 1)} {block.kind.value} "
        + " › ".join(block.heading_path)
        for block in structure.blocks
    ]
    imports = [repr(text.characters[span.start : span.end]) for span in structure.imports]
    lines = [structure.parser + structure.fallback, *rows, *imports]
    return "".join(f"{line.rstrip()}\n" for line in lines)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_blocks_of_a_program_are_the_recorded_ones(name: str) -> None:
    assert described(name) == (FOLDER / f"{name}.blocks").read_text(encoding="utf-8")
