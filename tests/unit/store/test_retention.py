"""What prune, erase and gc take out, and what they leave."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Column, ForeignKey, Integer, MetaData, String, Table

from variorum.records.errors import (
    BusyError,
    ConflictError,
    DeniedError,
    InputError,
    NotFoundError,
    UnavailableError,
)
from variorum.records.names import DocumentName
from variorum.store.leases import leases
from variorum.store.postings import unpacked
from variorum.store.retention import FOLLOWS, STAYS, undeclared
from variorum.store.schema import metadata
from variorum.sync import retaining
from workbench import Bench, Recorder, document, rule, vectors_stored, words
from workplace import LEAVE, TRAVEL

ENGLISH = "Everyone has 25 days of annual leave a year."
CHINESE = "一线城市住宿限额为每人每晚四百五十元"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Four generations: `a.md` changes in each, `b.md` stays, `c.md` goes with the third."""
    bench = Bench(tmp_path)
    bench.write({"b.md": document("Same"), "c.md": document("Gone"), "a.md": document("A1", "S")})
    bench.sync()
    for number in (2, 3, 4):
        bench.write({"a.md": document(f"A{number}", "S")})
        if number == 3:
            bench.remove("c.md")
        bench.sync()
    return bench


def assert_sound(bench: Bench) -> None:
    with bench.open() as index:
        assert index.verify() == []


# Declarations


def test_every_table_says_what_a_removal_does_to_it() -> None:
    assert undeclared() == []
    assert {*FOLLOWS, *STAYS} == set(metadata.tables)


@pytest.mark.parametrize("target", ["document.id", "input.id", "layout.id"])
def test_a_new_table_keyed_by_documents_or_inputs_fails_until_it_is_declared(target: str) -> None:
    tables = MetaData()
    for table in metadata.sorted_tables:
        table.to_metadata(tables)
    owner = Column("owner_id", Integer, ForeignKey(target), primary_key=True)
    Table("annotation", tables, owner, Column("text", String))
    assert undeclared(tables) == ["annotation"]


def test_a_table_that_points_at_a_document_may_not_be_said_to_stay() -> None:
    tables = MetaData()
    for name in ("collection", "document", "reader_set"):
        metadata.tables[name].to_metadata(tables)
    Table("unpublished", tables, Column("id", Integer, ForeignKey("document.id"), primary_key=True))
    assert undeclared(tables) == ["unpublished"]


# Prune


def test_a_prune_keeps_the_newest_and_answers_from_them_as_before(bench: Bench) -> None:
    before = {number: bench.stored(as_of=number).plain() for number in (3, 4)}
    with bench.open() as index:
        report = index.prune(keep=2)
    assert (report.oldest, report.removed.generations, report.removed.revisions) == (3, 2, 3)
    assert {number: bench.stored(as_of=number).plain() for number in (3, 4)} == before
    assert_sound(bench)
    _, asked = bench.sync()
    assert asked == []


def test_a_dry_run_counts_exactly_what_goes_and_writes_nothing(bench: Bench) -> None:
    before = (bench.store / "store.sqlite").read_bytes()
    with bench.open() as index:
        promised = index.prune(keep=1, dry_run=True)
        assert (bench.store / "store.sqlite").read_bytes() == before
        assert index.prune(keep=1).removed == promised.removed
        again = index.prune(keep=1)
    assert again.removed.is_nothing
    assert again.oldest == 4


def test_vectors_that_anything_kept_shares_stay(bench: Bench) -> None:
    kept = {key for number in (4,) for key in bench.stored(as_of=number).tokens}
    with bench.open() as index:
        index.prune(keep=1)
    assert set(vectors_stored(bench.store)) == kept
    assert bench.sql("SELECT count(*) FROM manifest") == [(2,)]


def test_another_collection_keeps_what_it_holds(tmp_path: Path) -> None:
    both = '[collections.one]\nsources = ["docs"]\n[collections.two]\nsources = ["docs"]\n'
    bench = Bench(tmp_path, collections=both)
    bench.write({"a.md": document("Old")})
    for name in ("one", "two"):
        with bench.open(collection=name) as index:
            index.sync()
    bench.write({"a.md": document("New")})
    with bench.open(collection="one") as index:
        index.sync()
        assert index.prune(keep=1).removed.revisions == 0
    with bench.open(collection="two") as index:
        assert len(index.search(words("old", 3)).hits) == 1
    assert_sound_of(bench, "one")


def assert_sound_of(bench: Bench, name: str) -> None:
    with bench.open(collection=name) as index:
        assert index.verify() == []


def test_a_pruned_generation_is_refused_by_name_everywhere(bench: Bench) -> None:
    with bench.open() as index:
        index.prune(keep=2)
        for read in (
            lambda: index.search("words", as_of=1),
            lambda: index.diff(2, 4),
            lambda: index.restore(2),
        ):
            with pytest.raises(NotFoundError) as refused:
                read()
            assert refused.value.kind == "generation-pruned"
            assert "generation 3 or a newer one" in refused.value.expected
        rows = index.log()
        assert [(row.number, row.is_pruned) for row in rows] == [
            (1, True),
            (2, True),
            (3, False),
            (4, False),
        ]
        assert index.restore(3) == 5
        assert index.verify() == []


def test_a_reader_that_is_pinned_to_it_gets_a_clear_error(bench: Bench) -> None:
    with bench.open() as reader, bench.open() as pruner:
        pinned = reader.view(1)
        assert len(pinned.documents) == 3
        pruner.prune(keep=1)
        with pytest.raises(NotFoundError) as refused:
            _ = pinned.places
        assert refused.value.kind == "generation-pruned"
        assert reader.view().places.input_ids.size


def test_a_restore_of_what_was_pruned_since_is_still_sound(bench: Bench) -> None:
    with bench.open() as index:
        index.restore(1)
        index.prune(keep=1)
        assert index.verify() == []
        assert [row.kind for row in index.log()][-1] == "restore of 1"
    assert set(bench.stored().documents) == {"docs:a.md", "docs:b.md", "docs:c.md"}
    bench.sync(release=True)
    assert_sound(bench)


def test_space_comes_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for number in range(5):
        titles = [f"T{number}x{n}" for n in range(60)]
        bench.write({"a.md": document(*titles), "b.md": document("Kept")})
        bench.sync()
    with bench.open() as index:
        report = index.prune(keep=1)
        found = sum(file.stat().st_size for file in bench.store.glob("store.sqlite*"))
    assert report.compaction is not None
    before, after = report.compaction.store_bytes_before, report.compaction.store_bytes_after
    assert before - after >= report.removed.payload_bytes
    assert after == found
    assert bench.sql("PRAGMA freelist_count") == [(0,)]


def test_an_age_keeps_what_was_the_newest_at_some_moment_within_it(bench: Bench) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    with bench.open() as index:
        rows = index.log()
    ages = {1: 100, 2: 80, 3: 50, 4: 1}
    aged = [_published(row, now - timedelta(days=ages[row.number])) for row in rows]
    expected = {200: 1, 100: 1, 99: 1, 81: 1, 80: 1, 79: 2, 50: 2, 49: 3, 1: 3, 0: 4}
    found = {days: retaining.oldest_of(aged, None, timedelta(days=days), now) for days in expected}
    assert found == expected
    assert retaining.oldest_of(aged, 3, timedelta(days=1), now) == 2
    assert retaining.oldest_of(aged, 99, None, now) == 1


def _published(row: object, at: datetime) -> object:
    from dataclasses import replace

    return replace(row, created_at=at.isoformat(timespec="milliseconds"))  # type: ignore[type-var]


@pytest.mark.parametrize(
    "named", [{}, {"keep": 0}, {"keep_within": "90"}, {"keep_within": "-1d"}, {"keep": True}]
)
def test_what_to_keep_must_be_said_and_sound(bench: Bench, named: dict[str, object]) -> None:
    with bench.open() as index, pytest.raises(InputError):
        index.prune(**named)  # type: ignore[arg-type]


def test_a_plan_whose_rows_were_pruned_meanwhile_is_made_again(bench: Bench) -> None:
    """The revert reuses a layout of generation 1, which goes while the sync embeds."""
    bench.write({"a.md": document("A1", "S"), "new.md": document("New")})

    def prune_once(stage: str, _done: int, _total: int | None) -> None:
        if stage == "embed" and not pruned:
            pruned.append(True)
            with bench.open() as other:
                other.prune(keep=1)

    pruned: list[bool] = []
    report, asked = bench.sync(progress=prune_once)
    assert pruned
    assert report.generation == 5
    assert sorted(text.split("\n")[0] for text in asked) == ["A1", "New"] or len(asked) >= 2
    assert_sound(bench)
    assert set(bench.stored().documents) == {"docs:a.md", "docs:b.md", "docs:new.md"}


# Erase


@pytest.fixture
def policies(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write({"leave.md": LEAVE, "差旅.md": TRAVEL, "other.md": document("Other")})
    bench.sync()
    bench.write({"leave.md": LEAVE.replace("25 days", "26 days"), "差旅.md": TRAVEL + "\n新规定。"})
    bench.sync()
    return bench


def test_an_erased_document_is_in_no_generation_and_does_not_come_back(policies: Bench) -> None:
    with policies.open() as index:
        report = index.erase("docs:leave.md")
        assert report.removed.revisions == 2
        for number in (1, 2):
            found = {str(hit.document) for hit in index.search(ENGLISH, as_of=number).hits}
            assert found == {"docs:差旅.md", "docs:other.md"}
        with pytest.raises(NotFoundError):
            index.erase("docs:never.md")
        view = index.plan()
        assert [(str(one.document), one.reason) for one in view.report.skipped] == [
            ("docs:leave.md", "erased")
        ]
        assert view.report.changes_nothing
        assert index.sync().generation is None
        assert index.verify() == []


@pytest.mark.parametrize("name", ["leave.md", "差旅.md"])
@pytest.mark.parametrize("is_pruned", [False, True])
def test_nothing_of_it_is_left_in_the_bytes_of_the_store(
    policies: Bench, name: str, is_pruned: bool
) -> None:
    needles = list(_needles(policies, name))
    assert len(needles) >= 6
    stored = _all_bytes(policies.store)
    assert sum(needle in stored for needle in needles) >= 5
    with policies.open() as index:
        if is_pruned:
            index.prune(keep=1)
        report = index.erase(f"docs:{name}")
    assert report.probes > 10
    left = _all_bytes(policies.store)
    assert [needle for needle in needles if needle in left] == []
    assert b"other.md" in left
    assert_sound(policies)


ANN = """\
---
variorum:
  readers: ["user:ann.quixotic"]
---

# Severance

Zymurgical severance of eleven thousand pounds. 离职补偿金十一万元。
"""


def logged(tmp_path: Path, files: dict[str, str]) -> Bench:
    """A store with a policy that names each document, whose readings are logged with queries."""
    bench = Bench(tmp_path)
    bench.configure(bench.settings, '[collections.default]\naudit = "queries"\n')
    bench.write(files)
    bench.sync()
    rules = [rule("*:**", "everyone")]
    rules += [
        f"# {name} is a case of its own\n" + rule(f"docs:{name}", "everyone") for name in files
    ]
    bench.apply("\n".join(rules))
    with bench.open() as index:
        for hit in index.search("zymurgical severance 补偿", 10, mode="lexical").hits:
            index.show(hit.citation)
        index.search("other words", 1, mode="lexical")
    return bench


def test_nothing_of_it_is_left_in_terms_policies_readings_and_readers(tmp_path: Path) -> None:
    other = {"other.md": document("Other"), "hannah.md": document("Hannah")}
    bench = logged(tmp_path, {"hr/ann.md": ANN, **other})
    needles = ["hr/ann.md", "ann.quixotic", "zymurg", "补偿", "离职", "sever"]
    needles += [json.dumps(one)[1:-1] for one in needles if not one.isascii()]
    before = _all_bytes(bench.store)
    assert sum(one.encode() in before for one in needles) >= 6
    with bench.open() as index:
        index.erase("docs:hr/ann.md")
        left = _all_bytes(bench.store)
        assert [one for one in needles if one.encode() in left] == []
        assert index.verify() == []
        *found_it, last = index.access.readings()
        assert {(one.action, one.query, one.citations) for one in found_it} == {
            ("search", None, ()),
            ("show", None, ()),
        }
        assert last.query == "other words"
        assert last.citations


def test_what_stays_is_found_as_if_the_erased_had_never_been_there(tmp_path: Path) -> None:
    other = {"other.md": document("Other", "More"), "b.md": document("B") + "\n离职 eleven\n"}
    bench = logged(tmp_path / "erased", {"hr/ann.md": ANN, **other})
    with bench.open() as index:
        index.erase("docs:hr/ann.md")
    never = logged(tmp_path / "never", other)
    queries = ("离职", "eleven", " ".join(words("other").split()[:4]))

    def answers(bench: Bench) -> list[object]:
        with bench.open() as index:
            eve = index.for_principal("user:eve")
            found = [one.search(query, 50) for query in queries for one in (index, eve)]
        return [[(hit.citation, hit.score, hit.legs) for hit in one.hits] for one in found]

    assert answers(bench) == answers(never)


def test_postings_are_those_of_the_inputs_that_stay(bench: Bench) -> None:
    with bench.open() as index:
        index.prune(keep=1)
    inputs = {row[0] for row in bench.sql("SELECT id FROM input")}
    assert {row[0] for row in bench.sql("SELECT input_id FROM indexed")} == inputs
    lists = bench.sql("SELECT segment, data FROM posting")
    assert lists
    named = (unpacked(*row).input_ids.tolist() for row in lists)  # type: ignore[arg-type]
    assert {one for ids in named for one in ids} == inputs
    assert_sound(bench)


@pytest.mark.parametrize("call", ["prune", "gc", "erase", "lift"])
def test_nobody_but_the_owner_removes_anything(policies: Bench, call: str) -> None:
    given = {"prune": {"keep": 1}, "gc": {}}.get(call, {"document": "docs:leave.md"})
    policies.apply(rule("*:**", "everyone"))
    before = (policies.store / "store.sqlite").read_bytes()
    with policies.open() as index, pytest.raises(DeniedError):
        getattr(index.for_principal("user:eve"), call)(**given)
    assert (policies.store / "store.sqlite").read_bytes() == before


def _needles(bench: Bench, name: str) -> Iterator[bytes]:
    """Byte strings of a document's rows, read by another library than ours."""
    yield name.encode()
    yield ENGLISH.encode() if name == "leave.md" else CHINESE.encode()
    with closing(sqlite3.connect(bench.store / "store.sqlite")) as connection:
        rows = connection.execute(
            "SELECT r.content, r.sha256 FROM revision r JOIN manifest m ON m.revision_id = r.id"
            " JOIN document d ON d.id = m.document_id WHERE d.path = ?",
            (name.encode(),),
        ).fetchall()
        for content, sha256 in rows:
            yield sha256.encode()
            yield content[:40]
            yield content[-24:]
        chunks = connection.execute(
            "SELECT c.prefix, i.key, v.data FROM chunk c JOIN input i ON i.id = c.input_id"
            " JOIN vector v ON v.input_id = i.id JOIN manifest m ON m.layout_id = c.layout_id"
            " JOIN document d ON d.id = m.document_id WHERE d.path = ?",
            (name.encode(),),
        ).fetchall()
        for prefix, key, _ in chunks:
            yield key
            if prefix:
                yield prefix.encode()


def _all_bytes(store: Path) -> bytes:
    return b"".join(file.read_bytes() for file in store.rglob("*") if file.is_file())


def test_inputs_and_revisions_that_others_share_stay_and_are_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    text = document("Shared", "Alone")
    bench.write({"a.md": text, "copy.md": text, "part.md": document("Shared")})
    bench.sync()
    before = bench.stored()
    with bench.open() as index:
        report = index.erase("docs:a.md")
    assert report.shared_with == ("docs:copy.md",)
    assert report.removed.revisions == 0
    assert report.probes_shared == 0
    after = bench.stored()
    assert after.documents == {n: d for n, d in before.documents.items() if n != "docs:a.md"}
    assert_sound(bench)


def test_its_ledger_rows_and_its_mention_among_the_held_go_too(policies: Bench) -> None:
    policies.write({"leave.md": b"caf\xe9 \xa0", "other.md": document("Other", "More")})
    policies.sync()
    assert policies.sql("SELECT count(*) FROM held") == [(1,)]
    rows = policies.sql("SELECT count(*) FROM cost")[0][0]
    with policies.open() as index:
        index.erase("docs:leave.md")
        assert {str(name) for name, _ in index.cost("document").groups} == {
            "docs:差旅.md",
            "docs:other.md",
        }
        assert index.status().held == ()
    assert policies.sql("SELECT count(*) FROM held") == [(0,)]
    assert policies.sql("SELECT count(*) FROM cost")[0][0] == int(str(rows)) - 2
    assert b"leave.md" not in _all_bytes(policies.store)
    assert_sound(policies)


def test_an_erasure_can_be_lifted(policies: Bench) -> None:
    with policies.open() as index:
        with pytest.raises(NotFoundError) as refused:
            index.lift("docs:leave.md")
        assert refused.value.kind == "not-erased"
        index.erase("docs:leave.md")
        index.lift("docs:leave.md")
        report = index.sync()
        assert (report.generation, report.documents.added) == (3, 1)
        assert index.verify() == []


def test_a_reader_that_is_pinned_before_never_sees_it_again(policies: Bench) -> None:
    with policies.open() as reader, policies.open() as other:
        pinned = reader.view()
        assert len(pinned.documents) == 3
        other.erase("docs:leave.md")
        with pytest.raises(ConflictError) as refused:
            _ = pinned.places
        assert refused.value.kind == "snapshot-outdated"
        answer = reader.search(ENGLISH)
        assert "docs:leave.md" not in {str(hit.document) for hit in answer.hits}


def test_an_erasure_waits_for_a_sync_that_embeds(policies: Bench) -> None:
    with policies.open() as index, policies.open() as writer:
        connected = writer.store.connection(create=True)
        with connected as connection, leases(connection, policies.store) as mine:
            assert mine.claim([b"k" * 32])[0]
            with pytest.raises(BusyError) as refused:
                index.erase("docs:leave.md")
            assert refused.value.kind == "sync-running"
        index.erase("docs:leave.md")


def test_bytes_that_a_reader_keeps_are_found_and_the_erasure_can_be_finished(
    policies: Bench,
) -> None:
    reader = sqlite3.connect(policies.store / "store.sqlite", isolation_level=None)
    policies.sql("UPDATE source SET root = root")  # So that the reader is at a log.
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM revision").fetchone()
    with policies.open() as index:
        with pytest.raises(UnavailableError) as refused:
            index.erase("docs:leave.md")
        assert refused.value.kind == "erase-unfinished"
        reader.execute("COMMIT")
        reader.close()
        index.erase("docs:leave.md")
    assert b"leave.md" not in _all_bytes(policies.store)


def test_names_that_are_erased_are_not_kept_in_the_clear(policies: Bench) -> None:
    with policies.open() as index:
        index.erase(DocumentName("docs", "差旅.md".encode()))
    (row,) = policies.sql("SELECT digest, salt FROM denied")
    assert [len(value) for value in row] == [32, 16]  # type: ignore[arg-type]


# Garbage


def test_vectors_that_no_chunk_holds_are_collected_by_age(bench: Bench) -> None:
    stale = bench.stored().tokens
    bench.write({"late.md": document("Late")})
    with pytest.raises(KeyboardInterrupt):
        bench.sync(progress=_stop_when_done)
    orphans = set(vectors_stored(bench.store)) - set(stale)
    bench.write({"late.md": document("Later")})
    bench.sync()
    with bench.open() as index:
        assert index.gc(older_than="1h").removed.inputs == 0
        promised = index.gc(older_than="0h", dry_run=True)
        report = index.gc(older_than="0h")
        assert report.removed == promised.removed
        assert index.verify() == []
    assert report.removed.inputs == 1
    assert orphans


def _stop_when_done(stage: str, done: int, total: int | None) -> None:
    if stage == "embed" and done and done == total:
        raise KeyboardInterrupt


def test_a_collection_of_garbage_knows_the_age_by_the_publishes_after_it(bench: Bench) -> None:
    bench.write({"late.md": document("Late")})
    with pytest.raises(KeyboardInterrupt):
        bench.sync(progress=_stop_when_done)
    bench.remove("late.md")

    def in_a_year() -> datetime:
        return datetime.now(UTC) + timedelta(days=365)

    with bench.open() as index:
        mine = index.store.snapshot("local", "default").collection_id
        month = timedelta(days=30)
        early = retaining.gc(index.store, mine, month, dry_run=False, clock=in_a_year)
        assert early.removed.inputs == 0, "no publish says yet that it is so old"
        bench.write({"new.md": document("New")})
        index.sync()
        late = retaining.gc(index.store, mine, month, dry_run=False, clock=in_a_year)
        assert late.removed.inputs == 1


def test_an_erasure_of_a_document_whose_vectors_are_mostly_zeros_is_proved(tmp_path: Path) -> None:
    """Zeros stand everywhere in a file: they are no sign of a document."""
    bench = Bench(tmp_path, embedder=Recorder(512))
    bench.write({"a.md": "pinned", "b.md": "other", "c.md": "third"})
    bench.sync()
    for name in ("a", "b", "c"):
        with bench.open() as index:
            assert index.erase(f"docs:{name}.md").probes > 2
