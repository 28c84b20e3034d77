"""The index against a plain-Python model: dictionaries of bytes, and sets of what was embedded."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import variorum
from dying import Died, Mortal
from variorum.records.errors import ConflictError, NotFoundError
from variorum.records.reports import Report
from variorum.records.text import Revision
from variorum.sync.laying import Task, lay
from workbench import (
    Recorder,
    Stored,
    document,
    json_lines,
    key_of,
    promise,
    section,
    vectors_stored,
    words,
)

UNITS = [section(f"Unit{n}", 12) for n in range(8)]
UNDECODABLE = b"caf\xe9 \xa0 not UTF-8"
NAMES = ["a.md", "b.md", "deep/c.md", "d.txt", "é.md"]
LINES = ["n1", "n2", "n3"]
CHUNKERS = ["anchored(max_tokens=40, min_tokens=10)", "anchored(max_tokens=24, min_tokens=6)"]
DIMENSIONS = [32, 48]
PHASES = (Phase.explicit, Phase.generate)
"""A history is read as it failed: shrinking one takes far longer than finding it."""
QUERIES = [words("unit3", 3), "pinned note"]
COLLECTIONS = {"main": "local", "twin": "local", "other": "elsewhere"}
RUNS: Mapping[str, Callable[[variorum.Index, Recorder], object]] = {
    "sync": lambda index, _: index.sync(allow_empty=True, allow_shrink=True, release=True),
    "switch": lambda index, embedder: index.use_model(embedder),
    "prune": lambda index, _: index.prune(keep=1),
}
SOURCES = {"main": ("docs", "notes"), "twin": ("docs",), "other": ("docs", "notes")}

Name = tuple[str, str]
Content = tuple[bytes, str, str]
"""Bytes, content type, and the source's metadata as JSON with sorted keys."""


@dataclass
class Collection:
    """What the model knows of one collection: what is visible now, and all that ever was."""

    visible: dict[Name, Content] = field(default_factory=dict)
    generations: dict[int, dict[str, object]] = field(default_factory=dict)
    models: dict[int, int] = field(default_factory=dict)
    denied: set[Name] = field(default_factory=set)


def split_units(content: bytes) -> list[str]:
    text = content.decode()
    return ["## " + part.rstrip("\n") + "\n" for part in text.split("## ")[1:]]


def joined(units: Iterable[str]) -> bytes:
    return "\n".join(units).encode()


class IndexMachine(RuleBasedStateMachine):
    planner = True
    steps = 0
    """Rules run so far, over all histories of the machine."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="variorum-machine-"))
        (self.home / "docs").mkdir()
        self.files: dict[str, bytes] = {}
        self.past: dict[str, list[bytes]] = {}
        self.lines: dict[str, tuple[str, dict[str, object]]] = {}
        self.chunker, self.dimensions = CHUNKERS[0], DIMENSIONS[0]
        self.embedders = {size: Recorder(size) for size in DIMENSIONS}
        self.collections = {name: Collection() for name in COLLECTIONS}
        self.embedded: set[bytes] = set()
        self.indexes: dict[tuple[str, int], variorum.Index] = {}
        self.write_lines()
        self.configure()

    def teardown(self) -> None:
        for name in COLLECTIONS:
            for number in self.collections[name].generations:
                self.check_generation(name, number)
        self.close()
        shutil.rmtree(self.home)

    # What is on the disk

    def configure(self) -> None:
        self.close()
        tables = "".join(
            f'[collections.{name}]\ntenant = "{tenant}"\nsources = {json.dumps(SOURCES[name])}\n'
            for name, tenant in COLLECTIONS.items()
        )
        (self.home / "variorum.toml").write_text(
            f'[chunking]\nchunker = "{self.chunker}"\nheading_depth = 1\n'
            f"planner = {str(self.planner).lower()}\n"
            '[sources.docs]\nroot = "docs"\n'
            '[sources.notes]\nkind = "jsonl"\nroot = "notes.jsonl"\n' + tables
        )

    def close(self) -> None:
        for index in self.indexes.values():
            index.close()
        self.indexes.clear()

    def index(self, name: str, dimensions: int | None = None) -> variorum.Index:
        size = dimensions or self.dimensions
        if (name, size) not in self.indexes:
            embedder = self.embedders[size]
            self.indexes[name, size] = variorum.open(self.home, collection=name, embedder=embedder)
        return self.indexes[name, size]

    def write_file(self, name: str, content: bytes) -> None:
        path = self.home / "docs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        self.files[name] = content
        self.past.setdefault(name, []).append(content)

    def write_lines(self) -> None:
        lines = [
            {"id": name, "text": text, "metadata": metadata}
            for name, (text, metadata) in sorted(self.lines.items())
        ]
        (self.home / "notes.jsonl").write_text(json_lines(lines))

    # Changes

    @initialize(names=st.sets(st.sampled_from(NAMES), min_size=1, max_size=3))
    def begin(self, names: set[str]) -> None:
        for place, name in enumerate(sorted(names)):
            self.write_file(name, joined(UNITS[place * 2 : place * 2 + 3]))
        self.lines["n1"] = ("pinned note of the first line", {"pinned": True})
        self.write_lines()

    def readable(self) -> list[str]:
        return sorted(n for n, content in self.files.items() if content != UNDECODABLE)

    @rule(name=st.sampled_from(NAMES), units=st.lists(st.sampled_from(UNITS), max_size=4))
    def write(self, name: str, units: list[str]) -> None:
        self.write_file(name, joined(units))

    @rule(name=st.sampled_from(NAMES), unit=st.sampled_from(UNITS), place=st.integers(0, 3))
    def insert_unit(self, name: str, unit: str, place: int) -> None:
        if name in self.readable():
            units = split_units(self.files[name])
            self.write_file(name, joined([*units[:place], unit, *units[place:]]))

    @rule(origin=st.sampled_from(NAMES), goal=st.sampled_from(NAMES))
    def move_unit(self, origin: str, goal: str) -> None:
        if origin != goal and {origin, goal} <= set(self.readable()):
            units = split_units(self.files[origin])
            if units:
                self.write_file(origin, joined(units[1:]))
                self.write_file(goal, joined([*split_units(self.files[goal]), units[0]]))

    @rule(name=st.sampled_from(NAMES), word=st.sampled_from(["alpha", "beta"]))
    def edit_a_word(self, name: str, word: str) -> None:
        if name in self.readable():
            text = self.files[name].decode()
            self.write_file(name, text.replace("unit", word, 1).encode())

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name: str) -> None:
        if self.files.pop(name, None) is not None:
            (self.home / "docs" / name).unlink()

    @rule(origin=st.sampled_from(NAMES), goal=st.sampled_from(NAMES))
    def rename(self, origin: str, goal: str) -> None:
        if origin in self.files and goal not in self.files:
            content = self.files[origin]
            self.delete(origin)
            self.write_file(goal, content)

    @rule(name=st.sampled_from(NAMES), back=st.integers(1, 4))
    def revert(self, name: str, back: int) -> None:
        if name in self.past:
            self.write_file(name, self.past[name][-min(back, len(self.past[name]))])

    @rule(name=st.sampled_from(NAMES))
    def spoil(self, name: str) -> None:
        self.write_file(name, UNDECODABLE)

    @rule(
        line=st.sampled_from(LINES),
        unit=st.sampled_from([*UNITS[:3], "pinned note", ""]),
        metadata=st.dictionaries(
            st.sampled_from(["pinned", "weight"]), st.sampled_from([True, 1, 1.0, "1"])
        ),
    )
    def write_line(self, line: str, unit: str, metadata: dict[str, object]) -> None:
        self.lines[line] = (unit, metadata)
        self.write_lines()

    @rule(line=st.sampled_from(LINES), value=st.sampled_from([True, 1, 1.0, "1", "two"]))
    def change_only_metadata(self, line: str, value: object) -> None:
        if line in self.lines:
            self.lines[line] = (self.lines[line][0], {"pinned": value})
            self.write_lines()

    @rule(line=st.sampled_from(LINES))
    def delete_line(self, line: str) -> None:
        self.lines.pop(line, None)
        self.write_lines()

    @rule(chunker=st.sampled_from(CHUNKERS))
    def change_the_chunker(self, chunker: str) -> None:
        self.chunker = chunker
        self.configure()

    @rule(dimensions=st.sampled_from(DIMENSIONS))
    def change_the_model(self, dimensions: int) -> None:
        self.dimensions = dimensions

    # Runs

    @rule(name=st.sampled_from(["main", "main", "twin", "other"]))
    def sync(self, name: str) -> None:
        self.run(name, None)

    @rule()
    def sync_main(self) -> None:
        self.run("main", None)

    @rule(source=st.sampled_from(["docs", "notes"]))
    def sync_one_source(self, source: str) -> None:
        self.run("main", source)

    @rule(name=st.sampled_from(sorted(COLLECTIONS)), dimensions=st.sampled_from(DIMENSIONS))
    def use_model(self, name: str, dimensions: int) -> None:
        """A switch keeps every document, and pays for what this model never embedded."""
        model, embedder = self.collections[name], self.embedders[dimensions]
        if not model.generations:
            return
        before = self.stored(name)
        report = self.index(name).use_model(embedder)
        after = self.stored(name)
        asked = {key_of(embedder, text, COLLECTIONS[name]) for text in embedder.taken()}
        assert visible_of(after) == visible_of(before)
        if report.generation is None:
            assert (after, asked) == (before, set())
            return
        assert after.generation == before.generation + 1
        assert asked == set(after.tokens) - self.embedded
        self.embedded |= asked
        model.models[after.generation] = dimensions
        self.remember(name, after.generation)
        self.check_an_older_one(name)

    @rule(name=st.sampled_from(["main", "twin"]))
    def relayout(self, name: str) -> None:
        self.run(name, None, relayout=True)
        settings = self.index(name).settings
        for printed, one in self.stored(name).documents.items():
            if self.files.get(printed.partition(":")[2]) == UNDECODABLE:
                continue
            fresh = lay(Task(Revision(one.content, one.content_type)), settings).layout
            spans = [(chunk.start, chunk.end) for chunk in fresh.chunks] if fresh else []
            assert [(chunk.start, chunk.end) for chunk in one.chunks] == spans

    @precondition(lambda self: len(self.collections["main"].generations) > 1)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        model = self.collections["main"]
        wanted = data.draw(st.sampled_from(sorted(model.generations)), label="generation")
        number = self.index("main").restore(wanted)
        assert number == max(model.generations) + 1
        stored = self.stored("main")
        assert stored.plain() == self.stored("main", wanted).plain()
        model.models[number] = model.models[wanted]
        model.visible = visible_of(stored)
        self.remember("main", number)
        with pytest.raises(ConflictError) as refused:
            self.index("main").sync()
        assert refused.value.kind == "source-held"

    @precondition(lambda self: len(self.collections["main"].generations) > 2)
    @rule(name=st.sampled_from(sorted(COLLECTIONS)), keep=st.integers(1, 3))
    def prune(self, name: str, keep: int) -> None:
        generations = self.collections[name].generations
        if not generations:
            return
        report = self.index(name).prune(keep=keep)
        for number in [number for number in generations if number < report.oldest]:
            del generations[number]
            with pytest.raises(NotFoundError) as refused:
                self.index(name).search(QUERIES[0], as_of=number)
            assert refused.value.kind == "generation-pruned"
        assert min(generations) == report.oldest
        self.check_removal()

    @rule(
        name=st.sampled_from(sorted(COLLECTIONS)),
        run=st.sampled_from(["sync", "sync", "switch", "prune"]),
        last_write=st.integers(1, 40),
        dimensions=st.sampled_from(DIMENSIONS),
    )
    def die_at_a_write(self, name: str, run: str, last_write: int, dimensions: int) -> None:
        """All or nothing is done, and what was paid for is kept."""
        model = self.collections[name]
        if run != "sync" and not model.generations:
            return
        before = self.stored(name) if self.index(name).store.exists else Stored(0, {})
        if run == "sync":
            dimensions = self.dimensions
        self.close()
        with (
            suppress(Died),
            Mortal(last_write),
            variorum.open(self.home, collection=name, embedder=self.embedders[dimensions]) as index,
        ):
            RUNS[run](index, self.embedders[dimensions])
        for embedder in self.embedders.values():
            embedder.taken()
        if self.index(name).store.exists:
            self.embedded |= set(vectors_stored(self.home / ".variorum"))
            self.settle_death(name, run, before, dimensions)

    def settle_death(self, name: str, run: str, before: Stored, dimensions: int) -> None:
        """Move the model to what the run that died had published or removed, if it had."""
        model, after = self.collections[name], self.stored(name)
        if after.generation == before.generation:
            assert after == before
        else:
            assert run != "prune"
            assert after.generation == before.generation + 1
            if run == "sync":
                self.expect(name, None)
            assert visible_of(after) == model.visible
            model.models[after.generation] = dimensions
            self.remember(name, after.generation)
        if run == "prune":
            oldest = min(row.number for row in self.index(name).log() if not row.is_pruned)
            for number in [number for number in model.generations if number < oldest]:
                del model.generations[number]
            self.check_removal()
        if model.generations:
            assert self.index(name).verify() == []

    @rule(name=st.sampled_from(sorted(COLLECTIONS)), data=st.data())
    def erase(self, name: str, data: st.DataObject) -> None:
        model = self.collections[name]
        if not model.visible:
            return
        source, path = data.draw(st.sampled_from(sorted(model.visible)), label="document")
        printed = f"{source}:{path}"
        expected = {
            number: {key: value for key, value in plain_of(readout).items() if key != printed}
            for number, readout in model.generations.items()
        }
        self.index(name).erase(printed)
        for number, documents in expected.items():
            assert self.stored(name, number).plain() == documents
            model.generations[number] = self.readout(name, number)
        del model.visible[source, path]
        model.denied.add((source, path))
        self.check_removal()

    @rule(name=st.sampled_from(sorted(COLLECTIONS)))
    def lift(self, name: str) -> None:
        denied = self.collections[name].denied
        for source, path in sorted(denied):
            self.index(name).lift(f"{source}:{path}")
        denied.clear()

    def check_removal(self) -> None:
        """Nothing else went; what has no vector any more may be embedded again."""
        self.embedded &= set(vectors_stored(self.home / ".variorum"))
        for name, model in self.collections.items():
            for number, readout in model.generations.items():
                now = self.readout(name, number)
                assert without_times(now) == without_times(readout)
                model.generations[number] = now
            if model.generations:
                assert self.index(name).verify() == []

    # Checks

    def stored(self, name: str, as_of: int | None = None) -> Stored:
        return Stored.read(self.home / ".variorum", name, as_of, COLLECTIONS[name])

    def run(self, name: str, source: str | None, *, relayout: bool = False) -> None:
        before = self.stored(name) if self.index(name).store.exists else Stored(0, {})
        index, embedder = self.index(name), self.embedders[self.dimensions]
        consent = {"allow_empty": True, "allow_shrink": True, "release": True}
        consent["relayout"] = relayout
        planned = index.plan(source, **consent).report  # type: ignore[arg-type]
        embedder.taken()
        report = index.sync(source, **consent)  # type: ignore[arg-type]
        asked = embedder.taken()
        assert promise(report) == promise(planned)
        self.expect(name, source)
        after = self.stored(name)
        assert visible_of(after) == self.collections[name].visible
        self.check_embedded(name, after, asked)
        if report.generation is not None:
            self.check_counts(
                before, after, report, {key_of(embedder, p, COLLECTIONS[name]) for p in asked}
            )
            assert after.generation == report.generation == before.generation + 1
            self.collections[name].models[after.generation] = self.dimensions
            self.remember(name, after.generation)
        else:
            assert after == before
        self.check_quiet(name, source, after)
        self.check_an_older_one(name)
        assert index.verify() == []

    def expect(self, name: str, source: str | None) -> None:
        """Move the model's collection to what a sync of its sources makes visible."""
        visible, denied = self.collections[name].visible, self.collections[name].denied
        listed: dict[str, dict[str, Content]] = {
            "docs": {
                file: (content, "text/plain" if file.endswith(".txt") else "text/markdown", "{}")
                for file, content in self.files.items()
            },
            "notes": {
                line: (text.encode(), "text/plain", json.dumps(metadata, sort_keys=True))
                for line, (text, metadata) in self.lines.items()
            },
        }
        for one in SOURCES[name] if source is None else [source]:
            for key in [key for key in visible if key[0] == one and key[1] not in listed[one]]:
                del visible[key]
            for path, content in listed[one].items():
                if content[0] != UNDECODABLE and (one, path) not in denied:
                    visible[one, path] = content

    def check_embedded(self, name: str, after: Stored, asked: list[str]) -> None:
        """Exactly the inputs that this tenant never embedded under this model."""
        keys = [key_of(self.embedders[self.dimensions], text, COLLECTIONS[name]) for text in asked]
        assert len(set(keys)) == len(keys), "an input was embedded twice in one run"
        assert set(keys) == set(after.tokens) - self.embedded
        self.embedded |= set(keys)

    def check_counts(
        self, before: Stored, after: Stored, report: Report, embedded: set[bytes]
    ) -> None:
        """The report against a recount from what is stored before and after."""
        old, new = before.documents, after.documents
        held = {str(one.document) for one in report.held}
        touched = {n for n in new if n not in old or old[n].row != new[n].row}
        changed = {n for n in touched if n in old} - held
        documents = report.documents
        assert documents.added == len(set(new) - set(old))
        assert documents.changed == len(changed)
        assert documents.removed == len(set(old) - set(new))
        tokens = {key: count for n in touched for key, count in new[n].tokens.items()}
        embed = sum(count for key, count in tokens.items() if key in embedded)
        assert report.inputs.embed == len(embedded)
        assert report.inputs.reuse == len(set(tokens) - embedded)
        assert report.inputs.retire == len(set(before.tokens) - set(after.tokens))
        assert report.tokens.embed == embed
        assert report.tokens.total == sum(tokens.values())
        whole = sum(sum(new[n].tokens.values()) for n in changed)
        fresh = sum(
            count
            for n in changed
            for key, count in new[n].tokens.items()
            if key not in old[n].tokens
        )
        assert report.recompute_fraction == (fresh / whole if whole else None)
        total = report.tokens.total
        assert report.embedded_fraction == (embed / total if total else None)

    def check_quiet(self, name: str, source: str | None, after: Stored) -> None:
        """A second run without a change embeds nothing and publishes nothing."""
        again = self.index(name).sync(source, allow_empty=True)
        assert again.generation is None
        assert again.changes_nothing
        assert self.embedders[self.dimensions].taken() == []
        assert self.stored(name) == after

    def remember(self, name: str, number: int) -> None:
        self.collections[name].generations[number] = self.readout(name, number)
        self.check_citations(name)

    def readout(self, name: str, number: int) -> dict[str, object]:
        """All that can be read of one generation."""
        index = self.index(name, self.collections[name].models[number])
        answers = [index.search(query, 5, as_of=number).as_fields() for query in QUERIES]
        return {"stored": self.stored(name, number).plain(), "answers": answers}

    def check_generation(self, name: str, number: int) -> None:
        assert self.readout(name, number) == self.collections[name].generations[number]

    def check_an_older_one(self, name: str) -> None:
        numbers = sorted(self.collections[name].generations)
        if numbers:
            self.check_generation(name, numbers[len(self.past) % len(numbers)])

    def check_citations(self, name: str) -> None:
        model = self.collections[name]
        index = self.index(name, model.models[max(model.generations)])
        for hit in index.search(QUERIES[0], 3).hits:
            shown = index.show(str(hit.citation))
            content = model.visible[hit.document.source, hit.document.path.decode()][0]
            assert shown.text == hit.text == content.decode()[hit.start : hit.end]
            assert content[shown.byte_start : shown.byte_end].decode() == hit.text
            assert shown.is_current

    @invariant()
    def steps_are_counted(self) -> None:
        type(self).steps += 1

    @invariant()
    def the_log_counts_every_generation(self) -> None:
        for name, model in self.collections.items():
            if model.generations:
                rows = self.index(name).log()
                assert [row.number for row in rows] == list(range(1, max(model.generations) + 1))
                kept = {row.number for row in rows if not row.is_pruned}
                assert kept == set(model.generations)


def visible_of(stored: Stored) -> dict[Name, Content]:
    visible: dict[Name, Content] = {}
    for name, one in stored.documents.items():
        source, _, path = name.partition(":")
        metadata = json.dumps(json.loads(one.metadata).get("source", {}), sort_keys=True)
        visible[source, path] = (one.content, one.content_type, metadata)
    return visible


def plain_of(readout: Mapping[str, object]) -> dict[str, object]:
    stored = readout["stored"]
    assert isinstance(stored, dict)
    return stored


def without_times(readout: Mapping[str, object]) -> dict[str, object]:
    """A readout without when passages changed: what was pruned cannot tell any more."""
    answers: Any = readout["answers"]
    hits = [
        [{key: value for key, value in hit.items() if key != "changed_at"} for hit in one["hits"]]
        for one in answers
    ]
    return {**readout, "answers": hits}


class FreshLayouts(IndexMachine):
    """The same with the planner off: every layout is the one that a fresh index would give."""

    planner = False


def run(machine: type[IndexMachine], examples: int, steps: int) -> None:
    chosen = settings(max_examples=examples, stateful_step_count=steps, phases=PHASES)
    run_state_machine_as_test(machine, settings=chosen)


def test_the_index_keeps_every_promise_over_random_histories() -> None:
    run(IndexMachine, examples=6, steps=36)


def test_the_index_keeps_every_promise_with_the_planner_off() -> None:
    run(FreshLayouts, examples=2, steps=36)


@pytest.mark.long
@pytest.mark.parametrize("machine", [IndexMachine, FreshLayouts])
def test_the_index_keeps_every_promise_over_ten_thousand_steps(machine: type[IndexMachine]) -> None:
    machine.steps = 0
    run(machine, examples=240, steps=60)
    assert machine.steps >= 10_000


def test_documents_of_the_model_are_cut_at_their_units() -> None:
    assert split_units(joined(UNITS[:3])) == UNITS[:3]
    assert document("Unit0", "Unit1", count=12).encode() == joined(UNITS[:2])
