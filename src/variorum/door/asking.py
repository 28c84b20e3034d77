"""What a reader asks: search, context, citations, and what was published."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property, partial

from variorum.door.opened import Opened
from variorum.door.status import Status, status
from variorum.door.telling import telling_damage
from variorum.door.tracing import traced
from variorum.embedding.remote.tokenizers import named_counter
from variorum.embedding.rerank.guarded import GuardedReranker
from variorum.embedding.rerank.registry import reranker_from_spec
from variorum.records.arguments import (
    bad_parameter,
    place,
    switches,
    whole,
    words,
)
from variorum.records.context import Context, Expand, Format
from variorum.records.hits import Answer, CitedText
from variorum.records.names import Citation
from variorum.records.protocols import Reranker, TokenCounter
from variorum.retrieval.citing import show
from variorum.retrieval.context import (
    DEFAULT_BUDGET,
    DEFAULT_CANDIDATES,
    Wanted,
    context,
)
from variorum.retrieval.filters import Filter
from variorum.retrieval.legs import Way
from variorum.retrieval.searching import MAX_K, Question, ranked, require_sound, search
from variorum.store.generations import GenerationRow
from variorum.store.history import Difference, difference

Where = Mapping[str, str | int | float | bool] | Sequence[str]
"""Conditions of metadata: keys and their values, or texts such as "year>=2020"."""


class Asking(Opened):
    """What reads generations, as the principal may."""

    @telling_damage
    def search(
        self,
        query: str,
        k: int = 10,
        *,
        as_of: int | None = None,
        path: str | None = None,
        content_type: str | None = None,
        where: Where | None = None,
        language: str | None = None,
        changed_since: date | str | None = None,
        effective: date | str | None = None,
        mode: str | None = None,
        weights: Mapping[str, float] | None = None,
        explain: bool = False,
    ) -> Answer:
        """The `k` passages that answer `query` best, in one generation, best first.

        `mode` is "dense" (by meaning), "lexical" (by words) or "hybrid" (both); where it is not
        named, hybrid, or what can be had of it, and the answer says so. `weights` are those of
        "dense" and "lexical" in hybrid. With `explain` each hit says which words found it.
        A string in `where` matches a value written like it; a number or a boolean matches its own
        kind alone. Instead of a mapping it can be a list of texts such as "year>=2020": numbers
        compare as numbers, dates as dates. `language` is a tag that documents declare; a document
        that stood as it does before `changed_since` does not pass.

        `effective` asks for what is in force at a date, `any` for all that ever is; by default what
        is in force now. It stands apart from `as_of`, which names the state of the documents.

        Raises:
            InputError: a blank query, a `k` out of range, a bad path pattern or date, an unknown
                metadata key, language or content type, or an argument of another type.
            NotFoundError: nothing was published yet, or not generation `as_of`.
            UnsupportedError: the named mode needs a model that is not to be had here.
            UnavailableError: the model that it needs cannot answer now.
        """
        require_sound(query, k)
        switches(explain=explain)
        since = self._instant("changed_since", changed_since)
        within = Filter.of(path, content_type, where, language, since)
        way = Way.of(mode, weights)
        number = None if as_of is None else whole("as_of", as_of)
        question = Question(query, k, within, way, explain, self._reranker)
        with traced("search", collection=self.collection.name, k=k) as span:
            asked = self._asked(effective)
            view = self._view(asked, number)
            answer = search(view, lambda: self._sound_embedder_of(view.generation), question, asked)
            span.note(generation=answer.generation, hits=len(answer.hits))
        self._note("search", view, answer.effective, [hit.citation for hit in answer.hits], query)
        return answer

    @telling_damage
    def context(
        self,
        query: str,
        budget: int = DEFAULT_BUDGET,
        *,
        k: int = DEFAULT_CANDIDATES,
        format: Format = "prompt",
        expand: Expand = "neighbours",
        tokenizer: TokenCounter | str | None = None,
        as_of: int | None = None,
        path: str | None = None,
        content_type: str | None = None,
        where: Where | None = None,
        language: str | None = None,
        changed_since: date | str | None = None,
        effective: date | str | None = None,
        mode: str | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Context:
        """What a model would be given to answer `query`: whole passages within `budget` tokens.

        Of the best `k` hits as many as fit, each expanded to its neighbours, to its section or not
        at all, those of one document together and in reading order, cited, and delimited by a fence
        that no passage holds. `tokenizer` counts as the model does that will read it: an object
        with `count(text)`, or a name as in a model's spec; by default the index's own model. The
        other arguments are as in `search`.

        Raises:
            InputError: as `search`, or a budget, format or expansion that is none.
            NotFoundError: as `search`, or there is no such tokenizer.
            UnsupportedError: as `search`, or the model whose tokenizer counts is not to be had.
            UnavailableError: as `search`, likewise.
        """
        require_sound(query, k)
        since = self._instant("changed_since", changed_since)
        within = Filter.of(path, content_type, where, language, since)
        way = Way.of(mode, weights)
        number = None if as_of is None else whole("as_of", as_of)
        question = Question(query, k, within, way, reranker=self._reranker)
        with traced("context", collection=self.collection.name, k=k) as span:
            asked = self._asked(effective)
            view = self._view(asked, number)
            counter = self._counter(tokenizer, view.generation)
            wanted = Wanted.of(counter, budget, format, expand)
            load = partial(self._sound_embedder_of, view.generation)
            ranking = ranked(view, load, question, MAX_K)
            found = context(view, ranking, question, asked, wanted)
            span.note(generation=found.generation, passages=len(found.passages))
        citations = [one.citation for one in found.passages]
        self._note("context", view, found.effective, citations, query)
        return found

    @cached_property
    def _reranker(self) -> Reranker | None:
        if self._given_reranker is not None:
            return GuardedReranker(self._given_reranker)
        if not self.collection.reranker:
            return None
        return reranker_from_spec(self.collection.reranker, self._model_home)

    def _counter(self, given: TokenCounter | str | None, row: GenerationRow) -> TokenCounter:
        if given is None:
            return self._embedder_of(row).tokenizer
        if isinstance(given, str):
            return named_counter(place("tokenizer", given), self._model_home)
        if isinstance(given, Sequence) or not isinstance(given, TokenCounter):  # They count too.
            raise bad_parameter("tokenizer", "an object with count(text), or a name", given)
        return given

    @telling_damage
    def show(self, citation: str | Citation, *, effective: date | str | None = None) -> CitedText:
        """Open a citation: its exact characters in their section, from the stored revision.

        A document that is not in force at `effective` (now, by default) opens with `any` only.

        Raises:
            InputError: not a citation, or not a date.
            NotFoundError: no kept generation holds what it cites, or not for this principal.
        """
        if not isinstance(citation, Citation):
            citation = Citation.parse(words("citation", citation))
        asked = self._asked(effective)
        view = self._view(asked)
        self._note("show", view, asked.effective, [citation])
        return show(view, citation, asked.now_us)

    @telling_damage
    def log(self) -> list[GenerationRow]:
        """Every published generation, oldest first; empty where there is none.

        What each did to how many documents is for the owner's eyes.
        """
        rows = self._generations()
        return rows if self.principal.is_owner else [row.without_counts() for row in rows]

    @telling_damage
    def diff(self, old: int, new: int, *, effective: date | str | None = None) -> Difference:
        """What changed between two generations, document by document.

        Raises:
            InputError: `effective` is not a date.
            NotFoundError: one of them was never published.
        """
        before, after = whole("old", old), whole("new", new)
        asked = self._asked(effective)
        return difference(self._view(asked, before), self._view(asked, after))

    @telling_damage
    def status(self, *, effective: date | str | None = None) -> Status:
        """What is published, how large it is, and under which settings.

        Raises:
            InputError: `effective` is not a date.
            NotFoundError: nothing was published yet.
        """
        return status(self._store, self._view(self._asked(effective)), self._configured)
