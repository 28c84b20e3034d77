"""Data sets are read as published: exact ranges, usable questions by id, each split once."""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from variorum.lab.questions import Dataset, load_questions
from variorum.lab.questions.clusters import linked, parts_of
from variorum.lab.questions.published import copies, draw
from variorum.lab.questions.records import SPLITS
from variorum.lab.questions.splits import committed_split, drawn_split
from variorum.records.errors import InputError, NotFoundError

PUBLISHED = {
    "chunking_evaluation": ("chunking_evaluation", 472, 5),
    "xquad/xquad.en.json.gz": ("xquad", 1190, 48),
    "xquad/xquad.zh.json.gz": ("xquad", 1190, 48),
    "drcd/DRCD_dev.json.gz": ("drcd", 3524, 383),
}


@pytest.fixture(scope="module", params=PUBLISHED)
def published(request: pytest.FixtureRequest, shared: Path) -> tuple[Dataset, str]:
    named, questions, documents = PUBLISHED[request.param]
    dataset = load_questions(str(shared / "retrieval" / request.param))
    assert (len(dataset.questions), len(dataset.readings)) == (questions, documents)
    return dataset, named


def test_every_evidence_range_holds_text(published: tuple[Dataset, str]) -> None:
    dataset, _ = published
    for question in dataset.questions:
        assert question.is_answerable
        for alternative in question.alternatives:
            for passage in alternative:
                contents = {
                    dataset.characters[(place.document, "")][place.start : place.end]
                    for place in passage.places
                }
                assert all(content.strip() for content in contents)


def test_the_usable_questions_and_their_split_are_those_in_the_repository(
    published: tuple[Dataset, str],
) -> None:
    dataset, name = published
    kept = committed_split(name)
    assert kept is not None
    assert {one.query_id: one.split for one in dataset.questions} == dict(kept.split)
    assert dict(dataset.excluded) == dict(kept.excluded)


def test_the_split_in_the_repository_is_the_one_that_is_drawn(
    published: tuple[Dataset, str],
) -> None:
    dataset, name = published
    kept = committed_split(name)
    drawn = draw(dataset, name)
    assert kept is not None
    for side in SPLITS:
        assert drawn[side] == [key for key, one in kept.split.items() if one == side]


def test_no_cluster_is_on_both_sides(published: tuple[Dataset, str]) -> None:
    dataset, _ = published
    sides: dict[str, set[str]] = {}
    for question in dataset.questions:
        sides.setdefault(question.cluster, set()).add(question.split)
    assert all(len(found) == 1 for found in sides.values())
    counts = Counter(question.split for question in dataset.questions)
    assert counts["held-out"] >= 0.4 * len(dataset.questions)


def test_files_are_named_with_their_hashes(shared: Path) -> None:
    path = shared / "retrieval/xquad/xquad.en.json.gz"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert load_questions(str(path)).files == {path.name: digest}


def test_evidence_that_stands_twice_answers_at_both_places() -> None:
    long, text = "a passage of some length", "a passage of some length, a passage of some length"
    assert [one.start for one in copies("d", text, 0, len(long))] == [0, 26]
    assert [one.start for one in copies("d", "308 and 308", 0, 3)] == [0]


def test_questions_that_share_an_article_also_by_way_of_others_are_one_cluster() -> None:
    found = linked({"q1": {("c", 0), ("c", 5)}, "q2": {("c", 5), ("c", 9)}, "q3": {("c", 7)}})
    assert found["q1"] == found["q2"] != found["q3"]


def test_articles_begin_at_their_heads() -> None:
    text = " = One = \n text \n = Goals ; A = \n = = Part = = \n = Two = \n"
    assert parts_of("wikitexts", text).starts == (0, text.index(" = Two"))
    assert parts_of("finance", "a\n\nb\nc\n\nd").starts == (0, 3, 8)
    assert parts_of("state_of_the_union", "a\n\nb").starts == (0,)
    assert parts_of("finance", "a\n\nb").of(4) == 3


def test_a_split_fills_the_held_out_side_of_each_stratum_to_half() -> None:
    clusters = {f"q{number}": f"c{number // 2}" for number in range(20)}
    strata = {f"c{number}": "left" if number < 5 else "right" for number in range(10)}
    split = drawn_split("any", clusters, strata).split
    for stratum in ("left", "right"):
        ours = [side for query, side in split.items() if strata[clusters[query]] == stratum]
        assert 5 <= ours.count("held-out") <= 6
    assert drawn_split("any", clusters, strata).split == split


def test_a_squad_answer_that_is_not_at_its_offset_is_left_out_with_its_reason(
    tmp_path: Path,
) -> None:
    answers = [{"answer_start": 0, "text": "One"}]
    wrong = [{"answer_start": 1, "text": "One"}]
    questions = [
        {"id": "a", "question": "Which?", "answers": answers},
        {"id": "b", "question": "Which, again?", "answers": wrong},
        {"id": "c", "question": "None?", "answers": [], "is_impossible": True},
    ]
    paragraphs = [{"context": "First.", "qas": []}, {"context": "One two.", "qas": questions}]
    path = tmp_path / "mine.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"data": [{"paragraphs": paragraphs}]}).encode()))
    dataset = load_questions(str(path))
    assert dict(dataset.excluded) == {"b": "no answer stands at its offset"}
    assert [(one.query_id, one.is_answerable) for one in dataset.questions] == [
        ("a", True),
        ("c", False),
    ]
    [passage] = dataset.questions[0].alternatives[0]
    assert dataset.readings[0].characters == "First.\n\nOne two."
    assert [tuple(place.span) for place in passage.places] == [(8, 11)]


DOCUMENT = {"document": "guide", "text": "Reset it. Hold the button. Reset it."}


def own(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return path


def asked(*evidence: object, **more: object) -> dict[str, object]:
    return {"query_id": "q1", "question": "How?", "evidence": list(evidence), **more}


def test_a_users_own_set_names_ranges_or_quotes(tmp_path: Path) -> None:
    (tmp_path / "wiki.md").write_text("# 重置\n\n按住按钮。\n", encoding="utf-8")
    path = own(
        tmp_path,
        DOCUMENT,
        {"document": "wiki", "path": "wiki.md"},
        asked(
            [{"document": "guide", "quote": "Reset it."}, {"document": "wiki", "quote": "按住"}],
            [{"document": "guide", "start": 10, "end": 26}],
            split="held-out",
        ),
    )
    dataset = load_questions(str(path))
    assert [one.content_type for one in dataset.readings] == ["text/plain", "text/markdown"]
    [question] = dataset.questions
    assert question.split == "held-out"
    first, second = question.alternatives
    assert [place.start for place in first[0].places] == [0, 27]
    assert [tuple(place) for place in second[0].places] == [("guide", 10, 26)]


def test_a_question_with_empty_evidence_is_unanswerable(tmp_path: Path) -> None:
    [question] = load_questions(str(own(tmp_path, DOCUMENT, asked()))).questions
    assert not question.is_answerable


def test_the_side_of_an_own_document_depends_on_its_name_alone(tmp_path: Path) -> None:
    passage = [{"document": "guide", "quote": "Hold"}]
    sides: set[str] = set()
    for texts in (["x"], ["x", "y"]):
        more = [{"document": name, "text": "Hold."} for name in texts]
        path = own(tmp_path, *more, DOCUMENT, asked(passage))
        sides |= {one.split for one in load_questions(str(path)).questions}
    assert len(sides) == 1


@pytest.mark.parametrize(
    "lines",
    [
        ([1],),
        ({"document": "guide", "texts": "x"},),
        (DOCUMENT, DOCUMENT),
        (DOCUMENT, asked(), asked()),
        (DOCUMENT, asked([{"document": "other", "quote": "Hold"}])),
        (DOCUMENT, asked([{"document": "guide", "quote": "Press"}])),
        (DOCUMENT, asked([{"document": "guide", "start": 5, "end": 999}])),
        (DOCUMENT, asked([{"document": "guide", "start": 9, "end": 10}])),
        (DOCUMENT, asked([{"document": "guide"}])),
        (DOCUMENT, asked([])),
        (DOCUMENT, asked(split="test")),
        (DOCUMENT, {"query_id": "q1", "question": " ", "evidence": []}),
        ({"document": "guide", "path": "missing.md"},),
    ],
)
def test_what_is_not_as_documented_is_refused(tmp_path: Path, lines: Sequence[object]) -> None:
    with pytest.raises(InputError) as caught:
        load_questions(str(own(tmp_path, *lines)))
    assert caught.value.kind == "bad-questions"


def test_a_set_that_is_not_there_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        load_questions(str(tmp_path / "none.jsonl"))
    (tmp_path / "set.xml").write_text("")
    (tmp_path / "set.json").write_text("{}")
    for name in ("set.xml", "set.json"):
        with pytest.raises(InputError):
            load_questions(str(tmp_path / name))
