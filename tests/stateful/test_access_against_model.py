"""What each principal is told, against a plain-Python model of who may read what, and when.

Searches in every mode, filters, explanations, counts, differences, citations and errors, while
documents are edited, deleted, restored, pruned and erased and policies come and go.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

import variorum
from access_model import (
    NOTHING,
    PATHS,
    PEOPLE,
    TENANTS,
    TITLES,
    Collection,
    Readers,
    Rules,
    Shown,
    Spec,
    Unit,
    some_day,
    some_rules,
)
from variorum.records.errors import DeniedError, NotFoundError
from variorum.records.hits import CitedText
from workbench import Recorder

PHASES = (Phase.explicit, Phase.generate)
"""A history is read as it failed: shrinking one takes far longer than finding it."""
DATES: list[str | None] = [None, "any", "2021-06-01", "2028-06-01", "2031-01-01"]
MOSTLY = ["acme", "acme", "acme", "twin", "globex"]
MODES: list[str | None] = [None, "dense", "lexical", "hybrid"]
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
OWNERS: dict[str, Callable[[variorum.Index], object]] = {
    "access": lambda index: index.access,
    "plan": lambda index: index.plan(explain=f"docs:{PATHS[0]}"),
    "sync": lambda index: index.sync(),
    "cost": lambda index: index.cost(),
    "alerts": lambda index: index.alerts(),
    "erase": lambda index: index.erase(f"docs:{PATHS[0]}"),
    "prune": lambda index: index.prune(keep=1),
    "restore": lambda index: index.restore(1),
    "verify": lambda index: index.verify(),
}


class AccessMachine(RuleBasedStateMachine):
    asked = 0
    """Questions over all runs of the machine."""
    told_of = 0
    """Answers that told of something, of these."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="variorum-access-"))
        (self.home / "docs").mkdir()
        self.files: dict[str, Spec] = {}
        self.markers = 0
        self.collections = {name: Collection(tenant) for name, tenant in TENANTS.items()}
        self.citations: list[tuple[str, str, CitedText, Spec]] = []
        tables = "".join(
            f'[collections.{name}]\ntenant = "{tenant}"\n' for name, tenant in TENANTS.items()
        )
        (self.home / "variorum.toml").write_text(
            '[chunking]\nchunker = "anchored(max_tokens=40, min_tokens=10)"\n'
            '[sources.docs]\nroot = "docs"\n' + tables
        )
        self.indexes: dict[tuple[str, str], variorum.Index] = {}
        for name in TENANTS:
            self.open(name, Recorder(32))

    def open(self, name: str, embedder: Recorder) -> None:
        """Two handles on one store: one that writes, and one that has read before and is open."""
        self.indexes[name, "writer"] = variorum.open(self.home, collection=name, embedder=embedder)
        reader = variorum.open(self.home, collection=name, embedder=embedder)
        reader.clock = lambda: NOW
        self.indexes[name, "owner"] = reader
        for who, principal in PEOPLE.items():
            if principal is not None:
                self.indexes[name, who] = reader.for_principal(principal)

    def teardown(self) -> None:
        for index in self.indexes.values():
            index.close()
        shutil.rmtree(self.home)

    # Changes

    def marker(self) -> str:
        self.markers += 1
        return f"mk{self.markers}x"

    def write(self, path: str, spec: Spec) -> None:
        file = self.home / "docs" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(spec.text)
        self.files[path] = spec

    @initialize(rules=some_rules())
    def begin(self, rules: Rules) -> None:
        for path in PATHS[:3]:
            units = tuple(Unit(title, self.marker()) for title in TITLES)
            self.write(path, Spec(units, self.marker()))
        for name in TENANTS:
            self.sync(name)
        self.apply("acme", rules)

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
        units = tuple(kept.pop(title, None) or Unit(title, self.marker()) for title in titles)
        if since and until and since > until:
            since, until = until, since
        self.write(path, Spec(units, self.marker(), readers, since, until))
        if goes_on:
            self.sync("acme")

    @rule(path=st.sampled_from(PATHS), rules=some_rules())
    def delete_and_apply(self, path: str, rules: Rules) -> None:
        if path in self.files and len(self.files) > 1:
            (self.home / "docs" / path).unlink()
            del self.files[path]
            self.sync("acme")
            self.apply("acme", rules)

    @rule(name=st.sampled_from(MOSTLY))
    def sync(self, name: str) -> None:
        writer, model = self.indexes[name, "writer"], self.collections[name]
        report = writer.sync(release=True, allow_empty=True, allow_shrink=True)
        assert report.held == ()
        if report.generation is not None:
            model.publish(self.files)
            assert report.generation == model.newest
            documents = model.generations[model.newest]
            named = {f"docs:{p}" for p in documents if model.grants[p] is None}
            expected = named if model.policy is not None else set()
            assert {str(one) for one in report.unnamed} == expected

    @rule(name=st.sampled_from(MOSTLY), rules=some_rules())
    def apply(self, name: str, rules: Rules) -> None:
        file = self.home / "policy.toml"
        file.write_text(rules.text)
        self.indexes[name, "writer"].access.apply(file, author="test")
        self.collections[name].apply(rules)

    @precondition(lambda self: self.collections["acme"].newest > 1)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        model = self.collections["acme"]
        wanted = data.draw(st.sampled_from(sorted(model.generations)), label="generation")
        number = self.indexes["acme", "writer"].restore(wanted)
        model.add(model.generations[wanted])
        assert number == model.newest

    @precondition(lambda self: self.collections["acme"].newest > 3)
    @rule(keep=st.integers(1, 4))
    def prune(self, keep: int) -> None:
        model = self.collections["acme"]
        oldest = self.indexes["acme", "writer"].prune(keep=keep).oldest
        for number in [one for one in model.generations if one < oldest]:
            del model.generations[number]
        assert min(model.generations) == oldest

    @precondition(lambda self: self.collections["acme"].newest > 2)
    @rule(path=st.sampled_from(PATHS), comes_back=st.booleans(), rules=some_rules())
    def erase(self, path: str, comes_back: bool, rules: Rules) -> None:
        model, writer = self.collections["acme"], self.indexes["acme", "writer"]
        if path not in model.grants:
            return
        writer.erase(f"docs:{path}")
        model.erase(path)
        if comes_back:
            writer.lift(f"docs:{path}")
            model.denied.discard(path)
            self.sync("acme")
            self.apply("acme", rules)

    # Questions

    def check_told(self, told: object, shown: Shown, asked: Iterable[str] = ()) -> None:
        """Not a marker, name, title or hash that is not shown, anywhere in what was told."""
        assert shown.untold(told, asked=asked) == []
        AccessMachine.asked += 1
        AccessMachine.told_of += bool(shown.paths)

    @rule(
        asked=st.lists(
            st.tuples(
                st.sampled_from(MOSTLY),
                st.sampled_from(DATES),
                st.integers(0, 3),
                st.integers(0, 1_000_000),
            ),
            min_size=2,
            max_size=5,
        )
    )
    def ask(self, asked: list[tuple[str, str | None, int, int]]) -> None:
        for one in asked:
            self.ask_of(*one)

    def ask_of(self, name: str, effective: str | None, back: int, salt: int) -> None:
        """Everybody asks everything of one collection, at one date and one generation."""
        kept = sorted(self.collections[name].generations)
        number = kept[max(0, len(kept) - 1 - back)]
        for who in PEOPLE:
            self.ask_search(name, who, number, effective, salt)
            self.ask_context(name, who, number, effective, salt)
            self.ask_for_errors(name, who, number, effective, salt)
            self.ask_counts(name, who, number, effective)
            self.ask_citations(name, who, effective)

    def moment(self, effective: str | None) -> date | None:
        if effective == "any":
            return None
        return NOW.date() if effective is None else date.fromisoformat(effective)

    def shown(self, name: str, who: str, number: int, effective: str | None) -> Shown:
        return self.collections[name].shown(who, number, self.moment(effective))

    def ask_search(
        self, name: str, who: str, number: int, effective: str | None, salt: int
    ) -> None:
        index, shown = self.indexes[name, who], self.shown(name, who, number, effective)
        every = index.search("words", 1000, as_of=number, effective=effective, mode="dense")
        self.check_told(every.as_fields(), shown)
        self.check_found(shown, [hit.text for hit in every.hits])
        self.remember(name, number, who, every.hits[salt % 7 :][:1], effective)
        wanted = f"mk{salt % self.markers + 1}x"
        for mode in MODES:
            for query, k in ((f"some words {wanted}", 1000), (f"{wanted} mk1x", 2)):
                answer = index.search(
                    query, k, as_of=number, effective=effective, mode=mode, explain=k > 2
                )
                self.check_told({**answer.as_fields(), "query": ""}, shown, [wanted])
                if mode == "lexical" and k > 2:
                    self.check_statistics(answer, every, wanted)

    def ask_context(
        self, name: str, who: str, number: int, effective: str | None, salt: int
    ) -> None:
        """What a model would be given, expanded as far as it goes and as short as it gets."""
        index, shown = self.indexes[name, who], self.shown(name, who, number, effective)
        for expand, budget in (("section", 5000), ("neighbours", 150)):
            found = index.context(
                "some words",
                budget,
                expand=expand,  # type: ignore[arg-type]
                as_of=number,
                effective=effective,
                mode=MODES[salt % len(MODES)],
            )
            self.check_told(found.as_fields(), shown)
            assert found.tokens <= budget
            for one in found.passages:
                spec = self.collections[name].generations[number][one.document.path.decode()]
                assert one.text == spec.text[one.start : one.end]
            if budget == 5000:
                self.check_found(shown, [one.text for one in found.passages])

    def check_found(self, shown: Shown, texts: list[str]) -> None:
        """Of documents that are shown whole, every unit is found."""
        for path, seen in shown.seen:
            for unit in seen.units if seen.is_whole else ():
                assert any(unit.marker in text for text in texts), (path, unit)

    def check_statistics(
        self, answer: variorum.Answer, every: variorum.Answer, wanted: str
    ) -> None:
        """A word is found, and as rare, as it is among all the passages that may be read."""
        holding = dict.fromkeys(("some", "word", wanted), 0)
        for hit in every.hits:
            for word in holding:
                holding[word] += word in hit.text
        found = {str(hit.citation) for hit in answer.hits}
        assert found >= {str(hit.citation) for hit in every.hits if "words" in hit.text}
        for hit in answer.hits:
            told = {term.term: term.chunks for term in hit.terms if term.term in holding}
            assert told == {word: n for word, n in holding.items() if word in hit.text}

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

    def ask_for_errors(
        self, name: str, who: str, number: int, effective: str | None, salt: int
    ) -> None:
        """What is asked for in vain tells of nothing but what may be read."""
        index, shown = self.indexes[name, who], self.shown(name, who, number, effective)
        marker, path = f"mk{salt % self.markers + 1}x", PATHS[salt % len(PATHS)]
        near = f"mk{salt % self.markers + 1}"
        for within in ({"where": {marker: marker}}, {"where": {near: "x"}}, {"path": path}):
            told = _told(
                lambda: index.search("words", as_of=number, effective=effective, **within)  # noqa: B023
            )
            self.check_told(told, shown, [marker, path])
        for wrong in (
            lambda: index.search("words", as_of=number, effective=effective, content_type="no"),
            lambda: index.search("words", as_of=self.collections[name].newest + 1),
            lambda: index.diff(number, 10_000),
            lambda: index.search(" ", as_of=number),
        ):
            self.check_told(_told(wrong), shown)
        if who != "owner":
            what = sorted(OWNERS)[salt % len(OWNERS)]
            with pytest.raises(DeniedError) as denied:
                OWNERS[what](index)
            self.check_told(denied.value.as_fields(), NOTHING)

    def ask_counts(self, name: str, who: str, number: int, effective: str | None) -> None:
        index, newest = self.indexes[name, who], self.collections[name].newest
        shown = self.shown(name, who, newest, effective)
        status = index.status(effective=effective)
        assert status.documents == len(shown.paths)
        assert sum(one.documents for one in status.sources) == len(shown.paths)
        found = index.search("words", 1000, effective=effective, mode="dense").hits
        assert status.chunks == len(found)
        assert status.inputs <= status.chunks
        self.check_told(status.as_fields(), shown)
        before = self.shown(name, who, number, effective)
        told = index.diff(number, newest, effective=effective)
        assert {str(one.document): one.action for one in told.documents} == _changes(before, shown)
        self.check_told(told.as_fields(), before | shown)
        rows = [row.as_fields() for row in index.log()]
        self.check_told(rows, NOTHING)
        assert who == "owner" or not any(row["documents"] for row in rows)

    def ask_citations(self, name: str, who: str, effective: str | None) -> None:
        """Every citation that anybody was ever given, by everybody."""
        model, moment, index = (
            self.collections[name],
            self.moment(effective),
            self.indexes[name, who],
        )
        for owner, path, cited, spec in self.citations[-10:]:
            if owner != name:
                continue
            seen = model.seen(who, path, spec, moment) if model.holds(path, spec) else None
            missing = replace(cited.citation, document=replace(cited.citation.document, path=b"no"))
            try:
                told = index.show(cited.citation, effective=effective)
            except NotFoundError as refused:
                assert seen is None or not seen.is_whole
                with pytest.raises(NotFoundError) as absent:
                    index.show(missing, effective=effective)
                forbidden = {**refused.as_fields(), "subject": ""}
                assert forbidden == {**absent.value.as_fields(), "subject": ""}
                self.check_told(forbidden, NOTHING)
            else:
                assert seen is not None
                assert told.text == cited.text
                self.check_told(told.as_fields(), Shown([(path, seen)]))
                current = model.generations[model.newest].get(path)
                assert told.is_current == (current is not None and current.text == spec.text)


def _told(ask: Callable[[], object]) -> object:
    """What an answer or an error says."""
    try:
        answer = ask()
    except variorum.VariorumError as error:
        return {**error.as_fields(), "text": str(error)}
    assert isinstance(answer, variorum.Answer)
    return answer.as_fields()


def _changes(before: Shown, after: Shown) -> dict[str, str]:
    old = {path: seen.spec.text for path, seen in before.seen}
    new = {path: seen.spec.text for path, seen in after.seen}
    gone = {f"docs:{path}": "removed" for path in old.keys() - new.keys()}
    come = {f"docs:{path}": "added" for path in new.keys() - old.keys()}
    other = {path for path in old.keys() & new.keys() if old[path] != new[path]}
    return {**gone, **come, **{f"docs:{path}": "changed" for path in other}}


def run(max_examples: int, steps: int, start: int | None = None) -> None:
    chosen = settings(
        max_examples=max_examples,
        stateful_step_count=steps,
        deadline=None,
        phases=PHASES,
        derandomize=start is None,
        database=None,
    )
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        AccessMachine if start is None else seed(start)(AccessMachine), settings=chosen
    )


def test_nobody_is_told_a_character_that_they_may_not_read() -> None:
    run(4, 12)
    assert AccessMachine.told_of > 500


PARTS = 4


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_nobody_is_told_one_in_a_hundred_thousand_questions(part: int) -> None:
    """In parts, so that several processes can share them."""
    AccessMachine.asked, runs = 0, 0
    while AccessMachine.asked < 100_000 // PARTS:
        run(4, 40, start=1 + part + PARTS * runs)
        runs += 1
    print(f"{AccessMachine.asked} questions, {AccessMachine.told_of} of something")
