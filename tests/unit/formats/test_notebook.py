import json
from typing import Any

import pytest

from variorum.formats import parse
from variorum.records.text import BlockKind, Structure, Text

K = BlockKind


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}, indent=1)


def markdown(*source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": list(source)}


def code(*source: str) -> dict[str, Any]:
    outputs = [{"name": "stdout", "output_type": "stream", "text": ["printed\n"]}]
    return {"cell_type": "code", "id": "a1", "outputs": outputs, "source": list(source)}


def structure_of(characters: str) -> Structure:
    return parse(Text(characters), "application/x-ipynb+json")


def told(characters: str) -> list[tuple[BlockKind, tuple[str, ...], str]]:
    blocks = structure_of(characters).blocks
    read = [b for b in blocks if b.kind is not K.OTHER]
    return [(b.kind, b.heading_path, characters[b.start : b.end]) for b in read]


def test_cells_are_blocks_under_the_headings_before_them() -> None:
    source = notebook(
        markdown("# Tité 😀\n", "\n", "one\n", "two"), code("x = 1\n", "x"), markdown("## Sub")
    )
    assert told(source) == [
        (K.HEADING, ("Tité 😀",), '"# Tit\\u00e9 \\ud83d\\ude00\\n",\n    "\\n",'),
        (K.PARAGRAPH, ("Tité 😀",), '"one\\n",\n    "two"\n   ]'),
        (K.CODE, ("Tité 😀",), '"x = 1\\n",\n    "x"\n   ]'),
        (K.HEADING, ("Tité 😀", "Sub"), '"## Sub"\n   ]'),
    ]


def test_a_source_may_be_one_string() -> None:
    cell = {"cell_type": "markdown", "source": "# A\n\n|a|\n|-|\n|1|\r\n\r\nend"}
    source = notebook(cell)
    assert [(kind, text) for kind, _, text in told(source)] == [
        (K.HEADING, '"# A\\n\\n'),
        (K.TABLE, "|a|\\n|-|\\n"),
        (K.ROW, "|1|\\r\\n\\r\\n"),
        (K.PARAGRAPH, 'end"'),
    ]
    row = next(b for b in structure_of(source).blocks if b.kind is K.ROW)
    assert row.repeats
    assert source[slice(*row.repeats)] == "|a|\\n|-|\\n"


def test_outputs_are_other() -> None:
    source = notebook(code("x"), code("y"))
    place = source.index("printed")
    block = next(b for b in structure_of(source).blocks if b.start <= place < b.end)
    assert block.kind is K.OTHER


def test_the_notebook_describes_itself() -> None:
    source = notebook(
        title="T", kernelspec={"display_name": "Python 3"}, language_info={"name": "python"}
    )
    assert structure_of(source).metadata == {
        "title": "T",
        "kernel": "Python 3",
        "language": "python",
    }


def test_a_heading_without_words_names_nothing() -> None:
    assert [path for _, path, _ in told(notebook(markdown("# A\n"), markdown("##\n", "x")))] == [
        *(("A",), ("A",), ("A",))
    ]


def test_empty_cells_and_odd_ones_are_passed_over() -> None:
    source = notebook({}, markdown(), markdown("  \n"), {"cell_type": "code", "source": 3})
    assert told(source) == []


@pytest.mark.parametrize("source", ["{", '{"cells": 1}', "[]", '{"worksheets": []}'])
def test_what_is_no_notebook_is_plain_text_and_says_so(source: str) -> None:
    structure = structure_of(source)
    assert structure.parser == "plain"
    assert structure.fallback.startswith("not parsed as a notebook: ")
