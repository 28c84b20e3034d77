"""Histories of documents: pairs of revisions, chains of them, and tables of loose sentences.

A file holds one JSON object a line, gzip-compressed where its name ends in `.gz`. Three shapes are
told apart by their keys and never averaged together:

- `pairs`: `id`, `repo`, `lang`, `path`, `old_path`, `old_text`, `new_text`, `old_sha256`,
  `new_sha256`; optional `band`, `cohort`.
- `chains`: `id`, `repo`, `lang`, `path`, `revisions` of `text`, `sha256` and optional `path`, the
  oldest first; optional `cohort`.
- `sentences`: one row a sentence, `id`, `version` and `text`, as extracted from papers without
  paragraph boundaries. The sentences of a version are joined by a blank; versions are ordered as
  numbers where they are numbers.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NoReturn

from variorum.lab.record import text_sha256
from variorum.records.errors import InputError, NotFoundError
from variorum.sources.naming import content_type_of

Shape = Literal["pairs", "chains", "sentences"]
COHORTS = ("primary", "diagnostic", "calibration")


@dataclass(frozen=True, slots=True)
class Revised:
    """One revision of a document: its text and what it is parsed as."""

    text: str
    content_type: str


@dataclass(frozen=True, slots=True)
class History:
    """A document's revisions, oldest first; `repository` is what its neighbours share."""

    document: str
    repository: str
    language: str
    shape: Shape
    cohort: str
    revisions: tuple[Revised, ...]

    @property
    def sha256(self) -> str:
        """Identity of all its texts and their types, in order."""
        parts = [text_sha256(one.text) + one.content_type for one in self.revisions]
        return text_sha256("\n".join([self.document, self.language, *parts]))


def read_histories(path: Path, limit: int | None = None) -> list[History]:
    """Every history of a file, or the first `limit` of each language.

    Raises:
        NotFoundError: kind `no-such-file`.
        InputError: kind `bad-revisions`, for a line that has none of the shapes, or whose text does
            not have the hash that it says.
    """
    found = list(_histories(path, _records(path)))
    if limit is None:
        return found
    languages = sorted({one.language for one in found})
    return [
        one
        for language in languages
        for one in islice((one for one in found if one.language == language), limit)
    ]


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, _record(path, number, line)
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no file of revisions at {path}",
            kind="no-such-file",
            subject=str(path),
            expected="a .jsonl or .jsonl.gz file of pairs, chains or sentences",
            found="nothing",
            remedy="check the path",
        ) from error
    except (OSError, EOFError) as error:
        _refuse(path, 0, f"it cannot be read: {error}")


def _record(path: Path, number: int, line: bytes) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        _refuse(path, number, f"no JSON: {error}")
    if not isinstance(record, dict):
        _refuse(path, number, "no JSON object")
    return record


def _histories(path: Path, records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[History]:
    sentences: list[Mapping[str, Any]] = []
    for number, record in records:
        try:
            if "old_text" in record:
                yield _pair(record)
            elif "revisions" in record:
                yield _chain(record)
            else:
                sentences.append(_sentence(record))
        except (KeyError, TypeError, ValueError) as error:
            _refuse(path, number, f"{type(error).__name__}: {error}")
    yield from _papers(sentences)


def _pair(record: Mapping[str, Any]) -> History:
    old = _revised(record["old_text"], record["old_path"], record.get("old_sha256"))
    new = _revised(record["new_text"], record["path"], record.get("new_sha256"))
    return _history(record, "pairs", (old, new))


def _chain(record: Mapping[str, Any]) -> History:
    revisions = tuple(
        _revised(step["text"], step.get("path", record["path"]), step.get("sha256"))
        for step in record["revisions"]
    )
    if not revisions:
        raise ValueError("a chain without revisions")
    return _history(record, "chains", revisions)


def _history(record: Mapping[str, Any], shape: Shape, revisions: tuple[Revised, ...]) -> History:
    cohort = str(record.get("cohort", COHORTS[0]))
    if cohort not in COHORTS:
        raise ValueError(f"cohort {cohort!r} is none of {', '.join(COHORTS)}")
    return History(
        str(record["id"]),
        str(record.get("repo", record["id"])),
        str(record["lang"]),
        shape,
        cohort,
        revisions,
    )


def _revised(text: str, path: str, sha256: str | None) -> Revised:
    if sha256 is not None and text_sha256(text) != sha256:
        raise ValueError(f"the text of {path} does not have the hash {sha256[:16]}")
    return Revised(text, content_type_of(path.encode()))


def _papers(rows: Sequence[Mapping[str, Any]]) -> Iterator[History]:
    """One history a paper, its sentences joined by blanks: where paragraphs ended is not known."""
    papers: dict[str, dict[str, list[str]]] = {}
    languages: dict[str, str] = {}
    for row in rows:
        versions = papers.setdefault(str(row["id"]), {})
        versions.setdefault(str(row["version"]), []).append(str(row["text"]).strip())
        languages[str(row["id"])] = str(row.get("lang", "en"))
    for name, versions in papers.items():
        texts = [" ".join(versions[key]) for key in sorted(versions, key=_version_order)]
        revisions = tuple(Revised(text, "text/plain") for text in texts)
        yield History(name, name, languages[name], "sentences", COHORTS[0], revisions)


def _sentence(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row itself, which has every key that it needs."""
    missing = [key for key in ("id", "version", "text") if key not in record]
    if missing:
        raise KeyError(f"neither old_text nor revisions, and no {', '.join(missing)}")
    return record


def _version_order(version: str) -> tuple[int, str]:
    digits = version.lstrip("vV")
    return (int(digits), "") if digits.isdecimal() else (1 << 62, version)


def _refuse(path: Path, number: int, found: str) -> NoReturn:
    raise InputError(
        f"line {number} of {path.name} is no revision: {found}",
        kind="bad-revisions",
        subject=f"{path}:{number}",
        expected="a pair, a chain or a sentence; see docs/lab.md",
        found=found,
        remedy="mend or remove the line",
    )
