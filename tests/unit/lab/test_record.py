"""A table has its origin beside it, and the same run writes the same bytes."""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

from variorum.lab.record import (
    Run,
    Table,
    command_line,
    file_sha256,
    printed,
    text_sha256,
    write_audit,
    write_table,
)

TABLE = Table(
    "means",
    "Means",
    ("chunker", "R"),
    (("fixed", Fraction(1, 3)), ("a, “b”\n", None), ("中文", 12)),
)
RUN = Run("variorum lab recompute", {"pairs": "ab"}, {"cap": 512}, {"fixed": "fixed(max_tokens=9)"})


def test_cells_are_printed_exactly_and_a_missing_one_is_na() -> None:
    assert [printed(one) for one in (Fraction(1, 3), 12, None, 0.5, "x")] == [
        "0.333333",
        "12",
        "NA",
        "0.500000",
        "x",
    ]


def test_the_same_run_twice_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_table(tmp_path / name, TABLE, RUN)
    for name in ("means.csv", "means.json"):
        first, second = ((tmp_path / place / name).read_bytes() for place in ("one", "two"))
        assert first == second
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["means.csv", "means.json"]


def test_the_record_names_inputs_recipes_versions_seed_command_and_the_tables_hash(
    tmp_path: Path,
) -> None:
    write_table(tmp_path, TABLE, RUN)
    record = json.loads((tmp_path / "means.json").read_text())
    content = (tmp_path / "means.csv").read_bytes()
    assert record["sha256"] == hashlib.sha256(content).hexdigest()
    assert record["sha256"] == file_sha256(tmp_path / "means.csv")
    assert record["inputs_sha256"] == {"pairs": "ab"}
    assert record["recipes"] == {"fixed": "fixed(max_tokens=9)"}
    assert record["command"] == "variorum lab recompute"
    assert record["statistics"]["seed"] == RUN.seed
    assert record["versions"]["variorum"]
    assert record["run"] == RUN.fingerprint


def test_a_run_is_named_by_what_made_it_and_not_by_how_it_was_typed() -> None:
    again = Run("other words", RUN.inputs, RUN.settings, RUN.recipes)
    assert again.fingerprint == RUN.fingerprint
    assert Run(RUN.command, {"pairs": "cd"}, RUN.settings).fingerprint != RUN.fingerprint


def test_an_audit_keeps_fractions_exact(tmp_path: Path) -> None:
    write_audit(tmp_path, [{"document": "文", "R": Fraction(2, 6), "failure": None}])
    (line,) = (tmp_path / "audit.jsonl").read_text().splitlines()
    assert json.loads(line) == {"document": "文", "R": "1/3", "failure": None}


def test_a_command_line_can_be_pasted_into_a_shell() -> None:
    given = ["lab", "recompute", "--chunker", "fixed(max_tokens=304)", "it's"]
    assert (
        command_line(given) == "variorum lab recompute --chunker 'fixed(max_tokens=304)' 'it'\\''s'"
    )


def test_a_text_with_a_lone_surrogate_has_a_hash() -> None:
    assert text_sha256("a\ud800") != text_sha256("a")
