"""`lab position`: the same insertion at the start, in the middle and at the end of a document.

What is put in is a hundredth of the document's tokens: prose of the next document of the same
language, as one paragraph. A heading, front matter or the start of a comment would change what the
text around it is, and so measure another edit. It goes in where blocks meet: at the start behind
the front matter, and in the middle at the block boundary nearest to it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from variorum.embedding import embedder_from_spec
from variorum.formats import parse
from variorum.lab.comparison import (
    INTERVALS,
    Document,
    by_set,
    estimate_cells,
    recompute_scores,
)
from variorum.lab.histories import History, Revised, read_histories
from variorum.lab.record import Cell, Table, write_table
from variorum.lab.statistics import language_estimates, mean
from variorum.lab.studying import Setup
from variorum.lab.subjects import subjects
from variorum.lab.versions import TextRule, Version, under_rule
from variorum.records.protocols import Tokenizer
from variorum.records.text import BlockKind, Text

PLACES = ("start", "middle", "end")
_SHARE = 100
_COUNTS = ("inputs", "recomputed_inputs", "floor")
_COLUMNS = ("set", "language", "chunker", "position", "succeeded", "all", *_COUNTS)
_PROSE = (BlockKind.PARAGRAPH, BlockKind.OTHER)
_REACHING = re.compile(r"[<`$|{]|^\W")
"""Markup that may be left open by a cut, or that may make the text no paragraph."""


def position(
    file: Path, specs: Sequence[str], setup: Setup, limit: int | None = None
) -> list[Table]:
    """Measure the three insertions of every document under every spec and write the table."""
    names = [one.spec for one in subjects(specs)]
    tokenizer = embedder_from_spec(setup.settings.model).tokenizer
    rule = setup.settings.text_rule
    bases = [
        replace(one, revisions=(_under(one.revisions[0], rule),))
        for one in read_histories(file, limit)
    ]
    inserted = {place: _inserted(bases, place, tokenizer) for place in PLACES}
    every = [one for place in PLACES for one in inserted[place]]
    documents, _ = setup.measured(every, names)
    rows: list[tuple[Cell, ...]] = []
    for number, place in enumerate(PLACES):
        ours = documents[number * len(bases) : (number + 1) * len(bases)]
        rows += _rows(place, ours, names)
    title = "Recompute fraction of a one percent insertion"
    note = "no less than one chunk is recomputed: a document of five loses a fifth to any edit"
    table = Table("position", title, (*_COLUMNS, *INTERVALS), tuple(rows), (note,))
    write_table(setup.folder, table, setup.run(file, names, {"inserted_percent": 1}))
    return [table]


def _under(revised: Revised, rule: TextRule) -> Revised:
    text = under_rule(revised.text, revised.content_type, rule)
    return Revised(text, revised.content_type)


def _inserted(bases: Sequence[History], place: str, tokenizer: Tokenizer) -> list[History]:
    """Each document as it was, then with the insertion."""
    found = []
    for number, one in enumerate(bases):
        base = one.revisions[0]
        others = [*bases[number + 1 :], *bases[:number], one]
        sources = (other.revisions[0] for other in others if other.language == one.language)
        text = insertion(base, sources, place, tokenizer)
        changed = Revised(text, base.content_type)
        found.append(replace(one, shape="pairs", revisions=(base, changed)))
    return found


def insertion(base: Revised, sources: Iterable[Revised], place: str, tokenizer: Tokenizer) -> str:
    """The text with a hundredth of its tokens put in, from the first source with enough prose."""
    version = Version(base.text, base.content_type, tokenizer)
    wanted = max(1, version.tokens.total // _SHARE)
    at = _place(version, place)
    before, after = base.text[:at], base.text[at:]
    piece = _piece(sources, wanted, tokenizer)
    return f"{before}{_gap(before, before[:-3:-1])}{piece}{_gap(after, after)}{after}"


def _piece(sources: Iterable[Revised], tokens: int, tokenizer: Tokenizer) -> str:
    """The first tokens of the first source's prose that has as many, else of the longest."""
    longest = ""
    for source in sources:
        text = prose(source)
        starts = [*tokenizer.starts(text), len(text)]
        if len(starts) > tokens:
            return text[: starts[tokens]].strip()
        longest = max(longest, text, key=len)
    return longest


def prose(source: Revised) -> str:
    """The paragraphs without markup of a kind that reaches beyond them, on one line."""
    blocks = parse(Text(source.text), source.content_type).blocks
    texts = (source.text[one.start : one.end] for one in blocks if one.kind in _PROSE)
    return " ".join(" ".join(text.split()) for text in texts if not _REACHING.search(text))


def _place(version: Version, place: str) -> int:
    """Where the insertion goes."""
    blocks = version.structure.blocks
    first = next((one.start for one in blocks if one.kind is not BlockKind.FRONT_MATTER), 0)
    if place == "end":
        return len(version.text)
    if place == "start":
        return first
    half = len(version.text) // 2
    return min((one.start for one in blocks), key=lambda edge: abs(edge - half), default=half)


def _gap(neighbour: str, touching: str) -> str:
    """What is missing of a blank line between the insertion and the text on one side of it.

    `touching` are the characters of that side, the nearest first.
    """
    ends = len(touching[:2]) - len(touching[:2].lstrip("\n"))
    return "\n" * (2 - ends) if neighbour.strip() else ""


def _rows(
    place: str, documents: Sequence[Document], specs: Sequence[str]
) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for name, ours in by_set(documents).items():
        for spec in specs:
            found = language_estimates(recompute_scores(ours, spec))
            for language, one in found.items():
                every = [other for other in ours if other.history.language == language]
                good = [other for other in every if other.succeeded(spec)]
                counts = (len(good), len(every), *_means(good, spec))
                rows.append((name, language, spec, place, *counts, *estimate_cells(one)))
    return rows


def _means(documents: Sequence[Document], spec: str) -> tuple[Fraction | None, ...]:
    """Inputs of the changed version, those recomputed, and the floor; NA where there is none."""
    steps = [step for one in documents for step in one.tried(spec).steps]
    values = (
        [Fraction(step.inputs) for step in steps],
        [Fraction(step.recomputed_inputs) for step in steps],
        [step.floor for step in steps if step.floor is not None],
    )
    return tuple(mean(found) if len(found) == len(steps) > 0 else None for found in values)
