"""A user's own questions: JSON Lines of documents and of questions about them."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from variorum.formats import decode
from variorum.lab.questions.faults import refuse_dataset
from variorum.lab.questions.published import file_hash, language_of
from variorum.lab.questions.records import (
    SPLITS,
    Alternative,
    Dataset,
    DocumentKey,
    Passage,
    Place,
    Question,
    Reading,
)
from variorum.lab.questions.splits import hashed_split
from variorum.records.text import Revision
from variorum.sources.naming import content_type_of

_DOCUMENT_FIELDS = {"document", "text", "path", "content_type"}
_QUESTION_FIELDS = {"query_id", "question", "evidence", "split"}


def load_own(path: Path) -> Dataset:
    """Read a file of lines, each a document or a question.

    A document is `{"document": ID, "path": FILE}`, the file relative to the folder of the set, or
    `{"document": ID, "text": TEXT}`; `content_type` as in a JSON Lines source. A question is
    `{"query_id": ID, "question": TEXT, "evidence": [[PASSAGE, ...], ...]}`, and may name its
    `split`; an empty list says that nothing answers it. A passage is
    `{"document": ID, "start": N, "end": N}` in code points, or `{"document": ID, "quote": TEXT}`,
    which stands wherever the quote does.

    Raises:
        InputError: kind `bad-questions`: a line is not such an object, an id is used twice, a file
            cannot be read, a range or a quote is not in its document.
    """
    lines = list(_lines(path))
    readings = [_reading(path, line) for line in lines if "document" in line]
    texts = {one.key.document: one.characters for one in readings}
    questions = [_question(path, line, texts) for line in lines if "query_id" in line]
    _require_unique(path, [one.key.document for one in readings], "document")
    _require_unique(path, [one.query_id for one in questions], "query_id")
    files = {path.name: file_hash(path)}
    return Dataset(path.stem.split(".")[0], tuple(readings), tuple(questions), "", {}, files)


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except ValueError:
            refuse_dataset(path, "one JSON object a line", f"line {number}: {line[:80]}")
        fields = set(content) if isinstance(content, dict) else {"not an object"}
        known = _DOCUMENT_FIELDS if "document" in fields else _QUESTION_FIELDS
        if not fields <= known or not fields & {"document", "query_id"}:
            expected = "a document or a question, with their fields alone"
            refuse_dataset(path, expected, f"line {number}: {', '.join(sorted(fields - known))}")
        yield content


def _reading(path: Path, line: Mapping[str, Any]) -> Reading:
    document = str(line["document"])
    named = str(line.get("path", ""))
    default = content_type_of(named.encode()) if named else "text/plain"
    content_type = str(line.get("content_type", default))
    if "text" in line:
        return Reading(DocumentKey(document), str(line["text"]), content_type)
    try:
        content = (path.parent / named).read_bytes()
    except OSError as error:
        refuse_dataset(path, f"a file at {named}", error.strerror or str(error))
    text = decode(Revision(content, content_type))
    return Reading(DocumentKey(document), text.characters, content_type)


def _question(path: Path, line: Mapping[str, Any], texts: Mapping[str, str]) -> Question:
    query_id, text = str(line["query_id"]), str(line.get("question", ""))
    evidence = line.get("evidence")
    if not text.strip() or not isinstance(evidence, list):
        refuse_dataset(path, "question, and evidence as a list of lists", query_id)
    alternatives = tuple(_alternative(path, query_id, one, texts) for one in evidence)
    documents = sorted({p.places[0].document for one in alternatives for p in one})
    cluster = documents[0] if documents else query_id
    side = line.get("split") or hashed_split(path.stem, cluster)
    if side not in SPLITS:
        refuse_dataset(path, f"a split of {', '.join(SPLITS)}", f"{query_id}: {side}")
    language = language_of(text)
    return Question(query_id, text, language, DocumentKey(cluster), alternatives, cluster, side)


def _alternative(path: Path, query_id: str, passages: Any, texts: Mapping[str, str]) -> Alternative:
    if not isinstance(passages, list) or not passages:
        refuse_dataset(path, "each alternative a list of passages", query_id)
    return tuple(_passage(path, query_id, one, texts) for one in passages)


def _passage(path: Path, query_id: str, line: Any, texts: Mapping[str, str]) -> Passage:
    fields = set(line) if isinstance(line, dict) else set()
    read: Callable[[Mapping[str, Any], str], tuple[Place, ...]]
    if fields == {"document", "quote"}:
        read = _quoted
    elif fields == {"document", "start", "end"}:
        read = _ranged
    else:
        refuse_dataset(path, "a passage: document with quote, or with start and end", query_id)
    if line["document"] not in texts:
        refuse_dataset(path, "a document of this set", f"{query_id}: {line['document']}")
    places = read(line, texts[line["document"]])
    if not places:
        refuse_dataset(path, "evidence that stands in its document", f"{query_id}: {line}")
    return Passage(places)


def _quoted(line: Mapping[str, Any], text: str) -> tuple[Place, ...]:
    quote = str(line["quote"]).strip()
    found = []
    start = text.find(quote) if quote else -1
    while start >= 0:
        found.append(Place(line["document"], start, start + len(quote)))
        start = text.find(quote, start + len(quote))
    return tuple(found)


def _ranged(line: Mapping[str, Any], text: str) -> tuple[Place, ...]:
    start, end = line["start"], line["end"]
    sound = isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)
    if not sound or text[start:end].isspace():
        return ()
    return (Place(line["document"], start, end),)


def _require_unique(path: Path, names: list[str], field: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            refuse_dataset(path, f"each {field} once", name)
        seen.add(name)
