"""Published sets: `chunking_evaluation`'s folder, and files in the format of SQuAD."""

import csv
import gzip
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from variorum.lab.questions.clusters import Parts, linked, parts_of
from variorum.lab.questions.faults import refuse_dataset
from variorum.lab.questions.records import (
    Dataset,
    DocumentKey,
    Passage,
    Place,
    Question,
    Reading,
)
from variorum.lab.questions.splits import (
    CommittedSplit,
    committed_split,
    drawn_split,
    hashed_split,
)

COPY_CHARACTERS = 20
"""Evidence at least this long answers wherever it stands word for word in its document."""

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_SQUAD_NAMES = {"xquad.en": "xquad", "xquad.zh": "xquad", "DRCD_dev": "drcd"}
_QUESTIONS = "questions_df.csv"


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question as its source has it, before its cluster and split are known."""

    query_id: str
    text: str
    document: str
    passages: tuple[tuple[Passage, ...], ...]


def read_file(path: Path) -> bytes:
    """The bytes of a file, unpacked where its name ends in `.gz`."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def file_hash(path: Path) -> str:
    """The SHA-256 of a file as it lies there."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def language_of(text: str) -> str:
    """`zh` where a fifth of the characters are Han, else `en`."""
    return "zh" if 5 * len(_HAN.findall(text)) >= len(text) else "en"


def is_chunking_evaluation(path: Path) -> bool:
    """Whether the folder holds that set's table of questions."""
    return path.is_dir() and bool(list(path.glob(f"{_QUESTIONS}*")))


def load_chunking_evaluation(folder: Path) -> Dataset:
    """Five English corpora, each one document, and questions with one or more references.

    A question is used where each of its references stands at its offsets. Clusters are the
    articles within the corpora: see `clusters`.

    Raises:
        InputError: a file is missing or is not as published.
    """
    name = "chunking_evaluation"
    paths = sorted(path for path in folder.iterdir() if re.search(r"\.md(\.gz)?$", path.name))
    texts = {path.name.split(".")[0]: read_file(path).decode("utf-8") for path in paths}
    table = next(folder.glob(f"{_QUESTIONS}*"))
    csv.field_size_limit(2**24)
    rows = list(csv.DictReader(io.StringIO(read_file(table).decode("utf-8"))))
    excluded: dict[str, str] = {}
    drafts = []
    for number, row in enumerate(rows):
        draft = _referenced(f"ce-{number:03d}", row, texts)
        if isinstance(draft, str):
            excluded[f"ce-{number:03d}"] = draft
        else:
            drafts.append(draft)
    parts = {corpus: parts_of(corpus, text) for corpus, text in texts.items()}
    clusters = linked({one.query_id: set(_articles_of(one, parts)) for one in drafts})
    readings = [Reading(DocumentKey(key), text, "text/markdown") for key, text in texts.items()]
    return _dataset(name, name, readings, drafts, clusters, excluded, [*paths, table])


def _referenced(query_id: str, row: Mapping[str, str], texts: Mapping[str, str]) -> _Draft | str:
    """The question, or why it is not used."""
    document = row["corpus_id"]
    if document not in texts:
        return f"its corpus {document} is not there"
    passages = []
    for reference in json.loads(row["references"]):
        start, end = reference["start_index"], reference["end_index"]
        if texts[document][start:end] != reference["content"]:
            return f"a reference is not at {start} to {end}"
        passages.append(Passage(tuple(copies(document, texts[document], start, end))))
    if not passages:
        return "it has no reference"
    return _Draft(query_id, row["question"], document, (tuple(passages),))


def _articles_of(draft: _Draft, parts: Mapping[str, Parts]) -> Iterator[tuple[str, int]]:
    for passage in draft.passages[0]:
        for place in passage.places:
            yield place.document, parts[place.document].of(place.start)


def copies(document: str, text: str, start: int, end: int) -> Iterator[Place]:
    """The place itself, then, of a passage that is not short, those with the same characters."""
    yield Place(document, start, end)
    content = text[start:end]
    if len(content) < COPY_CHARACTERS:
        return
    found = text.find(content)
    while found >= 0:
        if found != start:
            yield Place(document, found, found + len(content))
        found = text.find(content, found + len(content))


def load_squad(path: Path) -> Dataset:
    """Articles of paragraphs, joined with a blank line, and questions with marked answers.

    The evidence is the answer's own characters; where annotators marked several places, any will
    do. A question is used where its answer stands at its offset and is not blank.

    Raises:
        InputError: the file is not in that format.
    """
    name = path.name.removesuffix(".gz").removesuffix(".json")
    articles = _articles(path)
    readings: list[Reading] = []
    drafts: list[_Draft] = []
    excluded: dict[str, str] = {}
    for number, article in enumerate(articles):
        document = f"{number:03d}"
        contexts = [paragraph["context"] for paragraph in article["paragraphs"]]
        readings.append(Reading(DocumentKey(document), "\n\n".join(contexts), "text/plain"))
        for draft, is_usable in _answers(document, article["paragraphs"]):
            if is_usable:
                drafts.append(draft)
            else:
                excluded[draft.query_id] = "no answer stands at its offset"
    clusters = {one.query_id: one.document for one in drafts}
    shown = _SQUAD_NAMES.get(name, name)
    set_name = name.replace(".", "-") if shown == "xquad" else shown
    return _dataset(set_name, shown, readings, drafts, clusters, excluded, [path])


def _articles(path: Path) -> Sequence[Any]:
    try:
        articles = json.loads(read_file(path))["data"]
        contexts = [one["context"] for article in articles for one in article["paragraphs"]]
    except (ValueError, KeyError, TypeError):
        articles, contexts = (), []
    if not contexts:
        refuse_dataset(path, "SQuAD's JSON: data, paragraphs, context, qas", "something else")
    return list(articles)


def _answers(document: str, paragraphs: Sequence[Any]) -> Iterator[tuple[_Draft, bool]]:
    """Each question, and whether it is as its source says."""
    offset = 0
    for paragraph in paragraphs:
        context = paragraph["context"]
        for asked in paragraph["qas"]:
            places = {
                Place(document, offset + answer["answer_start"], offset + _end(answer))
                for answer in asked["answers"]
                if answer["text"].strip()
                and context[answer["answer_start"] : _end(answer)] == answer["text"]
            }
            alternatives = ((Passage(tuple(sorted(places))),),) if places else ()
            draft = _Draft(str(asked["id"]), asked["question"], document, alternatives)
            yield draft, bool(places) or bool(asked.get("is_impossible"))
        offset += len(context) + 2


def _end(answer: Mapping[str, Any]) -> int:
    return int(answer["answer_start"]) + len(answer["text"])


def _dataset(
    name: str,
    split_name: str,
    readings: Sequence[Reading],
    drafts: Sequence[_Draft],
    clusters: Mapping[str, str],
    excluded: Mapping[str, str],
    paths: Sequence[Path],
) -> Dataset:
    split = committed_split(split_name)
    language = language_of(" ".join(one.text for one in drafts))
    questions = tuple(
        Question(
            one.query_id,
            one.text,
            language,
            DocumentKey(one.document),
            one.passages,
            clusters[one.query_id],
            _side(split, split_name, one.query_id, clusters[one.query_id]),
        )
        for one in drafts
    )
    files = {path.name: file_hash(path) for path in sorted(paths)}
    return Dataset(name, tuple(readings), questions, "", dict(excluded), files)


def _side(split: CommittedSplit | None, name: str, query_id: str, cluster: str) -> Any:
    if split is None or query_id not in split.split:
        return hashed_split(name, cluster)
    return split.split[query_id]


def draw(dataset: Dataset, name: str) -> Mapping[str, object]:
    """The content of a committed split for the questions of a published set."""
    clusters = {one.query_id: one.cluster for one in dataset.questions}
    strata = {
        one.cluster: one.document.document if name == "chunking_evaluation" else name
        for one in dataset.questions
    }
    drawn = drawn_split(name, clusters, strata)
    sides = {
        side: [one.query_id for one in dataset.questions if drawn.split[one.query_id] == side]
        for side in ("tune", "held-out")
    }
    return {**sides, "excluded": dict(dataset.excluded)}
