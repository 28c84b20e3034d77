"""A plain-Python model of who may read what, and when; and random policies for it.

Every unit of text, and what the front matter says, holds a marker of its own, and every document
has a name and hashes of its own: a character that got out is seen wherever it stands.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

from hypothesis import strategies as st

from variorum.access.principals import Principal

PATHS = ["alpha.md", "hr/beta.md", "hr/gamma.md", "law/delta.md"]
TITLES = ["Intros", "Wages", "Remainder"]
READERS = ["everyone", "user:ann", "user:bob", "group:staff", "group:hr"]
DAYS = [date(2020, 1, 1), date(2024, 1, 1), date(2030, 1, 1)]
TENANTS = {"acme": "acme", "twin": "acme", "globex": "globex"}
"""Collections and their tenants: two of one tenant with the same documents."""
PEOPLE: dict[str, Principal | None] = {
    "owner": None,
    "ann": Principal("acme", "ann", frozenset({"staff"}), "test"),
    "bob": Principal("acme", "bob", frozenset({"hr", "staff"}), "test"),
    "eve": Principal("globex", "ann", frozenset({"staff", "hr"}), "test"),
    "nobody": Principal("acme", "", frozenset(), "test"),
}

Readers = frozenset[str]
_TOLD = re.compile(rf"mk\d+x|{'|'.join(TITLES)}|{'|'.join(PATHS)}|(?<![.0-9a-f])[0-9a-f]{{16,}}")


@dataclass(frozen=True)
class Unit:
    """A section: its title, and the marker that only this text of it has."""

    title: str
    marker: str

    @property
    def text(self) -> str:
        words = " ".join(f"{self.marker}" for _ in range(3))
        return f"## {self.title}\n\n{words} some words that every unit of every document has.\n"


@dataclass(frozen=True)
class Spec:
    """A revision: its units, a marker in its metadata, and what it narrows itself to."""

    units: tuple[Unit, ...]
    marker: str
    readers: Readers | None = None
    since: date | None = None
    until: date | None = None

    @cached_property
    def text(self) -> str:
        claims: dict[str, object] = {}
        if self.readers is not None:
            claims["readers"] = sorted(self.readers)
        if self.since is not None:
            claims["effective_from"] = self.since.isoformat()
        if self.until is not None:
            claims["effective_until"] = self.until.isoformat()
        narrowing = f"variorum: {json.dumps(claims)}\n" if claims else ""
        front = f"---\n{self.marker}: {self.marker}\n{narrowing}---\n"
        return front + "\n".join(unit.text for unit in self.units)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Seen:
    """What somebody may read of a revision; nothing of it where sections keep all of it back."""

    spec: Spec
    units: tuple[Unit, ...]
    is_empty: bool = False

    @property
    def is_whole(self) -> bool:
        return self.units == self.spec.units and not self.is_empty


class Shown:
    """What may be told: of each path, what may be read of one or more revisions."""

    def __init__(self, seen: Iterable[tuple[str, Seen]]) -> None:
        self.seen = list(seen)
        self.paths = {path for path, _ in self.seen}
        self._hashes = [one.spec.sha256 for _, one in self.seen]
        units = [unit for _, one in self.seen for unit in one.units]
        markers = {one.spec.marker for _, one in self.seen if not one.is_empty}
        self._words = {*self.paths, *markers, *(unit.marker for unit in units)}
        self._words |= {unit.title for unit in units}

    def __or__(self, other: "Shown") -> "Shown":
        return Shown([*self.seen, *other.seen])

    def untold(self, told: object, *, asked: Iterable[str] = ()) -> list[str]:
        """What was told and may not be; `asked` are words that the question itself held."""
        found = set(_TOLD.findall(json.dumps(told))) - self._words - set(asked)
        return [one for one in found if not any(sha.startswith(one) for sha in self._hashes)]


NOTHING = Shown([])


@dataclass(frozen=True)
class Kept:
    """A section rule of the model."""

    title: str
    readers: Readers
    denies: bool


@dataclass(frozen=True)
class Given:
    """A grant of the model."""

    readers: Readers
    since: date | None = None
    until: date | None = None
    kept: tuple[Kept, ...] = ()


@dataclass(frozen=True)
class Line:
    """A rule of the model: the paths that it names, written out, and a grant."""

    paths: frozenset[str]
    given: Given

    @property
    def text(self) -> str:
        lines = [
            "[[rules]]",
            f"documents = {json.dumps([f'docs:{p}' for p in sorted(self.paths)])}",
        ]
        lines.append(f"readers = {json.dumps(sorted(self.given.readers))}")
        for key, day in (
            ("effective_from", self.given.since),
            ("effective_until", self.given.until),
        ):
            lines.append(f"{key} = " + ('"none"' if day is None else day.isoformat()))
        for one in self.given.kept:
            lines += ["[[rules.sections]]", f'heading = ["{one.title}"]']
            lines += [f"readers = {json.dumps(sorted(one.readers))}"]
            lines += [f'missing = "{"deny" if one.denies else "ignore"}"']
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Rules:
    """A policy of the model: its lines, and the users whom it puts into group hr."""

    lines: tuple[Line, ...]
    hr: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        groups = f"[groups]\nhr = {json.dumps(sorted(self.hr))}\n" if self.hr else ""
        return groups + "".join(line.text for line in self.lines)

    def given(self, path: str) -> Given | None:
        named = [line.given for line in self.lines if path in line.paths]
        if not named:
            return None
        return replace(named[-1], kept=tuple(one for given in named for one in given.kept))

    def without(self, path: str) -> "Rules":
        lines = (replace(line, paths=line.paths - {path}) for line in self.lines)
        return replace(self, lines=tuple(lines))

    def keys(self, principal: Principal) -> Readers:
        is_added = f"user:{principal.user}" in self.hr
        return principal.readers | ({"group:hr"} if is_added else set())


def tightened(old: Given | None, new: Given | None) -> Given | None:
    """A deleted document's grant: no reader and no day that both do not give."""
    if old is None:
        return None
    if new is None:
        return replace(old, readers=frozenset())
    readers = frozenset(
        one
        for one in old.readers | new.readers
        if all(one in side or "everyone" in side for side in (old.readers, new.readers))
    )
    since = max([one for one in (old.since, new.since) if one], default=None)
    until = min([one for one in (old.until, new.until) if one], default=None)
    return Given(readers, since, until, old.kept + new.kept)


def in_force(since: date | None, until: date | None, moment: date | None) -> bool:
    """By whole days, as every date of this model is one; None asks for any."""
    return moment is None or (
        (since is None or since <= moment) and (until is None or moment <= until)
    )


@dataclass
class Collection:
    """What the model knows of one collection."""

    tenant: str
    generations: dict[int, dict[str, Spec]] = field(default_factory=dict)
    newest: int = 0
    policy: Rules | None = None
    grants: dict[str, Given | None] = field(default_factory=dict)
    narrowed: dict[str, Readers | None] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)

    def apply(self, rules: Rules) -> None:
        self.policy = rules
        for path, old in self.grants.items():
            new = rules.given(path)
            alive = path in self.generations.get(self.newest, {})
            self.grants[path] = new if alive else tightened(old, new)

    def publish(self, files: dict[str, Spec]) -> None:
        listed = {path: spec for path, spec in files.items() if path not in self.denied}
        for path, spec in listed.items():
            if path not in self.grants:
                self.grants[path] = None if self.policy is None else self.policy.given(path)
            self.narrowed[path] = spec.readers
        self.add(listed)

    def add(self, documents: dict[str, Spec]) -> None:
        self.newest += 1
        self.generations[self.newest] = dict(documents)

    def erase(self, path: str) -> None:
        self.denied.add(path)
        self.grants.pop(path)
        self.narrowed.pop(path)
        for documents in self.generations.values():
            documents.pop(path, None)
        if self.policy is not None:
            self.policy = self.policy.without(path)

    def holds(self, path: str, spec: Spec) -> bool:
        return any(documents.get(path) == spec for documents in self.generations.values())

    def seen(self, who: str, path: str, spec: Spec, moment: date | None) -> Seen | None:
        """What somebody may read of a revision; None where the document is not there for them."""
        principal, given = PEOPLE[who], self.grants.get(path)
        if not in_force(spec.since, spec.until, moment):
            return None
        if given is not None and not in_force(given.since, given.until, moment):
            return None
        if principal is None:
            return Seen(spec, spec.units)
        if principal.tenant != self.tenant or given is None or self.policy is None:
            return None
        keys = self.policy.keys(principal)
        for readers in (given.readers, self.narrowed.get(path), spec.readers):
            if readers is not None and not keys & readers:
                return None
        closed = [one for one in given.kept if not keys & one.readers]
        titles = {unit.title for unit in spec.units}
        if any(one.denies and one.title not in titles for one in closed):
            return Seen(spec, (), is_empty=True)
        forbidden = {one.title for one in closed}
        return Seen(spec, tuple(unit for unit in spec.units if unit.title not in forbidden))

    def shown(self, who: str, number: int, moment: date | None) -> Shown:
        """What somebody may read of a generation."""
        documents = self.generations[number].items()
        found = ((path, self.seen(who, path, spec, moment)) for path, spec in documents)
        return Shown((path, seen) for path, seen in found if seen is not None)


some_readers = st.frozensets(st.sampled_from(READERS), max_size=2)
some_day = st.sampled_from([None, None, *DAYS])
some_kept = st.lists(
    st.builds(Kept, st.sampled_from(TITLES), some_readers, st.booleans()), max_size=1
)


@st.composite
def some_rules(draw: st.DrawFn) -> Rules:
    """Rules of which the first opens most documents to most: what takes away needs something."""
    opened = draw(st.sampled_from(["everyone", "everyone", "group:staff", "group:hr", "user:bob"]))
    lines = [Line(frozenset(PATHS), Given(frozenset({opened}), None, None, tuple(draw(some_kept))))]
    for _ in range(draw(st.integers(0, 2))):
        since, until = draw(some_day), draw(some_day)
        if since and until and since > until:
            since, until = until, since
        given = Given(draw(some_readers), since, until, tuple(draw(some_kept)))
        lines.append(Line(draw(st.frozensets(st.sampled_from(PATHS), min_size=1)), given))
    hr = draw(st.frozensets(st.sampled_from(["user:ann", "user:bob"]), max_size=1))
    return Rules(tuple(lines[draw(st.sampled_from([0, 0, 0, 1])) :]), hr)
