"""The paper's canonical block text, and texts that are parsed once."""

import pytest

from unit.lab.words import Words
from variorum.lab.versions import Version, canonical, under_rule

MARKDOWN = (
    "# A  title\n\nOne line\nand   the next.\n\n- item one\n- item\ttwo\n\n\n\n第一段\n第二行。\n"
)


def test_each_block_is_one_line_and_blank_lines_stand_between() -> None:
    assert canonical(MARKDOWN, "text/markdown").split("\n\n") == [
        "# A title",
        "One line and the next.",
        "- item one",
        "- item two",
        "第一段 第二行。",
    ]


def test_a_canonical_text_is_its_own_canonical_form() -> None:
    once = canonical(MARKDOWN, "text/markdown")
    assert canonical(once, "text/markdown") == once


@pytest.mark.parametrize("text", ["", " \n\t\n", "\n\n"])
def test_a_blank_text_has_no_block(text: str) -> None:
    assert canonical(text, "text/markdown") == ""


def test_no_word_is_lost_or_added() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\ntail"
    assert canonical(table, "text/markdown").split() == table.split()


def test_the_exact_rule_changes_nothing() -> None:
    assert under_rule(MARKDOWN, "text/markdown", "exact") == MARKDOWN
    assert under_rule(MARKDOWN, "text/markdown", "canonical") != MARKDOWN


def test_a_version_has_its_structure_and_tokens_once() -> None:
    version = Version("# T\n\nwords here", "text/markdown", Words())
    assert version.structure is version.structure
    assert version.tokens.total == 4
