"""Questions about documents that change: labels by hash and range, over pairs of revisions."""

import gzip
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from variorum.lab.questions.faults import refuse_dataset
from variorum.lab.questions.published import file_hash
from variorum.lab.questions.records import (
    Dataset,
    DocumentKey,
    Passage,
    Place,
    Question,
    Reading,
)
from variorum.lab.questions.splits import hashed_split
from variorum.sources.naming import content_type_of

PREFIX = "versioned-"
OLD, NEW = "old", "new"


class _Version(NamedTuple):
    sha256: str
    characters: str
    content_type: str


def is_versioned(name: str) -> bool:
    """Whether `name` is a set of this package: `versioned-en`, `versioned-zh`."""
    return name.startswith(PREFIX) and _labels(name).is_file()


def load_versioned(name: str, revisions: Path) -> Dataset:
    """The labels that this package keeps, over the texts of a file of revision pairs.

    Every label is a question about one version of a document; a question has two. All pairs of the
    language make the pool, each in its old version but the one asked about.

    Raises:
        InputError: kind `bad-questions`: the file is not one of pairs, or lacks a text that a label
            is about.
    """
    labels = [json.loads(line) for line in _labels(name).read_text("utf-8").splitlines() if line]
    language = name.removeprefix(PREFIX)
    pairs = dict(_pairs(revisions, language))
    asked = {label["pair"] for label in labels}
    readings = [
        Reading(DocumentKey(pair, version), one.characters, one.content_type)
        for pair, versions in pairs.items()
        for version, one in versions.items()
        if version == OLD or pair in asked
    ]
    questions = [
        _question(label, version, pairs, revisions) for label in labels for version in (OLD, NEW)
    ]
    hashes = {revisions.name: file_hash(revisions)}
    return Dataset(name, tuple(readings), tuple(questions), OLD, {}, hashes)


def _labels(name: str) -> Any:
    file = f"versioned.{name.removeprefix(PREFIX)}.jsonl"
    return files("variorum.lab.questions") / file


def _pairs(path: Path, language: str) -> Iterator[tuple[str, Mapping[str, _Version]]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                if record["lang"] == language:
                    yield record["id"], {OLD: _version(record, OLD), NEW: _version(record, NEW)}
    except (OSError, ValueError, KeyError) as error:
        refuse_dataset(path, "a gzip file of revision pairs", f"{type(error).__name__}: {error}")


def _version(record: Mapping[str, str], version: str) -> _Version:
    path = record["old_path"] if version == OLD else record["path"]
    return _Version(
        record[f"{version}_sha256"],
        record[f"{version}_text"],
        content_type_of(path.encode()),
    )


def _question(
    label: Mapping[str, Any],
    version: str,
    pairs: Mapping[str, Mapping[str, _Version]],
    revisions: Path,
) -> Question:
    pair, side = label["pair"], label[version]
    if pair not in pairs or pairs[pair][version].sha256 != side["sha256"]:
        refuse_dataset(revisions, f"the {version} text of {pair}", "another text, or none")
    alternatives = tuple(
        tuple(Passage((Place(pair, start, end),)) for start, end in spans)
        for spans in (side["spans"] if side["answerable"] else ())
    )
    return Question(
        f"{label['query_id']}@{version}",
        label["question"],
        label["lang"],
        DocumentKey(pair, version),
        alternatives,
        pair,
        hashed_split(PREFIX, pair),
        label["kind"],
    )
