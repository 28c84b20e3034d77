"""Every case of these areas is a test, found by its id."""

import json
import re
from pathlib import Path

import pytest

AREAS = ["offsets", "limits", "markdown", "html", "code", "semantic-cdc", "unicode", "tokenizer"]
AREAS += ["git", "eval", "incremental", "stale-delete", "files", "atomic-crash", "embeddings"]
AREAS += ["acl", "dates", "retrieval", "citations"]
TESTS = Path(__file__).parent.parent
NAMED = re.compile(r"def test_([A-Z]+)_(\d+)_|\"\"\"([A-Z]+)-(\d+)(?:[.,:; ]|$)", re.MULTILINE)


def ids_of_tests() -> set[str]:
    """Ids in the names of tests, and at the start of their docstrings."""
    found = set()
    for file in TESTS.rglob("test_*.py"):
        for match in NAMED.finditer(file.read_text(encoding="utf-8")):
            area, number = [part for part in match.groups() if part]
            found.add(f"{area}-{number}")
    return found


@pytest.mark.parametrize("area", AREAS)
def test_every_case_of_an_area_is_a_test(shared: Path, area: str) -> None:
    lines = (shared / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    ids = {case["id"] for case in map(json.loads, lines) if case["area"] == area}
    assert ids
    assert ids - ids_of_tests() == set()
