"""How far a one-character edit reaches: inputs that an edit of a real document makes new."""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

import numpy as np

from bench.revisions import MODEL, PAIRS, UncountedSizer, read_pairs
from bench.study import RESULTS, SEED, Result, Study, Table, Target
from bench.subjects import Cut, Ours, Peer, Subject, installed_versions
from variorum.embedding import embedder_from_spec
from variorum.lab.counting import OnceTokenizer
from variorum.lab.versions import Version
from variorum.records.protocols import Tokenizer

SIZE = 100
KARA_CHARACTERS = 500
KARA_LONGEST_PAGE = 8_000
CHECKED = 100
_SPACES = " \n\t"
_KINDS = ("insert", "delete", "replace")

Page = tuple[str, str, Version]
"""A document's name, its language, and its text."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One character put in, taken out or changed."""

    kind: str
    place: int
    character: str

    @property
    def removed(self) -> int:
        return 0 if self.kind == "insert" else 1

    @property
    def inserted(self) -> str:
        return "" if self.kind == "delete" else self.character

    def of(self, text: str) -> str:
        return text[: self.place] + self.inserted + text[self.place + self.removed :]


def edits(text: str, count: int, random: Random) -> Iterator[Edit]:
    """Edits at random places; what is put in is a character from elsewhere in the text."""
    while count:
        edit = Edit(random.choice(_KINDS), random.randrange(len(text)), random.choice(text))
        if edit.of(text) != text:
            yield edit
            count -= 1


def starts_after(edit: Edit, before: Version, text: str, tokenizer: Tokenizer) -> list[int]:
    """Where the tokens of the edited text start, from those before: only its word is tokenized."""
    left = edit.place
    while left and text[left - 1] not in _SPACES:
        left -= 1
    right = edit.place + len(edit.inserted)
    while right < len(text) and text[right] not in _SPACES:
        right += 1
    shift = len(edit.inserted) - edit.removed
    known = before.tokens.array
    head = known[: np.searchsorted(known, left)]
    tail = known[np.searchsorted(known, right - shift) :] + shift
    word = [left + start for start in tokenizer.starts(text[left:right])]
    return [*head.tolist(), *word, *tail.tolist()]


@dataclass(frozen=True, slots=True)
class Disturbed:
    """New inputs of one edit, and the edit."""

    count: int
    chunks: int
    edit: Edit
    language: str
    page: str


def disturbed(old: Cut, new: Cut) -> int:
    return len(set(new.inputs) - set(old.inputs))


def replay(
    subjects: dict[str, Subject], pages: Sequence[Page], count: int
) -> dict[str, list[Disturbed]]:
    """Every edit under every chunker, as many edits in each page."""
    found: dict[str, list[Disturbed]] = {name: [] for name in subjects}
    random = Random(SEED)
    for index, (name, language, page) in enumerate(pages):
        share = count * (index + 1) // len(pages) - count * index // len(pages)
        tokenizer = OnceTokenizer(page.tokenizer)
        quick = UncountedSizer(tokenizer)
        tokenizer.remember(page.text, page.tokens.starts)
        olds = {key: subject.cut(page, quick) for key, subject in subjects.items()}
        for edit in edits(page.text, share, random):
            text = edit.of(page.text)
            tokenizer.forget()
            tokenizer.remember(page.text, page.tokens.starts)
            tokenizer.remember(text, starts_after(edit, page, text, page.tokenizer))
            after = Version(text, page.content_type, tokenizer)
            for key, subject in subjects.items():
                new = subject.cut(after, quick, olds[key])
                reached = disturbed(olds[key], new)
                found[key].append(Disturbed(reached, len(new.inputs), edit, language, name))
    return found


def check_starts(pages: Sequence[Page]) -> int:
    """How many edited texts were tokenized whole and found equal to the recount of one word.

    Raises:
        AssertionError: one differs.
    """
    random = Random(SEED)
    for name, _, page in random.choices(pages, k=CHECKED):
        for edit in edits(page.text, 1, random):
            text = edit.of(page.text)
            if starts_after(edit, page, text, page.tokenizer) != page.tokenizer.starts(text):
                raise AssertionError(f"{name}: {edit}")
    return CHECKED


def kara(pages: Sequence[Page], count: int) -> tuple[list[Disturbed], list[str]]:
    """KARA's updates with its character chunker; pages that it fails on, with the reason."""
    from kara import CharacterChunker, KARAUpdater

    random = Random(SEED)
    short = [one for one in pages if len(one[2].text) <= KARA_LONGEST_PAGE]
    found: list[Disturbed] = []
    failures: list[str] = []
    for name, language, page in random.sample(short, min(count, len(short))):
        updater = KARAUpdater(CharacterChunker(chunk_size=KARA_CHARACTERS))
        edit = next(edits(page.text, 1, random))
        try:
            first = updater.create_collection([page.text]).new_chunked_doc
            update = updater.update_collection(first, [edit.of(page.text)])
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}"[:120])
            continue
        contents = update.new_chunked_doc.get_chunk_contents()
        reached = len(set(contents) - set(first.get_chunk_contents()))
        found.append(Disturbed(reached, len(contents), edit, language, name))
    return found, failures


def chosen(size: int) -> dict[str, Subject]:
    """Every chunker with the setting that the study `peers` found for a mean size.

    Raises:
        FileNotFoundError: that study was not run.
    """
    rows: dict[str, dict[str, str]] = {}
    for record in ("peers", "peers-default"):
        rows |= json.loads((RESULTS / f"{record}.json").read_text())["figures"][str(size)]
    return {name: _subject(name, row["spec"]) for name, row in rows.items()}


def _subject(name: str, spec: str) -> Subject:
    return Peer(name, int(spec)) if spec.isdigit() else Ours(spec, name.endswith("+ planner"))


def run(arguments: argparse.Namespace) -> Result:
    pages = [
        (pair.name, pair.language, pair.new)
        for pair in read_pairs(embedder_from_spec(MODEL).tokenizer)
    ]
    checked = check_starts(pages)
    subjects = chosen(SIZE)
    anchored = {name: one for name, one in subjects.items() if name.startswith("anchored")}
    rest = {name: one for name, one in subjects.items() if name not in anchored}
    found = replay(anchored, pages, arguments.edits)
    found |= replay(rest, pages, arguments.peer_edits)
    found["KARA 0.3.2"], failures = kara(pages, arguments.kara_edits)
    result = Result(inputs=[PAIRS], tables=[_table(found)])
    result.figures = {
        "packages": installed_versions(),
        "tokenizations_checked": checked,
        "kara_failures": failures,
        **{name: _figures(ones) for name, ones in found.items() if ones},
    }
    result.targets = list(_targets(found))
    return result


def _figures(ones: Sequence[Disturbed]) -> dict[str, object]:
    counts = [one.count for one in ones]
    worst = sorted(ones, key=lambda one: -one.count)[:5]
    return {
        "edits": len(ones),
        "mean": fmean(counts),
        "p99": float(np.percentile(counts, 99)),
        "max": max(counts),
        "at_most_two_percent": 100 * fmean(count <= 2 for count in counts),
        "share_of_chunks_percent": 100 * fmean(one.count / max(1, one.chunks) for one in ones),
        "by_kind": {
            kind: fmean([one.count for one in ones if one.edit.kind == kind] or [0])
            for kind in _KINDS
        },
        "worst": [
            f"{one.count} of {one.chunks} in {one.page}: {one.edit.kind} {one.edit.character!r}"
            f" at {one.edit.place}"
            for one in worst
        ],
    }


_COLUMNS = ("chunker", "edits", "mean", "p99", "max", "at most 2, %", "mean share of chunks, %")


def _table(found: dict[str, list[Disturbed]]) -> Table:
    rows = []
    for name, ones in found.items():
        if ones:
            figures = _figures(ones)
            shares = [figures["at_most_two_percent"], figures["share_of_chunks_percent"]]
            cells = [f"{figures['mean']:.2f}", f"{figures['p99']:.0f}", figures["max"]]
            rows.append([name, len(ones), *cells, *(f"{share:.1f}" for share in shares)])
    return Table("New inputs of a one-character edit, mean size about 100 tokens", _COLUMNS, rows)


def _targets(found: dict[str, list[Disturbed]]) -> Iterator[Target]:
    for name in ("anchored", "anchored + planner"):
        figures = _figures(found[name])
        text = f"{figures['mean']:.2f}, {figures['p99']:.0f}, {figures['max']}"
        yield Target(f"{name}: mean, p99, max", "reported", text, None)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--peer-edits", type=int, default=500)
    parser.add_argument("--kara-edits", type=int, default=20)


STUDY = Study("locality", "what a one-character edit disturbs", run, _arguments)
