"""Files of revisions: three shapes told apart, hashes checked, faults named by line."""

import gzip
import json
from pathlib import Path

import pytest

from variorum.lab.histories import Revised, read_histories
from variorum.lab.record import text_sha256
from variorum.records.errors import VariorumError

PAIR = {
    "id": "p1",
    "repo": "r",
    "lang": "en",
    "path": "a.md",
    "old_path": "a.txt",
    "old_text": "old",
    "new_text": "new",
    "new_sha256": text_sha256("new"),
}
CHAIN = {
    "id": "c1",
    "repo": "r",
    "lang": "zh",
    "path": "a.md",
    "revisions": [{"text": "一"}, {"text": "二", "path": "b.rst"}, {"text": "三"}],
}


def written(folder: Path, *records: object, name: str = "file.jsonl") -> Path:
    path = folder / name
    content = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


@pytest.mark.parametrize("name", ["file.jsonl", "file.jsonl.gz"])
def test_pairs_and_chains_are_read_with_their_types(tmp_path: Path, name: str) -> None:
    pair, chain = read_histories(written(tmp_path, PAIR, CHAIN, name=name))
    assert (pair.shape, pair.cohort, pair.repository) == ("pairs", "primary", "r")
    assert pair.revisions == (Revised("old", "text/plain"), Revised("new", "text/markdown"))
    assert chain.shape == "chains"
    assert [one.content_type for one in chain.revisions] == [
        "text/markdown",
        "text/x-rst",
        "text/markdown",
    ]


def test_sentences_are_joined_without_boundaries_and_versions_ordered_as_numbers(
    tmp_path: Path,
) -> None:
    rows = [
        {"id": "2210.1", "version": version, "text": text}
        for version, text in [("v10", "Last."), ("v2", "One ."), ("v2", " Two .")]
    ]
    (paper,) = read_histories(written(tmp_path, *rows))
    assert (paper.shape, paper.repository) == ("sentences", "2210.1")
    assert [one.text for one in paper.revisions] == ["One . Two .", "Last."]


def test_the_limit_is_a_language_s_own(tmp_path: Path) -> None:
    records = [
        {**PAIR, "id": f"{lang}{n}", "lang": lang} for n in range(3) for lang in ("zh", "en")
    ]
    found = read_histories(written(tmp_path, *records), limit=2)
    assert [one.document for one in found] == ["en0", "en1", "zh0", "zh1"]


def test_the_hash_of_a_history_is_that_of_its_texts(tmp_path: Path) -> None:
    (one,) = read_histories(written(tmp_path, PAIR))
    (same,) = read_histories(written(tmp_path, {**PAIR, "band": "large"}))
    changed = {**PAIR, "old_text": "older"}
    (other,) = read_histories(written(tmp_path, changed))
    assert one.sha256 == same.sha256 != other.sha256


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({**PAIR, "new_sha256": "0" * 64}, "does not have the hash"),
        ({"id": "x"}, "version, text"),
        ({**PAIR, "cohort": "spare"}, "cohort"),
        ({**CHAIN, "revisions": []}, "without revisions"),
        ([1], "no JSON object"),
    ],
)
def test_a_line_that_is_no_revision_is_named(tmp_path: Path, record: object, words: str) -> None:
    with pytest.raises(VariorumError) as caught:
        read_histories(written(tmp_path, PAIR, record))
    assert caught.value.kind == "bad-revisions"
    assert caught.value.subject.endswith("file.jsonl:2")
    assert words in caught.value.found


def test_a_file_that_is_missing_or_no_gzip_is_told(tmp_path: Path) -> None:
    with pytest.raises(VariorumError) as caught:
        read_histories(tmp_path / "none.jsonl")
    assert caught.value.kind == "no-such-file"
    (tmp_path / "bad.jsonl.gz").write_bytes(b"not gzip")
    with pytest.raises(VariorumError) as caught:
        read_histories(tmp_path / "bad.jsonl.gz")
    assert caught.value.kind == "bad-revisions"


def test_the_public_files_are_read_whole_and_their_hashes_hold(shared: Path) -> None:
    folder = shared / "revisions"
    counts = {
        name: len(read_histories(folder / f"{name}.jsonl.gz"))
        for name in ("pairs", "chains", "calibration")
    }
    assert counts == {"pairs": 120, "chains": 24, "calibration": 12}
