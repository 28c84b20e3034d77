"""Export, import and backup: what comes back is what went in, and damage is refused."""

import json
import random
import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import variorum
from variorum.records.errors import (
    ConflictError,
    DamagedError,
    InputError,
    NotFoundError,
    UnsupportedError,
    VariorumError,
)
from variorum.store.engine import FORMAT
from variorum.store.portable import undeclared
from workbench import Bench, Recorder, document, vectors_stored, words

QUERIES = [words("two", 4), words("四百五十元", 3)]


def with_history(home: Path) -> Bench:
    """Edits, a revert, a removal, a held document, a switch of models, an erasure and a prune."""
    bench = Bench(home)
    bench.write({"a.md": document("One", "Two", "Three"), "b.md": document("Four"), "empty.md": ""})
    bench.write(
        {"中.md": "# 差旅\n\n住宿限额为每人每晚四百五十元。\n", "gone.md": document("Gone")}
    )
    bench.sync()
    bench.write({"a.md": document("One", "Six", "Two"), "held.md": b"caf\xe9"})
    bench.sync()
    bench.write({"a.md": document("One", "Two", "Three"), "c.md": document("Four")})
    bench.remove("b.md")
    bench.sync()
    with bench.open() as index:
        index.use_model(Recorder(96))
        index.use_model(bench.embedder)
        index.erase("docs:gone.md")
        index.prune(keep=4)
    return bench


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, Path]:
    bench = with_history(tmp_path_factory.mktemp("made"))
    file = bench.home / "out.jsonl"
    with bench.open() as index:
        index.export(file)
    return bench, file


def copied(bench: Bench, home: Path) -> Bench:
    """The same documents and settings, without a store."""
    shutil.copytree(bench.home, home, ignore=shutil.ignore_patterns(".variorum", "*.jsonl"))
    return Bench(home, bench.settings)


def readout(bench: Bench) -> object:
    with bench.open() as index:
        log = [row.as_fields() for row in index.log()]
        kept = [row["generation"] for row in log if not row["pruned"]]
        own = bench.embedder.identity.fingerprint
        made_by = {one.fingerprint: one.generations for one in index.models()}
        mine = made_by[own]
        assert len(mine) > 1
        answers = [
            index.search(query, 5, as_of=number).as_fields() for query in QUERIES for number in mine
        ]
        cited = [
            index.show(hit["citation"]).as_fields()
            for answer in answers
            for hit in answer["hits"]  # type: ignore[attr-defined]
        ]
        status = index.status().as_fields()
        costs = index.cost().as_fields()
    told = {name: status[name] for name in ("documents", "chunks", "inputs", "sources", "held")}
    stored = [bench.stored(as_of=number).plain() for number in kept]
    return log, answers, cited, told, costs, stored


def test_an_import_gives_the_same_hits_citations_and_generations(
    made: tuple[Bench, Path], tmp_path: Path
) -> None:
    bench, file = made
    other = copied(bench, tmp_path / "other")
    with other.open() as index:
        done = index.import_(file)
        assert index.verify() == []
        assert done.generation == index.log()[-1].number
    assert readout(other) == readout(bench)
    assert vectors_stored(other.store) == vectors_stored(bench.store)
    report, asked = other.sync()
    assert (report.generation, asked) == (None, [])


def test_an_imported_collection_goes_on_as_the_other_does(
    made: tuple[Bench, Path], tmp_path: Path
) -> None:
    bench, file = made
    mine = Bench(tmp_path / "mine", bench.settings)
    shutil.copytree(bench.home, mine.home, dirs_exist_ok=True)
    other = copied(bench, tmp_path / "other")
    with other.open() as index:
        index.import_(file)
    edit = {"a.md": document("One", "Nine", "Three"), "gone.md": document("Gone")}
    reports = []
    for one in (mine, other):
        one.write(edit)
        reports.append((one.sync()[0], one.stored().plain()))
    assert reports[0][1] == reports[1][1]
    assert reports[0][0].inputs == reports[1][0].inputs
    assert "docs:gone.md" not in reports[1][1], "an erased document stays out"


def test_an_import_beside_other_collections_shares_what_they_have(
    made: tuple[Bench, Path], tmp_path: Path
) -> None:
    """The store has the same revisions, cut in another way by another history."""
    bench, file = made
    other = copied(bench, tmp_path / "other")
    tables = '[collections.first]\nsources = ["docs"]\n[collections.second]\nsources = ["docs"]\n'
    other.configure(bench.settings, tables)
    other.write({"a.md": document("One", "Three")})
    with other.open(collection="first") as index:
        index.sync()
    other.write({"a.md": (bench.root / "a.md").read_bytes()})
    with other.open(collection="first") as index:
        index.sync()
        before = index.search(QUERIES[0]).as_fields()
    with other.open(collection="second") as index:
        index.import_(file)
        assert index.verify() == []
    wanted = bench.stored()
    assert other.stored("second").plain() == wanted.plain()
    with other.open(collection="first") as index:
        assert index.search(QUERIES[0]).as_fields() == before


def test_a_second_import_is_refused_and_changes_nothing(
    made: tuple[Bench, Path], tmp_path: Path
) -> None:
    bench, file = made
    other = copied(bench, tmp_path / "other")
    with other.open() as index:
        index.import_(file)
    before = readout(other)
    with other.open() as index, pytest.raises(ConflictError) as refused:
        index.import_(file)
    assert refused.value.kind == "collection-exists"
    assert readout(other) == before


def test_an_export_of_an_import_is_of_equal_rows(made: tuple[Bench, Path], tmp_path: Path) -> None:
    bench, file = made
    other = copied(bench, tmp_path / "other")
    with other.open() as index:
        done = index.import_(file)
        again = index.export(tmp_path / "again.jsonl")
    assert (again.rows, again.generation) == (done.rows, done.generation)


def refusal(bench: Bench, file: Path, home: Path) -> VariorumError:
    other = copied(bench, home)
    with other.open() as index, pytest.raises(VariorumError) as refused:
        index.import_(file)
    assert not other.store.exists(), "nothing is made for a file that is refused"
    return refused.value


def test_every_flipped_bit_is_refused(made: tuple[Bench, Path], tmp_path: Path) -> None:
    bench, file = made
    whole = file.read_bytes()
    chosen = random.Random(7)
    places = {0, 1, len(whole) - 1, *(chosen.randrange(len(whole)) for _ in range(150))}
    for number, place in enumerate(sorted(places)):
        spoilt = bytearray(whole)
        spoilt[place] ^= 1 << chosen.randrange(8)
        damaged = tmp_path / f"{number}.jsonl"
        damaged.write_bytes(spoilt)
        fault = refusal(bench, damaged, tmp_path / f"home{number}")
        assert isinstance(fault, DamagedError | InputError | UnsupportedError), place
        assert fault.expected
        assert fault.remedy


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_a_file_that_was_cut_off_is_refused(
    made: tuple[Bench, Path], tmp_path: Path, share: float
) -> None:
    bench, file = made
    whole = file.read_bytes()
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(whole[: int(share * (len(whole) - 2))])
    fault = refusal(bench, cut, tmp_path / "home")
    assert fault.kind == ("not-an-export" if share == 0.0 else "export-damaged")


def test_lines_that_changed_places_or_came_twice_are_named(
    made: tuple[Bench, Path], tmp_path: Path
) -> None:
    bench, file = made
    lines = file.read_bytes().splitlines(keepends=True)
    rows = [number for number, line in enumerate(lines) if line.startswith(b"[")]
    swapped, doubled = lines.copy(), lines.copy()
    swapped[rows[0]], swapped[rows[1]] = lines[rows[1]], lines[rows[0]]
    doubled.insert(rows[0], lines[rows[0]])
    for number, wrong in enumerate((swapped, doubled, [*lines, b"{}\n"], lines[:1] + lines[3:])):
        damaged = tmp_path / f"{number}.jsonl"
        damaged.write_bytes(b"".join(wrong))
        assert refusal(bench, damaged, tmp_path / f"home{number}").kind == "export-damaged"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "not-an-export"),
        (b"# a README\n", "not-an-export"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 400, "not-an-export"),
        (b'{"kind": "something else"}\n', "not-an-export"),
        (b"[" * 70_000, "not-an-export"),
        (b'{"kind": "variorum export", "version": 2}\n', "export-newer"),
        (b'{"kind": "variorum export", "version": 1, "format": "9999"}\n', "export-newer"),
        (b'{"kind": "variorum export", "version": 1, "format": "0005"}\n', "export-older"),
        (
            b'{"kind": "variorum export", "version": 1, "format": "%s"}\n' % FORMAT.encode(),
            "export-damaged",
        ),
    ],
)
def test_a_foreign_file_is_refused_with_what_it_is(
    made: tuple[Bench, Path], tmp_path: Path, content: bytes, kind: str
) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_bytes(content)
    assert refusal(made[0], foreign, tmp_path / "home").kind == kind


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200))
def test_no_bytes_at_all_are_taken_for_an_export(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "any"
    file.write_bytes(content)
    with variorum.open(tmp_path) as index, pytest.raises(VariorumError) as refused:
        index.import_(file)
    assert refused.value.kind in ("not-an-export", "export-newer", "export-damaged")


def test_an_export_of_another_tenant_is_refused(made: tuple[Bench, Path], tmp_path: Path) -> None:
    bench, file = made
    lines = file.read_bytes().splitlines()
    assert json.loads(lines[0])["tenant"] == "local"
    other = copied(bench, tmp_path / "home")
    other.configure(bench.settings, '[collections.one]\ntenant = "elsewhere"\n')
    with other.open() as index, pytest.raises(InputError) as refused:
        index.import_(file)
    assert refused.value.kind == "other-tenant"


def test_files_that_are_there_stay_and_files_that_are_not_are_named(
    made: tuple[Bench, Path], tmp_path: Path
) -> None:
    bench, _ = made
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with bench.open() as index:
        for call in (index.export, index.backup):
            with pytest.raises(ConflictError) as refused:
                call(taken)
            assert refused.value.kind == "file-exists"
        with pytest.raises(NotFoundError):
            index.import_(tmp_path / "nowhere")
        with pytest.raises(VariorumError) as unwritable:
            index.export(tmp_path / "no-folder" / "x")
        assert unwritable.value.kind == "file-not-writable"
    assert taken.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_every_table_says_whether_it_is_exported() -> None:
    assert undeclared() == []


def test_a_backup_is_the_store_at_one_moment_and_sound(tmp_path: Path) -> None:
    bench = with_history(tmp_path / "here")
    file = tmp_path / "backup.sqlite"
    with bench.open() as index:
        done = index.backup(file)
    assert done.file_bytes == file.stat().st_size
    other = copied(bench, tmp_path / "other")
    other.store.mkdir()
    shutil.copy(file, other.store / "store.sqlite")
    with other.open() as index:
        assert index.verify() == []
    assert readout(other) == readout(bench)


def test_backups_while_a_writer_publishes_each_hold_one_generation_whole(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "here")
    bench.write({f"{n}.md": document(f"One{n}", f"Two{n}") for n in range(6)})
    bench.sync()
    stop, wanted = threading.Event(), {}

    def write() -> None:
        with variorum.open(bench.home, embedder=Recorder()) as index:
            number = 0
            while not stop.is_set():
                number += 1
                bench.write({"0.md": document(f"Edit{number}", "Two0")})
                wanted[index.sync().generation] = f"edit{number}"

    writer = threading.Thread(target=write)
    writer.start()
    found = []
    try:
        for number in range(6):
            file = tmp_path / f"{number}.sqlite"
            with bench.open() as index:
                index.backup(file)
            other = copied(bench, tmp_path / f"other{number}")
            other.store.mkdir()
            shutil.copy(file, other.store / "store.sqlite")
            found.append(other)
    finally:
        stop.set()
        writer.join()
    numbers = []
    for other in found:
        stored = other.stored()
        with other.open() as index:
            assert index.verify() == []
            assert index.search(words("two3", 4)).generation == stored.generation
        if stored.generation > 1:
            assert wanted[stored.generation] in stored.documents["docs:0.md"].text
        numbers.append(stored.generation)
    assert numbers == sorted(numbers)
    assert max(numbers) > 1


def test_an_export_while_a_writer_publishes_is_of_one_generation(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "here")
    bench.write({f"{n}.md": document(f"One{n}", f"Two{n}") for n in range(6)})
    bench.sync()
    stop = threading.Event()

    def write() -> None:
        with variorum.open(bench.home, embedder=Recorder()) as index:
            number = 0
            while not stop.is_set():
                number += 1
                bench.write({"0.md": document(f"Edit{number}", "Two0")})
                index.sync()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with bench.open() as index:
            done = [index.export(tmp_path / f"{number}.jsonl") for number in range(4)]
    finally:
        stop.set()
        writer.join()
    for number, one in enumerate(done):
        other = copied(bench, tmp_path / f"other{number}")
        with other.open() as index:
            assert index.import_(tmp_path / f"{number}.jsonl").generation == one.generation
            assert index.verify() == []


def test_a_revision_that_both_cut_differently_keeps_both_layouts(tmp_path: Path) -> None:
    """Fixed windows: what the planner kept through an insertion, a fresh index would not."""
    cut = '[chunking]\nchunker = "fixed(max_tokens=24)"\n'
    before, after = words("body", 120), f"{words('head', 7)}\n{words('body', 120)}"
    planned = Bench(tmp_path / "planned", cut)
    for content in (before, after):
        planned.write({"a.md": content})
        planned.sync()
    file = tmp_path / "out.jsonl"
    with planned.open() as index:
        index.export(file)
    other = Bench(tmp_path / "other", cut)
    other.configure(cut, "[collections.first]\n[collections.second]\n")
    other.write({"a.md": after})
    with other.open(collection="first") as index:
        index.sync()
    fresh = other.stored("first").plain()
    assert fresh != planned.stored().plain()
    with other.open(collection="second") as index:
        index.import_(file)
        assert index.verify() == []
        assert index.sync().generation is None
    for number in (1, 2):
        assert other.stored("second", number).plain() == planned.stored(as_of=number).plain()
    assert other.stored("first").plain() == fresh
