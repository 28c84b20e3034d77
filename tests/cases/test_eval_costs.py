"""Cases of the area eval that are about costs: what made published comparisons mean nothing."""

from pathlib import Path

from unit.lab.revisions import pair, write_records
from variorum.lab.recompute import recompute
from variorum.lab.trial import Settings


def test_EVA_06_documents_of_a_single_chunk_are_warned_about(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(70))
    records = [pair(f"{n}.txt", f"{words} {n}", f"{words} {n} more") for n in range(50)]
    file = write_records(tmp_path / "short.jsonl", records)
    specs = ["fixed(max_tokens=512)", "recursive(max_tokens=512)", "anchored(max_tokens=512)"]
    settings = Settings("hashing(max_tokens=4096)")
    study = recompute(
        file, specs, settings, tmp_path / "out", lambda *_: None, command="x", workers=1
    )
    sizes = study.table("sizes")
    assert {row[-1] for row in sizes.rows} == {1}
    assert "cannot tell" in sizes.notes[0]
    assert len({row[9] for row in study.table("means").rows if row[6] == "recompute_fraction"}) == 1
