"""100,000 rows to search: vectors of real passages, and an index of ours that holds them.

The passages are the units of seven chunkings of the question sets, with the default model's vectors
(kept in the user's cache folder). They are fewer than 100,000: each further row is a point between
the vectors of a passage and of one that stands near it in the same chunking of the same set,
`a * one + (1 - a) * other` scaled to unit length, with `a` even in [0.5, 0.9], by a seed.

An index is synced from them as from any source: a JSON Lines file of Markdown documents of ten
rows each, a section with the row's number and its passage, and an embedder that gives the row's
vector for it.
"""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import variorum
from bench.context import SETS
from bench.strategies_recall import SPECS
from bench.study import SEED, SHARED
from variorum.embedding import embedder_from_spec
from variorum.embedding.e5.cache import cache_root
from variorum.embedding.hashing import HashingEmbedder
from variorum.lab.questions import load_questions
from variorum.lab.recall.cutters import cutter_of
from variorum.lab.recall.vectors import VectorCache
from variorum.records.protocols import ModelIdentity, Role, Tokenizer, Vectors

ROWS_A_DOCUMENT = 10
TENANTS = 10
"""A tenant has every tenth document."""
READERS = 5
"""Of a tenant's documents a group of readers reads every fifth."""
IN_FORCE = 0.46
"""Of these the share that is in force."""

_NEAR = 4
_LONGEST = 300
_MARK = re.compile(r"^#+ row (\d{8})$", re.MULTILINE)
_CJK = re.compile("[\u3400-\u9fff]")
_QUESTIONS = 400


@dataclass(frozen=True)
class Rows:
    """`vectors` float32[n, d] of unit length with a text each, and questions with their vectors."""

    texts: Sequence[str]
    vectors: Vectors
    real: int
    questions: Sequence[str]
    asked: Vectors


@dataclass(frozen=True, slots=True)
class Document:
    """Ten rows, from `first` on, of a tenant: for one of its groups of readers, in force or not."""

    first: int
    tenant: int
    readers: int
    in_force: bool

    @property
    def path(self) -> str:
        then = "now" if self.in_force else "then"
        return f"t{self.tenant}/r{self.readers}/{then}/{self.first:08d}.md"


def documents(count: int) -> list[Document]:
    """The documents of so many rows, in order."""
    found = []
    for number in range(count // ROWS_A_DOCUMENT):
        within = number // TENANTS
        turn = within // READERS
        in_force = int((turn + 1) * IN_FORCE) > int(turn * IN_FORCE)
        first = number * ROWS_A_DOCUMENT
        found.append(Document(first, number % TENANTS, within % READERS, in_force))
    return found


def make_rows(count: int, seed: int = SEED) -> Rows:
    """So many rows, real ones first as far as there are any, in an order of the seed."""
    cache = VectorCache(cache_root() / "lab", embedder_from_spec())
    runs: list[list[str]] = []
    questions: dict[str, None] = {}
    for name in SETS.values():
        dataset = load_questions(str(SHARED / "retrieval" / name))
        questions.update(dict.fromkeys(one.text for one in dataset.questions))
        for spec in SPECS:
            cut = cutter_of(spec, cache.embedder, cache.vectors)
            runs.append([piece.input for one in dataset.readings for piece in cut(one)])
    real = list(dict.fromkeys(text for run in runs for text in run))
    random = np.random.default_rng(seed)
    real = [real[place] for place in random.permutation(len(real))][:count]
    vectors = cache.vectors(real)
    place_of = {text: place for place, text in enumerate(real)}
    within = [np.array([place_of[text] for text in run if text in place_of]) for run in runs]
    texts, between = _between(real, vectors, within, count - len(real), random)
    asked = [list(questions)[place] for place in random.permutation(len(questions))[:_QUESTIONS]]
    rows = Rows(texts, between, len(real), asked, cache.vectors(asked, "query"))
    cache.close()
    return rows


def _between(
    real: list[str],
    vectors: Vectors,
    runs: Sequence[NDArray[np.intp]],
    missing: int,
    random: np.random.Generator,
) -> tuple[list[str], Vectors]:
    """The real rows and so many more between them."""
    run_of = random.choice(len(runs), missing, p=[len(run) / sum(map(len, runs)) for run in runs])
    ones, others = np.empty(missing, np.intp), np.empty(missing, np.intp)
    for row, run in enumerate(run_of):
        place = random.integers(len(runs[run]))
        step = random.integers(1, _NEAR + 1)
        ones[row], others[row] = runs[run][place], runs[run][(place + step) % len(runs[run])]
    share = random.uniform(0.5, 0.9, (missing, 1)).astype(np.float32)
    mixed = share * vectors[ones] + (1 - share) * vectors[others]
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    return [*real, *(real[place] for place in ones)], np.concatenate([vectors, mixed])


class RowEmbedder:
    """Gives each row's vector for its section, and each question's for the question."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._like = HashingEmbedder(rows.vectors.shape[1], max_tokens=2_048)
        self._asked = dict(zip(rows.questions, rows.asked, strict=True))

    @property
    def tokenizer(self) -> Tokenizer:
        return self._like.tokenizer

    @property
    def max_tokens(self) -> int:
        return self._like.max_tokens

    @property
    def identity(self) -> ModelIdentity:
        dimensions = self._rows.vectors.shape[1]
        return ModelIdentity("rows of the study", f"rows {len(self._rows.texts)}", dimensions)

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return self._like.count(inputs, role)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        return np.array([self._vector(text) for text in inputs], np.float32)

    def _vector(self, text: str) -> NDArray[np.float32]:
        if text in self._asked:
            return self._asked[text]
        mark = _MARK.search(text)
        return self._rows.vectors[int(mark[1])] if mark else self._like.embed([text])[0]


def sections(document: Document, rows: Rows) -> str:
    """A document as Markdown."""
    return "\n".join(_section(number, rows) for number in _numbers(document))


def _numbers(document: Document) -> range:
    return range(document.first, document.first + ROWS_A_DOCUMENT)


def _section(number: int, rows: Rows) -> str:
    words = " ".join(rows.texts[number].split())
    longest = _LONGEST // 3 if len(_CJK.findall(words)) * 4 > len(words) else _LONGEST
    return f"## row {number:08d}\n\nOf row {number:08d} it says: {words[:longest]}\n"


def policy() -> str:
    """A tenant's group reads its documents, a group of readers its fifth of them."""
    tables = []
    for tenant in range(TENANTS):
        for readers in range(READERS):
            for then in ("now", "then"):
                lines = [
                    "[[rules]]",
                    f'documents = ["rows:t{tenant}/r{readers}/{then}/**"]',
                    f'readers = ["group:t{tenant}", "group:t{tenant}-r{readers}"]',
                ]
                lines += ["effective_until = 2020-12-31"] if then == "then" else []
                tables.append("\n".join(lines))
    return "\n\n".join(tables) + "\n"


def open_index(home: Path, rows: Rows) -> "variorum.Index":
    """The index of these rows in a folder, synced there where it is not yet, and its policy."""
    embedder = RowEmbedder(rows)
    if not (home / "whole").exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        _write(home, rows)
        with variorum.open(home, embedder=embedder) as index:
            index.sync()
            index.access.apply(author="the study")
            held = index.view(effective="any").places.input_ids
        if len(np.unique(held)) != len(rows.texts) or held.size != len(rows.texts):
            raise AssertionError(f"{len(rows.texts)} rows became {held.size} chunks")
        (home / "whole").touch()
    return variorum.open(home, embedder=embedder)


def _write(home: Path, rows: Rows) -> None:
    (home / "variorum-policy.toml").write_text(policy())
    (home / "variorum.toml").write_text(
        '[chunking]\nchunker = "structural(max_tokens=400, min_tokens=8)"\nplanner = false\n'
        '[sources.rows]\nkind = "jsonl"\nroot = "rows.jsonl"\n'
    )
    with (home / "rows.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(_lines(rows))


def _lines(rows: Rows) -> Iterator[str]:
    for one in documents(len(rows.texts)):
        line = {"id": one.path, "text": sections(one, rows), "content_type": "text/markdown"}
        yield json.dumps(line) + "\n"
