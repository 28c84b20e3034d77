"""What a study compares: a chunker of ours, alone or with the planner, or one of a peer.

`semantic` compares hashed words here, not a model's vectors: where it cuts is then a matter of the
text alone, and its windows cost nothing.

A subject is written as its spec: `recursive(max_tokens=400)`, `anchored+planner`,
`langchain-recursive(max_tokens=400)`. The planner runs only where it is named (invariant 11).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NoReturn, Protocol

from variorum.chunking import chunker_from_spec, lay_out
from variorum.chunking.chunker import NeedsVectors
from variorum.chunking.spec import CHUNKERS
from variorum.chunking.versions import algorithm_of
from variorum.lab.peers import PEERS, STATEFUL, Split
from variorum.lab.record import versions
from variorum.lab.versions import Version
from variorum.lab.words import HASHED, word_vectors
from variorum.records.errors import InputError
from variorum.records.layout import Layout, PreviousLayout, Recipe
from variorum.records.protocols import Sizer
from variorum.records.text import Span

PLANNER = "+planner"

MATCHED = (
    "fixed(max_tokens=304)",
    "fixed(max_tokens=304, overlap_tokens=32)",
    "fixed(max_tokens=304, overlap_tokens=64)",
    "recursive(max_tokens=400, terminators=spaced)",
    "content_defined(min_tokens=176, max_tokens=352)",
    "structural(max_tokens=512, min_tokens=200)",
    "anchored(max_tokens=512, min_tokens=170)",
    "anchored(max_tokens=512, min_tokens=170)+planner",
)
"""What is compared where nothing is named: about 300 tokens a chunk, the paper's settings."""

_SPEC = re.compile(r"\s*([a-z][a-z_-]*)\s*(?:\(([^()]*)\))?\s*(\+\s*planner)?\s*")
_SETTING = re.compile(r"\s*(\w+)\s*=\s*(\d{1,9})\s*")


@dataclass(frozen=True, slots=True)
class Cut:
    """A version in chunks: their ranges, their complete inputs, and the layout where it is ours."""

    version: Version
    spans: Sequence[Span]
    inputs: Sequence[str]
    layout: Layout | None = None

    @property
    def overlaps(self) -> bool:
        """Whether a chunk begins before the one before it ends."""
        return any(right.start < left.end for left, right in pairwise(self.spans))

    def contents(self) -> list[str]:
        """The characters of each chunk without its outer blanks."""
        return [self.version.text[start:end].strip() for start, end in self.spans]


class Subject(Protocol):
    """A way to cut."""

    @property
    def spec(self) -> str:
        """The canonical spec, which `subject` reads back."""
        ...

    @property
    def recipe(self) -> str:
        """The spec with the version of the rules, or of the library."""
        ...

    def fresh(self) -> "Subject":
        """The same for another document, without a memory of this one."""
        ...

    def cut(self, version: Version, sizer: Sizer, previous: Cut | None = None) -> Cut:
        """Cut a version, after the one before it where there is one."""
        ...


@dataclass(frozen=True, slots=True)
class Ours:
    """A chunker of this library through the product's own `lay_out`."""

    spec: str

    @property
    def planner(self) -> bool:
        """Whether old inputs are reused."""
        return self.spec.endswith(PLANNER)

    @property
    def chunker(self) -> str:
        """The chunker's own spec."""
        return self.spec.removesuffix(PLANNER)

    @property
    def recipe(self) -> str:
        """The spec and the versions of the rules behind it."""
        rules = f"{self.spec} {algorithm_of(self.chunker, planner=self.planner)}"
        hashed = isinstance(chunker_from_spec(self.chunker), NeedsVectors)
        return f"{rules} {HASHED}" if hashed else rules

    def fresh(self) -> "Ours":
        """Itself: a layout depends on its arguments alone."""
        return self

    def cut(self, version: Version, sizer: Sizer, previous: Cut | None = None) -> Cut:
        """Cut a version; the previous cut counts for the planner only."""
        algorithm = algorithm_of(self.chunker, planner=self.planner)
        recipe = Recipe(self.chunker, self.planner, 0, "lab", "lab", algorithm)
        before = None
        if self.planner and previous is not None and previous.layout is not None:
            before = PreviousLayout(previous.version.text, previous.layout)
        layout = lay_out(version.text, version.structure, recipe, sizer, before, word_vectors)
        spans = [Span(chunk.start, chunk.end) for chunk in layout.chunks]
        return Cut(version, spans, layout.inputs, layout)


class TooLongError(Exception):
    """An input over the limit, which a model would refuse or cut off."""


@dataclass(slots=True)
class Other:
    """A splitter of another library; a chunk without its outer blanks is the input."""

    name: str
    settings: dict[str, int]
    _split: Split | None = field(default=None, repr=False)

    @property
    def spec(self) -> str:
        """The name with every setting."""
        printed = ", ".join(f"{key}={value}" for key, value in sorted(self.settings.items()))
        return f"{self.name}({printed})"

    @property
    def recipe(self) -> str:
        """The spec and the version of the library."""
        package = PEERS[self.name].package
        return f"{self.spec} {package} {versions([package]).get(package, 'not installed')}"

    def fresh(self) -> "Other":
        """One without a memory where it has one."""
        return replace(self, _split=None) if self.name in STATEFUL else self

    def cut(self, version: Version, sizer: Sizer, previous: Cut | None = None) -> Cut:
        """Cut a version.

        Raises:
            TooLongError: a chunk is over the sizer's limit.
        """
        if self._split is None:
            self._split = PEERS[self.name].make(self.settings, sizer.tokenizer)
        text = version.text
        spans = [one for one in self._split(text) if text[one.start : one.end].strip()]
        inputs = [text[start:end].strip() for start, end in spans]
        longest = max(sizer.count(inputs), default=0)
        if longest > sizer.max_tokens:
            raise TooLongError(f"an input of {longest} tokens, over {sizer.max_tokens}")
        return Cut(version, spans, inputs)


def subject(spec: str) -> Subject:
    """Read a subject's spec; settings left out keep their defaults.

    Raises:
        InputError: kind `unknown-chunker` or `bad-parameter`.
    """
    match = _SPEC.fullmatch(spec)
    name = match[1] if match else ""
    if match is None or (name not in CHUNKERS and name not in PEERS):
        _refuse(spec)
    if name in CHUNKERS:
        return _ours(spec.partition("+")[0], planner=bool(match[3]))
    return _other(name, match[2] or "", planner=bool(match[3]))


def short(spec: str) -> str:
    """A spec without the settings that are the defaults, its largest size apart.

    >>> short("recursive(max_tokens=400, rules=paper, terminators=spaced)")
    'recursive(max_tokens=400, terminators=spaced)'
    """
    name, _, rest = spec.partition("(")
    printed, _, tail = rest.partition(")")
    usual = subject(name).spec.partition("(")[2].rstrip(")").split(", ")
    kept = ", ".join(
        one for one in printed.split(", ") if one not in usual or one.startswith("max_")
    )
    return f"{name}({kept}){tail}" if kept else f"{name}{tail}"


_SIZES = re.compile(r"(max|min|overlap)_(?:tokens|characters|bytes)=(\d+)")


def label(spec: str) -> str:
    """A spec in few characters, for plots: its name, sizes and the planner.

    >>> label("anchored(max_tokens=512, min_tokens=100)+planner")
    'anchored 100–512 + planner'
    >>> label("fixed(max_tokens=304, overlap_tokens=32)")
    'fixed 304, 32 shared'
    """
    sizes = dict(_SIZES.findall(spec))
    name = re.split(r"[(+]", spec, maxsplit=1)[0]
    least = f"{sizes['min']}–" if "min" in sizes else ""
    size = f" {least}{sizes['max']}" if "max" in sizes else ""
    shared = f", {sizes['overlap']} shared" if sizes.get("overlap", "0") != "0" else ""
    return f"{name}{size}{shared}{' + planner' if spec.endswith(PLANNER) else ''}"


def subjects(specs: Sequence[str]) -> list[Subject]:
    """The subjects in order, each once."""
    found = [subject(spec) for spec in specs]
    return list({one.spec: one for one in found}.values())


def _ours(spec: str, *, planner: bool) -> Ours:
    chunker = chunker_from_spec(spec)
    if planner and chunker.overlaps:
        _refuse_setting(spec, "no planner, or no overlap", f"{spec}{PLANNER}")
    return Ours(chunker.spec + (PLANNER if planner else ""))


def _other(name: str, printed: str, *, planner: bool) -> Other:
    settings = dict(PEERS[name].defaults)
    for part in filter(str.strip, printed.split(",")):
        match = _SETTING.fullmatch(part)
        if match is None or match[1] not in settings:
            _refuse_setting(name, " and ".join(settings), part.strip())
        settings[match[1]] = int(match[2])
    if planner:
        _refuse_setting(name, "no planner: it is this library's own", PLANNER)
    return Other(name, settings)


def _refuse(spec: str) -> NoReturn:
    known = ", ".join(sorted([*CHUNKERS, *PEERS]))
    raise InputError(
        f"{spec!r} names no chunker",
        kind="unknown-chunker",
        subject=spec,
        expected=f"one of {known}, with settings in brackets, and +planner behind one of ours",
        found=spec,
        remedy="write for instance recursive(max_tokens=400) or anchored+planner",
    )


def _refuse_setting(name: str, expected: str, found: str) -> NoReturn:
    raise InputError(
        f"{name} cannot be compared with {found!r}",
        kind="bad-parameter",
        subject=name,
        expected=expected,
        found=found,
        remedy="see the chunkers of docs/lab.md",
    )
