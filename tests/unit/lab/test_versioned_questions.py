"""The shipped questions on real revision pairs: labels by hash and range, no document's text."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "src" / "variorum" / "lab" / "questions"
FILES = sorted(FOLDER.glob("versioned.*.jsonl"))
LANGUAGES = {"en", "zh"}
BOTH = ("old", "new")
ANSWERED_BY = {"changes": BOTH, "moves": BOTH, "appears": ("new",), "disappears": ("old",)}
FIELDS = {"query_id", "lang", "pair", "kind", "question", "old", "new"}
WORDS_IN_A_ROW = 5
HAN_IN_A_ROW = 8
HAN = re.compile(r"[㐀-䶿一-鿿豈-﫿]+")
OUTER_MARKS = ".,:;!?()[]{}\"'`*_“”‘’<>|"
ALL_BUT_THE_SAME = 0.8

Row = dict[str, Any]
BY_FILE = pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])


@dataclass(frozen=True, slots=True)
class Pair:
    lang: str
    band: str
    texts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one version quotes: a list of alternatives, each the pieces that suffice together."""

    row: Row
    pair: Pair
    version: str

    @property
    def alternatives(self) -> list[list[str]]:
        text = self.pair.texts[self.version]
        spans = self.row[self.version]["spans"]
        return [[text[start:end] for start, end in alternative] for alternative in spans]

    @property
    def pieces(self) -> list[str]:
        return [piece for alternative in self.alternatives for piece in alternative]

    @property
    def first(self) -> str:
        return " ".join(" ".join(self.alternatives[0]).split())


def rows_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


ROWS = [row for path in FILES for row in rows_of(path)]


@pytest.fixture(scope="module")
def pairs(shared: Path) -> dict[str, Pair]:
    """The revision pairs by id; skips where the public data sets are absent."""
    found = {}
    with gzip.open(shared / "revisions" / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            texts = {"old": pair["old_text"], "new": pair["new_text"]}
            found[pair["id"]] = Pair(pair["lang"], pair["band"], texts)
    return found


def evidence(row: Row, pairs: dict[str, Pair]) -> Iterator[Evidence]:
    for version in ANSWERED_BY[row["kind"]]:
        yield Evidence(row, pairs[row["pair"]], version)


def words(text: str) -> list[str]:
    """Lower-case words between blanks without outer marks, so an identifier is one word."""
    stripped = (word.strip(OUTER_MARKS).lower() for word in text.split())
    return [word for word in stripped if word]


def word_runs(text: str) -> set[tuple[str, ...]]:
    """Every run of words that is one word longer than a question may repeat."""
    found, length = words(text), WORDS_IN_A_ROW + 1
    return {tuple(found[at : at + length]) for at in range(len(found) - length + 1)}


def han_runs(text: str) -> set[str]:
    """Every run of Han characters that is one character longer than a question may repeat."""
    length = HAN_IN_A_ROW + 1
    return {
        run[at : at + length] for run in HAN.findall(text) for at in range(len(run) - length + 1)
    }


def copies(question: str, text: str) -> bool:
    return bool(word_runs(question) & word_runs(text) or han_runs(question) & han_runs(text))


def has_the_fields_of_its_kind(row: Row) -> bool:
    moved = {"moved"} if row["kind"] == "moves" else set()
    return (
        set(row) == FIELDS | moved
        and row.get("moved", "section") in {"section", "shifted"}
        and row["question"] == row["question"].strip() != ""
        and all(set(row[version]) == {"sha256", "answerable", "spans"} for version in BOTH)
    )


def is_in_order_and_apart(alternative: list[list[int]]) -> bool:
    bounds = [bound for start, end in alternative for bound in (start, end)]
    return len(bounds) > 0 and bounds[0] >= 0 and bounds == sorted(set(bounds))


def test_every_language_has_its_questions() -> None:
    assert {path.suffixes[0].removeprefix(".") for path in FILES} >= LANGUAGES


def test_a_question_has_exactly_the_fields_of_its_kind() -> None:
    assert [row["query_id"] for row in ROWS if not has_the_fields_of_its_kind(row)] == []


def test_the_kind_says_which_versions_answer() -> None:
    for row in ROWS:
        answered = ANSWERED_BY[row["kind"]]
        assert tuple(v for v in BOTH if row[v]["answerable"] is True) == answered, row["query_id"]
        assert tuple(v for v in BOTH if row[v]["spans"]) == answered, row["query_id"]


def test_ranges_of_an_alternative_are_in_order_and_apart_and_no_alternative_repeats() -> None:
    for row in ROWS:
        for spans in (row[version]["spans"] for version in BOTH):
            assert all(is_in_order_and_apart(alternative) for alternative in spans), row["query_id"]
            assert len({json.dumps(each) for each in spans}) == len(spans), row["query_id"]


@BY_FILE
def test_ids_count_up_in_their_language(path: Path) -> None:
    lang, rows = path.suffixes[0].removeprefix("."), rows_of(path)
    ids = [f"vq-{lang}-{number:03d}" for number in range(1, len(rows) + 1)]
    assert [row["query_id"] for row in rows] == ids
    assert {row["lang"] for row in rows} == {lang}


def test_no_question_is_asked_twice() -> None:
    counts = Counter(" ".join(words(row["question"])) for row in ROWS)
    assert [question for question, count in counts.items() if count > 1] == []


@BY_FILE
def test_a_language_has_enough_questions_of_each_kind_on_enough_pairs(path: Path) -> None:
    rows = rows_of(path)
    kinds = Counter(row["kind"] for row in rows)
    on_pair = Counter(row["pair"] for row in rows)
    assert set(kinds) == set(ANSWERED_BY)
    assert (len(rows) >= 120, min(kinds.values()) >= 30) == (True, True), kinds
    assert (len(on_pair) >= 40, max(on_pair.values()) <= 6) == (True, True), on_pair


@BY_FILE
def test_questions_are_on_pairs_of_their_language_and_of_every_band(
    path: Path, pairs: dict[str, Pair]
) -> None:
    asked = [(row["lang"], pairs[row["pair"]]) for row in rows_of(path)]
    assert all(lang == pair.lang for lang, pair in asked)
    assert {pair.band for _, pair in asked} == {"small", "medium", "large", "extreme"}


def test_labels_name_the_exact_texts(pairs: dict[str, Pair]) -> None:
    for row in ROWS:
        for version, text in pairs[row["pair"]].texts.items():
            assert row[version]["sha256"] == sha256(text.encode()).hexdigest(), row["query_id"]


def test_ranges_lie_in_the_text_and_slice_to_pieces_without_outer_blanks(
    pairs: dict[str, Pair],
) -> None:
    for quoted in (each for row in ROWS for each in evidence(row, pairs)):
        query_id, spans = quoted.row["query_id"], quoted.row[quoted.version]["spans"]
        end_of_text = len(quoted.pair.texts[quoted.version])
        assert all(end <= end_of_text for each in spans for _, end in each), query_id
        assert all(piece == piece.strip() != "" for piece in quoted.pieces), query_id


def test_a_version_that_does_not_answer_lacks_the_evidence(pairs: dict[str, Pair]) -> None:
    for quoted in (each for row in ROWS for each in evidence(row, pairs)):
        silent = set(BOTH) - set(ANSWERED_BY[quoted.row["kind"]])
        for text in (quoted.pair.texts[version] for version in silent):
            for pieces in quoted.alternatives:
                assert not all(piece in text for piece in pieces), quoted.row["query_id"]


def test_evidence_that_changes_is_other_text(pairs: dict[str, Pair]) -> None:
    for row in (row for row in ROWS if row["kind"] == "changes"):
        old, new = evidence(row, pairs)
        assert not any(each in new.alternatives for each in old.alternatives), row["query_id"]


def test_evidence_that_moves_is_all_but_the_same_text_elsewhere(pairs: dict[str, Pair]) -> None:
    for row in (row for row in ROWS if row["kind"] == "moves"):
        old, new = evidence(row, pairs)
        assert row["old"]["spans"][0] != row["new"]["spans"][0], row["query_id"]
        same = SequenceMatcher(None, old.first, new.first, autojunk=False).ratio()
        assert same >= ALL_BUT_THE_SAME, row["query_id"]


def test_a_question_is_asked_in_its_own_words(pairs: dict[str, Pair]) -> None:
    for quoted in (each for row in ROWS for each in evidence(row, pairs)):
        question = quoted.row["question"]
        assert not any(copies(question, piece) for piece in quoted.pieces), quoted.row["query_id"]
