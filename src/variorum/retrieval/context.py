"""From a question to what a model is given: passages within a budget, whole, cited, delimited."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from variorum.access.standing import Standing
from variorum.records.arguments import bad_parameter, whole
from variorum.records.context import (
    EXPANSIONS,
    FORMATS,
    Context,
    Expand,
    Format,
    LeftOut,
    Passage,
)
from variorum.records.names import Citation
from variorum.records.protocols import TokenCounter
from variorum.records.text import Span, Text
from variorum.retrieval.asking import Asked
from variorum.retrieval.legs import Ranking
from variorum.retrieval.neighbourhood import Beside, by_neighbourhood, diverse
from variorum.retrieval.packing import Choice, Chunks, Packed, Packing, Taken
from variorum.retrieval.searching import Question
from variorum.retrieval.texts import text_of
from variorum.retrieval.writing import WRITERS, Quote
from variorum.store.manifests import ManifestRow
from variorum.store.view import View

DEFAULT_BUDGET = 2048
DEFAULT_CANDIDATES = 50
"""Hits that a context may hold."""
MAX_BUDGET = 10_000_000
MAX_SECTION_CHUNKS = 200
"""A section of more is no section to quote; what it holds is quoted with its neighbours."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a context. `counter` counts as the model does that will read it."""

    counter: TokenCounter
    budget: int = DEFAULT_BUDGET
    format: Format = "prompt"
    expand: Expand = "neighbours"

    @classmethod
    def of(cls, counter: TokenCounter, budget: object, format_: object, expand: object) -> "Wanted":
        """What a caller asks for.

        Raises:
            InputError: a budget that is no whole number from 1 to 10,000,000, or no such format or
                expansion.
        """
        tokens = whole("budget", budget)
        if not 1 <= tokens <= MAX_BUDGET:
            raise bad_parameter("budget", f"from 1 to {MAX_BUDGET:,} tokens", budget)
        for name, value, known in (("format", format_, FORMATS), ("expand", expand, EXPANSIONS)):
            if value not in known:
                raise bad_parameter(name, f"one of {', '.join(known)}", value)
        return cls(counter, tokens, cast(Format, format_), cast(Expand, expand))


def context(
    view: View, ranking: Ranking, question: Question, asked: Asked, wanted: Wanted
) -> Context:
    """The best passages of a ranking that the budget holds, of `question.k` hits at most.

    Chunks are taken by their neighbourhoods (`by_neighbourhood`), several documents first
    (`diverse`), each with what it is expanded to; what does not fit is tried alone, then left out.
    """
    ranked = [one.index for one in ranking.scored]
    quoting = _Quoting(view, asked.now_us, {place: n for n, place in enumerate(ranked, start=1)})
    ordered = diverse(quoting.beside, by_neighbourhood(quoting.beside, ranked))
    choices = [
        Choice(place, list(quoting.groups(place, wanted.expand))) for place in ordered[: question.k]
    ]
    packed = _packed(quoting, choices, question.query, wanted)
    return Context(
        generation=view.generation.number,
        query=question.query,
        effective=asked.effective,
        mode=ranking.mode,
        fallback=ranking.fallback,
        budget=wanted.budget,
        tokens=packed.tokens,
        format=wanted.format,
        expand=wanted.expand,
        text=packed.text,
        passages=tuple(map(quoting.passage, packed.quotes)),
        left_out=tuple(quoting.left_out(packed)),
    )


def _packed(quoting: "_Quoting", choices: Sequence[Choice], query: str, wanted: Wanted) -> Packed:
    """Packed under the first fence that no passage holds: a text is finite, fences are not."""
    writer = WRITERS[wanted.format]
    chunks = Chunks(quoting.text, quoting.text_id, quoting.quotes)

    def under(fence: str) -> Packed:
        packing = Packing(wanted.counter, wanted.budget, chunks, writer, fence)
        return packing.packed(choices)

    tried = ((fence, under(fence)) for fence in writer.fences(query))
    return next(packed for fence, packed in tried if not writer.is_broken(fence, packed.quotes))


@dataclass(frozen=True)
class _Quoting:
    """Makes passages of chunks of one view. `ranks` are those of the hits, by place."""

    view: View
    now_us: int
    ranks: dict[int, int]
    _texts: dict[int, Text] = field(default_factory=dict)
    _standings: dict[int, Standing] = field(default_factory=dict)
    _paths: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def beside(self) -> Beside:
        return Beside(self.view.places)

    def text_id(self, place: int) -> int:
        return int(self.view.places.input_ids[place])

    def groups(self, place: int, expand: Expand) -> Iterator[list[int]]:
        """What a chunk may be quoted with, widest first."""
        if expand == "section":
            yield from self._section(place)
        if expand != "none":
            yield sorted([place, *self.beside.around(place)])
        yield [place]

    def _section(self, place: int) -> Iterator[list[int]]:
        """The chunks before and after that stand under the same headings, where they are few."""
        path = self._path(place)
        found = [place]
        for step in (self.beside.before, self.beside.after):
            one = step(place)
            while one is not None and len(found) <= MAX_SECTION_CHUNKS:
                if self._path(one)[: len(path)] != path:
                    break
                found.append(one)
                one = step(one)
        if len(found) <= MAX_SECTION_CHUNKS:
            yield sorted(found)

    def _path(self, place: int) -> tuple[str, ...]:
        if place not in self._paths:
            chunk = (self._row(place).layout_id, int(self.view.places.ordinals[place]))
            self._paths[place] = self.view.heading_paths([chunk])[0]
        return self._paths[place]

    def text(self, place: int) -> str:
        start, end = int(self.view.places.starts[place]), int(self.view.places.ends[place])
        return self._text(place).characters[start:end]

    def quotes(self, taken: Taken) -> tuple[Quote, ...]:
        """Documents in the order in which they were found, each in reading order."""
        by_document: dict[int, list[int]] = {}
        for place in taken:
            by_document.setdefault(self.beside.document(place), []).append(place)
        runs = [run for places in by_document.values() for run in self._runs(sorted(places))]
        return tuple(self._quote(number, run) for number, run in enumerate(runs, start=1))

    def _runs(self, places: Sequence[int]) -> Iterator[list[int]]:
        """Chunks of a document that touch or overlap, or have blanks alone between them."""
        run: list[int] = []
        for place in places:
            if run and not self._meet(run, place):
                yield run
                run = []
            run.append(place)
        if run:
            yield run

    def _meet(self, run: Sequence[int], place: int) -> bool:
        """Whether what lies between is nothing, or blanks that may be read as the rest may."""
        end, start = self._end(run), int(self.view.places.starts[place])
        between = self._text(place).characters[end:start]
        whole = Span(int(self.view.places.starts[run[0]]), self._end([*run, place]))
        return not between.strip() and self.view.passes(self._row(place), whole)

    def _end(self, run: Sequence[int]) -> int:
        return max(int(self.view.places.ends[place]) for place in run)

    def _quote(self, number: int, run: Sequence[int]) -> Quote:
        row, text = self._row(run[0]), self._text(run[0])
        start, end = int(self.view.places.starts[run[0]]), self._end(run)
        citation = Citation.of(row.document, row.sha256, start, end)
        standing = self._standing(row).word(self.now_us)
        return Quote(number, citation, standing, text.characters[start:end], tuple(run))

    def passage(self, quote: Quote) -> Passage:
        """A quote with all that is known of it."""
        first = quote.places[0]
        row, text, cited = self._row(first), self._text(first), quote.citation
        return Passage(
            number=quote.number,
            document=cited.document,
            revision=row.sha256,
            start=cited.start,
            end=cited.end,
            start_line=text.line_of(cited.start),
            end_line=text.line_of(max(cited.start, cited.end - 1)),
            heading_path=self._path(first),
            text=quote.text,
            citation=cited,
            ranks=tuple(sorted(self.ranks[one] for one in quote.places if one in self.ranks)),
            **self._standing(row).as_fields(self.now_us),
        )

    def _standing(self, row: ManifestRow) -> Standing:
        if row.id not in self._standings:
            self._standings.update(self.view.standings([row]))
        return self._standings[row.id]

    def _row(self, place: int) -> ManifestRow:
        return self.view.documents[self.beside.document(place)]

    def _text(self, place: int) -> Text:
        row = self._row(place)
        if row.id not in self._texts:
            self._texts[row.id] = text_of(self.view, row.revision_id, row.content_type)
        return self._texts[row.id]

    def left_out(self, packed: Packed) -> Iterator[LeftOut]:
        """What was refused, by rank."""
        places = self.view.places
        for one in sorted(packed.refused, key=lambda one: self.ranks[one.place]):
            row = self._row(one.place)
            start, end = int(places.starts[one.place]), int(places.ends[one.place])
            reason = "duplicate" if one.tokens is None else "budget"
            citation = str(Citation.of(row.document, row.sha256, start, end))
            yield LeftOut(self.ranks[one.place], citation, reason, one.tokens)
