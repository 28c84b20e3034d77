"""Why an input of a document would be embedded: from its old text and layout and its new ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from variorum.chunking import chunker_from_spec
from variorum.chunking.folding import Folded
from variorum.records.layout import Chunk
from variorum.records.reports import Explanation, Reason
from variorum.records.text import Span
from variorum.sync.changes import Changes

_SHOWN_DIGITS = 12


@dataclass(frozen=True)
class Side:
    """A revision as it was or will be cut.

    `settings` are its recipe's, each by its name, and `parser`. `overhead` counts the tokens that
    an input has beside its text.
    """

    characters: str
    chunks: Sequence[Chunk]
    settings: Mapping[str, object]
    overhead: int = 0

    @cached_property
    def text(self) -> str:
        """The characters with line ends folded."""
        return self._folded.characters

    @cached_property
    def spans(self) -> list[Span]:
        """The ranges of the chunks in `text`."""
        return [self._folded.fold(Span(chunk.start, chunk.end)) for chunk in self.chunks]

    @cached_property
    def contents(self) -> list[str]:
        """The characters of each chunk as its input has them."""
        return [self.text[start:end].strip() for start, end in self.spans]

    @cached_property
    def sizes(self) -> list[int]:
        """About the tokens of each chunk's own characters, without its prefix and the overhead."""
        inputs = zip(self.chunks, self.contents, strict=True)
        return [
            (chunk.tokens - self.overhead) * len(content) // (len(chunk.prefix) + len(content) or 1)
            for chunk, content in inputs
        ]

    @cached_property
    def _folded(self) -> Folded:
        return Folded(self.characters)


def explain(old: Side | None, new: Side, embedded: Iterable[int]) -> tuple[Explanation, ...]:
    """A reason for each chunk of `new`, by number, whose input is to be embedded.

    The first that holds: the document is new; its model changed; its characters do not stand in
    the old text (edited); another setting changed; the old text has the chunk under another prefix
    (heading path changed); its characters were cut differently (boundary moved).
    Cost: a comparison of the two texts by lines, and by words where lines differ.
    """
    explainer = None if old is None else _Explainer(old, new)
    explained = []
    for number in embedded:
        chunk = new.chunks[number]
        reason, detail = explainer.why(number) if explainer else (Reason.NEW_DOCUMENT, "")
        explained.append(Explanation(chunk.start, chunk.end, reason, detail, chunk.tokens))
    return tuple(explained)


class _Explainer:
    """One document's old side against its new one."""

    def __init__(self, old: Side, new: Side) -> None:
        self._old, self._new = old, new
        self._settings = _changed_settings(old.settings, new.settings)

    def why(self, number: int) -> tuple[Reason, str]:
        """The reason for a chunk of the new side, and its detail."""
        content = self._new.contents[number]
        if "model" in self._settings:
            return Reason.RECIPE_CHANGED, self._shown_settings()
        if content not in self._old.text:
            change = self._changes.in_new(*self._new.spans[number])
            return Reason.EDITED, self._changes.words(change)
        if self._settings:
            return Reason.RECIPE_CHANGED, self._shown_settings()
        same = [at for at, one in enumerate(self._old.contents) if one == content]
        if same:
            nearest = min(same, key=lambda at: abs(at - number))
            old, new = self._old.chunks[nearest], self._new.chunks[number]
            return Reason.HEADING_PATH_CHANGED, _prefixes(old, new)
        return Reason.BOUNDARY_MOVED, self._boundary(number)

    @cached_property
    def _changes(self) -> Changes:
        return Changes(self._old.text, self._new.text)

    def _shown_settings(self) -> str:
        return "; ".join(f"{name}: {change}" for name, change in self._settings.items())

    def _boundary(self, number: int) -> str:
        """Which old chunks the characters of a chunk were in, and what became of them."""
        place = self._place_in_old(number)
        end = place + len(self._new.contents[number])
        group = [at for at, span in enumerate(self._old.spans) if span[0] < end and place < span[1]]
        start, last = self._old.spans[group[0]].start, self._old.spans[group[-1]].end
        change = self._changes.nearest(start, last)
        if change is None:
            return "the same text, cut anew"
        was = f"was in {len(group)} chunks" if len(group) > 1 else "was in one larger chunk"
        beside = change.old_end < start or last < change.old_start
        inside = "it was edited" if len(group) == 1 else "one was edited"
        cause = self._cause(group) or ("the text beside it was edited" if beside else inside)
        return f"{was}; {cause}: {self._changes.words(change)}"

    def _cause(self, group: Sequence[int]) -> str:
        """Which of some old chunks and their neighbours grew or shrank over a limit, if one did."""
        shape = chunker_from_spec(str(self._new.settings["chunker"])).shape
        around = [at for at in (group[0] - 1, *group, group[-1] + 1) if 0 <= at < len(self._sizes)]
        for at in around:
            before, after = self._old.sizes[at], self._sizes[at]
            if after > shape.max_tokens and after > before:
                return f"one grew from {before} to {after} tokens, past {shape.max_tokens}"
            if after < shape.min_tokens and after < before:
                return f"one shrank from {before} to {after} tokens, under {shape.min_tokens}"
        return ""

    @cached_property
    def _sizes(self) -> list[int]:
        """About how many tokens what stood in each old chunk has now."""
        ends = [(self._changes.moved(a), self._changes.moved(b)) for a, b in self._old.spans]
        return [round(sum(self._tokens_within(*one))) for one in ends]

    def _tokens_within(self, start: int, end: int) -> Iterable[float]:
        for span, tokens in zip(self._new.spans, self._new.sizes, strict=True):
            shared = min(end, span.end) - max(start, span.start)
            if shared > 0:
                yield tokens * shared / (span.end - span.start)

    def _place_in_old(self, number: int) -> int:
        """The occurrence of a chunk's characters in the old text nearest to where it stands now."""
        content, here = self._new.contents[number], self._new.spans[number].start
        places = []
        place = self._old.text.find(content)
        while place >= 0:
            places.append(place)
            place = self._old.text.find(content, place + 1)
        return min(places, key=lambda one: abs(self._changes.moved(one) - here))


def _changed_settings(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, str]:
    names = sorted(old.keys() | new.keys())
    changed = (name for name in names if old.get(name) != new.get(name))
    return {name: f"{_setting(old.get(name))} -> {_setting(new.get(name))}" for name in changed}


def _setting(value: object) -> str:
    """A setting as printed; a fingerprint by its first digits."""
    if isinstance(value, bool):
        return str(value).lower()
    printed = "none" if value is None else str(value)
    hexadecimal = len(printed) == 64 and set(printed) <= set("0123456789abcdef")
    return printed[:_SHOWN_DIGITS] if hexadecimal else printed


def _prefixes(old: Chunk, new: Chunk) -> str:
    """The headings that changed, or else the prefix."""
    if old.heading_path != new.heading_path:
        before, after = (" > ".join(chunk.heading_path) or "none" for chunk in (old, new))
    else:
        before, after = (" ".join(chunk.prefix.split()) or "none" for chunk in (old, new))
    return f"{before} -> {after}"
