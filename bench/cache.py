"""What keeping answers could save: how long a warm search takes and of what, and how often one of
the questions at hand is asked again.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import variorum
from bench.context import SETS, Corpus
from bench.study import SHARED, Result, Study, Table
from variorum.embedding import embedder_from_spec
from variorum.embedding.hashing import HashingEmbedder
from variorum.lab.questions import load_questions

_ASKED = 40


def _ms(action: Callable[[str], object], questions: list[str]) -> float:
    taken = []
    for one in questions:
        started = perf_counter()
        action(one)
        taken.append(1000 * (perf_counter() - started))
    return median(taken)


def _run(_: argparse.Namespace) -> Result:
    result = Result()
    repeated = []
    for name, file in SETS.items():
        path = SHARED / "retrieval" / file
        asked = [" ".join(one.text.split()) for one in load_questions(str(path)).questions]
        repeated.append([name, len(asked), len(asked) - len(set(asked))])
        result.inputs += sorted(path.glob("*.gz")) if path.is_dir() else [path]
    result.tables.append(Table("Questions asked again", ("set", "questions", "again"), repeated))
    dataset = load_questions(str(SHARED / "retrieval" / "chunking_evaluation"))
    questions = [one.text for one in dataset.questions][:_ASKED]
    model = embedder_from_spec()
    model.embed(questions[:1], "query")
    with TemporaryDirectory() as home:
        (folder := Path(home) / "docs").mkdir()
        Corpus.written(dataset, folder)
        with variorum.open(home, embedder=HashingEmbedder(384)) as index:
            index.sync(folder)
            index.context(questions[0])
            chunks = index.status().chunks
            rows = [
                [
                    "the model's vector of a question",
                    _ms(lambda one: model.embed([one], "query"), questions),
                ],
                ["search, ten hits, without it", _ms(index.search, questions)],
                ["context of 2,048 tokens, without it", _ms(index.context, questions)],
            ]
    title = f"Warm, median of {_ASKED} questions, {chunks:,} chunks"
    result.tables.append(Table(title, ("what", "ms"), rows))
    return result


STUDY = Study("cache", "what keeping answers could save", _run)
