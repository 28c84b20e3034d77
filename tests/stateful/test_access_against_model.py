"""What each principal is told, against a plain-Python model of who may read what, and when.

Every unit of text holds a marker of its own and every document a name of its own, so a character
that got out is seen wherever it stands: in a passage, a section, a count's list, or an error.
"""

import json
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

import variorum
from variorum.access.principals import Principal
from variorum.records.errors import NotFoundError
from variorum.records.hits import CitedText
from workbench import Recorder

PHASES = (Phase.explicit, Phase.generate)
PATHS = ["alpha.md", "hr/beta.md", "hr/gamma.md", "law/delta.md"]
TITLES = ["Intro", "Pay", "Rest"]
READERS = ["everyone", "user:ann", "user:bob", "group:staff", "group:hr"]
DAYS = [date(2020, 1, 1), date(2024, 1, 1), date(2030, 1, 1)]
DATES: list[str | None] = [None, "any", "2021-06-01", "2028-06-01", "2031-01-01"]
TENANTS = {"acme": "acme", "twin": "acme", "globex": "globex"}
"""Collections and their tenants: two of one tenant with the same documents."""
MOSTLY = ["acme", "acme", "acme", "twin", "globex"]
PEOPLE: dict[str, Principal | None] = {
    "owner": None,
    "ann": Principal("acme", "ann", frozenset({"staff"}), "test"),
    "bob": Principal("acme", "bob", frozenset({"hr", "staff"}), "test"),
    "eve": Principal("globex", "ann", frozenset({"staff", "hr"}), "test"),
    "nobody": Principal("acme", "", frozenset(), "test"),
}
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)

Readers = frozenset[str]


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
    """A revision: its units, and what its front matter narrows it to."""

    units: tuple[Unit, ...]
    readers: Readers | None = None
    since: date | None = None
    until: date | None = None

    @property
    def text(self) -> str:
        claims: dict[str, object] = {}
        if self.readers is not None:
            claims["readers"] = sorted(self.readers)
        if self.since is not None:
            claims["effective_from"] = self.since.isoformat()
        if self.until is not None:
            claims["effective_until"] = self.until.isoformat()
        front = f"---\nvariorum: {json.dumps(claims)}\n---\n" if claims else ""
        return front + "\n".join(unit.text for unit in self.units)


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


def evaluate(lines: list[Line], path: str) -> Given | None:
    named = [line.given for line in lines if path in line.paths]
    if not named:
        return None
    return replace(named[-1], kept=tuple(one for given in named for one in given.kept))


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
    days = (
        [one for one in (old.since, new.since) if one],
        [one for one in (old.until, new.until) if one],
    )
    return Given(
        readers, max(days[0], default=None), min(days[1], default=None), old.kept + new.kept
    )


def in_force(since: date | None, until: date | None, moment: date | None) -> bool:
    """By whole days, as every date of this model is one; None asks for any."""
    return moment is None or (
        (since is None or since <= moment) and (until is None or moment <= until)
    )


@dataclass
class Collection:
    """What the model knows of one collection."""

    generations: dict[int, dict[str, Spec]] = field(default_factory=dict)
    policy: list[Line] | None = None
    grants: dict[str, Given | None] = field(default_factory=dict)
    narrowed: dict[str, Readers | None] = field(default_factory=dict)
    held: bool = False

    @property
    def newest(self) -> int:
        return max(self.generations, default=0)

    def apply(self, lines: list[Line]) -> None:
        self.policy = lines
        for path, old in self.grants.items():
            new = evaluate(lines, path)
            alive = path in self.generations.get(self.newest, {})
            self.grants[path] = new if alive else tightened(old, new)

    def publish(self, files: dict[str, Spec]) -> None:
        for path, spec in files.items():
            if path not in self.grants:
                self.grants[path] = None if self.policy is None else evaluate(self.policy, path)
            self.narrowed[path] = spec.readers
        self.generations[self.newest + 1] = dict(files)

    def units(
        self, tenant: str, who: str, path: str, spec: Spec, moment: date | None
    ) -> tuple[Unit, ...] | None:
        """The units of a revision that may be shown; None where the document is not there."""
        principal, given = PEOPLE[who], self.grants.get(path)
        keys = None if principal is None else principal.readers
        if not in_force(spec.since, spec.until, moment):
            return None
        if given is not None and not in_force(given.since, given.until, moment):
            return None
        if keys is None:
            return spec.units
        if principal is None or principal.tenant != tenant or given is None:
            return None
        for readers in (given.readers, self.narrowed.get(path), spec.readers):
            if readers is not None and not keys & readers:
                return None
        closed = [one for one in given.kept if not keys & one.readers]
        titles = {unit.title for unit in spec.units}
        if any(one.denies and one.title not in titles for one in closed):
            return ()
        forbidden = {one.title for one in closed}
        return tuple(unit for unit in spec.units if unit.title not in forbidden)


some_readers = st.frozensets(st.sampled_from(READERS), max_size=2)
some_day = st.sampled_from([None, None, *DAYS])
some_kept = st.lists(
    st.builds(Kept, st.sampled_from(TITLES), some_readers, st.booleans()), max_size=1
)


@st.composite
def some_lines(draw: st.DrawFn) -> list[Line]:
    """Rules of which the first opens most documents to most: what takes away needs something."""
    opened = draw(st.sampled_from(["everyone", "everyone", "group:staff", "user:bob"]))
    lines = [Line(frozenset(PATHS), Given(frozenset({opened}), None, None, tuple(draw(some_kept))))]
    for _ in range(draw(st.integers(0, 2))):
        since, until = draw(some_day), draw(some_day)
        if since and until and since > until:
            since, until = until, since
        given = Given(draw(some_readers), since, until, tuple(draw(some_kept)))
        lines.append(Line(draw(st.frozensets(st.sampled_from(PATHS), min_size=1)), given))
    return lines[draw(st.sampled_from([0, 0, 0, 1])) :]


class AccessMachine(RuleBasedStateMachine):
    asked = 0
    """Queries over all runs of the machine."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="variorum-access-"))
        (self.home / "docs").mkdir()
        self.files: dict[str, Spec] = {}
        self.markers = 0
        self.collections = {name: Collection() for name in TENANTS}
        self.citations: list[tuple[str, str, CitedText, Spec]] = []
        tables = "".join(
            f'[collections.{name}]\ntenant = "{tenant}"\n' for name, tenant in TENANTS.items()
        )
        (self.home / "variorum.toml").write_text(
            '[chunking]\nchunker = "anchored(max_tokens=40, min_tokens=10)"\n'
            '[sources.docs]\nroot = "docs"\n' + tables
        )
        embedder = Recorder(32)
        self.indexes: dict[tuple[str, str], variorum.Index] = {}
        for name in TENANTS:
            # Two handles on one store: one that writes, and one that has read before and is open.
            self.indexes[name, "writer"] = variorum.open(
                self.home, collection=name, embedder=embedder
            )
            reader = variorum.open(self.home, collection=name, embedder=embedder)
            reader.clock = lambda: NOW
            self.indexes[name, "owner"] = reader
            for who, principal in PEOPLE.items():
                if principal is not None:
                    self.indexes[name, who] = reader.for_principal(principal)

    def teardown(self) -> None:
        self.ask_everything()
        for index in self.indexes.values():
            index.close()
        shutil.rmtree(self.home)

    # Changes

    def unit(self, title: str) -> Unit:
        self.markers += 1
        return Unit(title, f"mk{self.markers}x")

    def write(self, path: str, spec: Spec) -> None:
        file = self.home / "docs" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(spec.text)
        self.files[path] = spec

    @initialize(lines=some_lines())
    def begin(self, lines: list[Line]) -> None:
        for path in PATHS[:3]:
            self.write(path, Spec(tuple(self.unit(title) for title in TITLES)))
        for name in TENANTS:
            self.sync(name)
        self.apply("acme", lines)

    @rule(
        path=st.sampled_from(PATHS),
        titles=st.lists(st.sampled_from(TITLES), min_size=1, max_size=3, unique=True),
        readers=st.sampled_from([None, None, *map(frozenset, (["group:hr"], ["user:ann"], []))]),
        since=some_day,
        until=some_day,
        goes_on=st.sampled_from([True, True, True, False]),
    )
    def edit(
        self,
        path: str,
        titles: list[str],
        readers: Readers | None,
        since: date | None,
        until: date | None,
        goes_on: bool,
    ) -> None:
        kept = {unit.title: unit for unit in self.files[path].units} if path in self.files else {}
        units = tuple(kept.pop(title, None) or self.unit(title) for title in titles)
        if since and until and since > until:
            since, until = until, since
        self.write(path, Spec(units, readers, since, until))
        if goes_on:
            self.sync("acme")

    @rule(path=st.sampled_from(PATHS), lines=some_lines())
    def delete_and_apply(self, path: str, lines: list[Line]) -> None:
        if path in self.files and len(self.files) > 1:
            (self.home / "docs" / path).unlink()
            del self.files[path]
            self.sync("acme")
            self.apply("acme", lines)

    @rule(name=st.sampled_from(MOSTLY))
    def sync(self, name: str) -> None:
        report = self.indexes[name, "writer"].sync(release=True)
        assert report.held == ()
        model = self.collections[name]
        if report.generation is not None:
            model.publish(self.files)
            assert report.generation == model.newest
            named = {p for p in self.files if model.grants[p] is None}
            expected = {f"docs:{p}" for p in named} if model.policy is not None else set()
            assert {str(one) for one in report.unnamed} == expected

    @rule(name=st.sampled_from(MOSTLY), lines=some_lines())
    def apply(self, name: str, lines: list[Line]) -> None:
        file = self.home / "policy.toml"
        file.write_text("".join(line.text for line in lines))
        self.indexes[name, "writer"].access.apply(file, author="test")
        self.collections[name].apply(lines)

    @precondition(lambda self: self.collections["acme"].newest > 1)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        model = self.collections["acme"]
        wanted = data.draw(st.integers(1, model.newest), label="generation")
        number = self.indexes["acme", "writer"].restore(wanted)
        model.generations[number] = dict(model.generations[wanted])

    # Questions

    def moment(self, effective: str | None) -> date | None:
        if effective == "any":
            return None
        return NOW.date() if effective is None else date.fromisoformat(effective)

    def visible(
        self, name: str, who: str, number: int, effective: str | None
    ) -> dict[str, tuple[Unit, ...]]:
        """What the model shows: the units of each document that is there."""
        model, moment = self.collections[name], self.moment(effective)
        return {
            path: units
            for path, spec in model.generations[number].items()
            if (units := model.units(TENANTS[name], who, path, spec, moment)) is not None
        }

    def check_told(self, told: object, shown: dict[str, tuple[Unit, ...]]) -> None:
        """Not a marker and not a name that is not shown, anywhere in what was told."""
        text = json.dumps(told)
        allowed = {unit.marker for units in shown.values() for unit in units}
        for number in range(1, self.markers + 1):
            if f"mk{number}x" not in allowed:
                assert f"mk{number}x" not in text
        for path in PATHS:
            if path not in shown:
                assert path not in text
        AccessMachine.asked += 1

    @rule(
        name=st.sampled_from(MOSTLY),
        who=st.sampled_from(sorted(PEOPLE)),
        effective=st.sampled_from(DATES),
        back=st.integers(0, 3),
    )
    def ask(self, name: str, who: str, effective: str | None, back: int) -> None:
        newest = self.collections[name].newest
        self.ask_search(name, who, max(1, newest - back), effective)
        self.ask_context(name, who, max(1, newest - back), effective)
        self.ask_counts(name, who, max(1, newest - back), effective)
        self.ask_citations(name, who, effective)

    def ask_everything(self) -> None:
        for name, model in self.collections.items():
            for who in PEOPLE:
                for effective in DATES:
                    for number in list(model.generations)[-3:]:
                        self.ask_search(name, who, number, effective)
                    self.ask_counts(name, who, model.newest, effective)
                    self.ask_citations(name, who, effective)

    def ask_search(self, name: str, who: str, number: int, effective: str | None) -> None:
        index = self.indexes[name, who]
        shown = self.visible(name, who, number, effective)
        for query, k in (("some words", 1000), (f"mk{self.markers}x mk1x", 3)):
            answer = index.search(query, k, as_of=number, effective=effective)
            told = answer.as_fields()
            self.check_told({**told, "query": ""}, shown)
            if k == 1000:
                self.check_found(name, number, shown, [h.text for h in answer.hits])
                self.remember(name, number, who, answer.hits[:1], effective)
        with pytest.raises(variorum.VariorumError) as unknown:
            index.search("some words", as_of=number, effective=effective, where={"none": "x"})
        self.check_told(unknown.value.as_fields(), shown)

    def ask_context(self, name: str, who: str, number: int, effective: str | None) -> None:
        """What a model would be given, expanded as far as it goes and as short as it gets."""
        index = self.indexes[name, who]
        shown = self.visible(name, who, number, effective)
        for expand, budget in (("section", 5000), ("neighbours", 150)):
            found = index.context(
                "some words",
                budget,
                expand=expand,  # type: ignore[arg-type]
                as_of=number,
                effective=effective,
            )
            self.check_told(found.as_fields(), shown)
            assert found.tokens <= budget
            for one in found.passages:
                spec = self.collections[name].generations[number][one.document.path.decode()]
                assert one.text == spec.text[one.start : one.end]
            if budget == 5000:
                self.check_found(name, number, shown, [one.text for one in found.passages])

    def check_found(
        self, name: str, number: int, shown: dict[str, tuple[Unit, ...]], texts: list[str]
    ) -> None:
        """Of documents that are shown whole, every unit is found."""
        for path, units in shown.items():
            if units == self.collections[name].generations[number][path].units:
                for unit in units:
                    assert any(unit.marker in text for text in texts), (path, unit)

    def remember(
        self,
        name: str,
        number: int,
        who: str,
        hits: tuple[variorum.Hit, ...],
        effective: str | None,
    ) -> None:
        for hit in hits:
            path = hit.document.path.decode()
            spec = self.collections[name].generations[number][path]
            shown = self.indexes[name, who].show(hit.citation, effective=effective)
            assert shown.text == hit.text == spec.text[hit.start : hit.end]
            known = {(one, str(cited.citation)) for one, _, cited, _ in self.citations}
            if (name, str(shown.citation)) not in known:
                self.citations.append((name, path, shown, spec))

    def ask_counts(self, name: str, who: str, number: int, effective: str | None) -> None:
        index, newest = self.indexes[name, who], self.collections[name].newest
        shown = self.visible(name, who, newest, effective)
        status = index.status(effective=effective)
        assert status.documents == len(shown)
        assert sum(one.documents for one in status.sources) == len(shown)
        self.check_told(status.as_fields(), shown)
        before = self.visible(name, who, number, effective)
        difference = index.diff(number, newest, effective=effective)
        self.check_told(difference.as_fields(), {**before, **shown})
        names = {str(one.document) for one in difference.documents}
        assert names >= {f"docs:{path}" for path in set(shown) - set(before)}
        told = [row.as_fields() for row in index.log()]
        self.check_told(told if who != "owner" else [], {})

    def ask_citations(self, name: str, who: str, effective: str | None) -> None:
        """Every citation that anybody was ever given, by everybody."""
        model, moment = self.collections[name], self.moment(effective)
        for owner, path, cited, spec in self.citations[-12:]:
            if owner != name:
                continue
            units = model.units(TENANTS[name], who, path, spec, moment)
            shown = {path: units or ()}
            missing = replace(cited.citation, document=replace(cited.citation.document, path=b"no"))
            try:
                told = self.indexes[name, who].show(cited.citation, effective=effective)
            except NotFoundError as refused:
                assert units is None or units != spec.units
                with pytest.raises(NotFoundError) as absent:
                    self.indexes[name, who].show(missing, effective=effective)
                forbidden = {**refused.as_fields(), "subject": ""}
                assert forbidden == {**absent.value.as_fields(), "subject": ""}
                self.check_told(forbidden, {})
            else:
                assert units is not None
                assert told.text == cited.text
                self.check_told(told.as_fields(), shown)
                current = model.generations[model.newest].get(path)
                if current is not None and current.text == spec.text:
                    assert told.is_current
                elif current is None or current.text != spec.text:
                    assert not told.is_current


def run(max_examples: int, steps: int, *, derandomize: bool = True) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        AccessMachine,
        settings=settings(
            max_examples=max_examples,
            stateful_step_count=steps,
            deadline=None,
            phases=PHASES,
            derandomize=derandomize,
            database=None,
        ),
    )


def test_nobody_is_told_a_character_that_they_may_not_read() -> None:
    run(10, 12)


@pytest.mark.long
def test_nobody_is_told_one_in_a_hundred_thousand_questions() -> None:
    AccessMachine.asked = 0
    while AccessMachine.asked < 100_000:
        run(40, 30, derandomize=False)
    assert AccessMachine.asked >= 100_000
