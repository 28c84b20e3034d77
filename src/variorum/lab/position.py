"""`lab position`: the same insertion at the start, in the middle and at the end of a document.

What is put in is a hundredth of the document's tokens, taken from the start of the next document of
the same language, as a paragraph of its own; the middle is the block boundary nearest to it.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from variorum.embedding import embedder_from_spec
from variorum.lab.comparison import (
    INTERVALS,
    Document,
    by_set,
    estimate_cells,
    recompute_scores,
)
from variorum.lab.histories import History, Revised, read_histories
from variorum.lab.record import Cell, Table, write_table
from variorum.lab.statistics import language_estimates
from variorum.lab.studying import Setup
from variorum.lab.subjects import subjects
from variorum.lab.versions import TextRule, Version, under_rule
from variorum.records.protocols import Tokenizer

PLACES = ("start", "middle", "end")
_SHARE = 100


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
    columns = ("set", "language", "chunker", "position", "succeeded", "all", *INTERVALS)
    title = "Recompute fraction of a one percent insertion"
    table = Table("position", title, columns, tuple(rows))
    write_table(setup.folder, table, setup.run(file, names, {"inserted_percent": 1}))
    return [table]


def _under(revised: Revised, rule: TextRule) -> Revised:
    text = under_rule(revised.text, revised.content_type, rule)
    return Revised(text, revised.content_type)


def _inserted(bases: Sequence[History], place: str, tokenizer: Tokenizer) -> list[History]:
    """Each document as it was, then with the insertion."""
    found = []
    for number, one in enumerate(bases):
        after = [*bases[number + 1 :], *bases[:number], one]
        source = next(other for other in after if other.language == one.language)
        base = one.revisions[0]
        text = insertion(base, source.revisions[0].text, place, tokenizer)
        changed = Revised(text, base.content_type)
        found.append(replace(one, shape="pairs", revisions=(base, changed)))
    return found


def insertion(base: Revised, source: str, place: str, tokenizer: Tokenizer) -> str:
    """The text with a hundredth of its tokens put in, from the start of `source`."""
    version = Version(base.text, base.content_type, tokenizer)
    wanted = max(1, version.tokens.total // _SHARE)
    starts = [*tokenizer.starts(source), len(source)]
    piece = source[: starts[min(wanted, len(starts) - 1)]].strip()
    at = {"start": 0, "end": len(base.text)}.get(place, _middle(version))
    before, after = base.text[:at], base.text[at:]
    return f"{before}{_gap(before)}{piece}{_gap(after)}{after}"


def _middle(version: Version) -> int:
    """The block boundary nearest to the middle of the text."""
    half = len(version.text) // 2
    edges = [block.start for block in version.structure.blocks]
    return min(edges, key=lambda edge: abs(edge - half), default=half)


def _gap(neighbour: str) -> str:
    """A blank line where there is something on that side."""
    return "\n\n" if neighbour.strip() else ""


def _rows(
    place: str, documents: Sequence[Document], specs: Sequence[str]
) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for name, ours in by_set(documents).items():
        for spec in specs:
            found = language_estimates(recompute_scores(ours, spec))
            for language, one in found.items():
                every = sum(other.history.language == language for other in ours)
                good = sum(
                    other.history.language == language and other.succeeded(spec) for other in ours
                )
                rows.append((name, language, spec, place, good, every, *estimate_cells(one)))
    return rows
