"""Who may read what, through the door: at once, for every generation, on every path."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

import variorum
from variorum.access.principals import Principal
from variorum.records.errors import DeniedError, InputError, NotFoundError, UnavailableError
from variorum.records.protocols import Role, Vectors
from workbench import Bench, Recorder, document, promise, rule, section, words

ANN = "user:ann,group:staff"
BOB = "user:bob"
TODAY = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write({"open/a.md": document("Alpha"), "hr/b.md": document("Beta")})
    bench.sync()
    return bench


def seen(bench: Bench, principal: object, query: str = "anything", **named: object) -> list[str]:
    """The documents that a principal finds, whatever the query is nearest to."""
    with bench.open(principal=principal) as index:
        answer = index.search(query, 1000, **named)  # type: ignore[arg-type]
    return sorted({str(hit.document) for hit in answer.hits})


def seen_by(index: variorum.Index, effective: str) -> list[str]:
    hits = index.search("anything", 100, effective=effective).hits
    return sorted({str(hit.document) for hit in hits})


def test_without_a_policy_the_owner_reads_everything_and_nobody_else_anything(bench: Bench) -> None:
    assert seen(bench, None) == ["docs:hr/b.md", "docs:open/a.md"]
    assert seen(bench, ANN) == []


def test_a_policy_lets_through_what_its_rules_name_and_nothing_else(bench: Bench) -> None:
    applied = bench.apply(rule("docs:open/**", "group:staff"))
    assert (applied.version, applied.named, applied.changed) == (1, 1, 1)
    assert [str(name) for name in applied.unnamed] == ["docs:hr/b.md"]
    assert seen(bench, ANN) == ["docs:open/a.md"]
    assert seen(bench, BOB) == []
    assert seen(bench, None) == ["docs:hr/b.md", "docs:open/a.md"]


def test_the_last_rule_that_names_a_document_decides_each_setting(bench: Bench) -> None:
    bench.apply(rule("*:**", "everyone") + rule("docs:hr/**", "group:hr"))
    assert seen(bench, BOB) == ["docs:open/a.md"]
    assert seen(bench, "user:x,group:hr") == ["docs:hr/b.md", "docs:open/a.md"]


def test_groups_of_the_policy_add_to_those_of_the_identity(bench: Bench) -> None:
    bench.apply('[groups]\nhr = ["user:bob"]\n' + rule("docs:hr/**", "group:hr"))
    assert seen(bench, BOB) == ["docs:hr/b.md"]
    assert seen(bench, "user:carol") == []


def test_a_revocation_is_obeyed_by_an_index_that_is_open_and_without_a_model(bench: Bench) -> None:
    bench.apply(rule("*:**", "everyone"))
    with bench.open(principal=BOB) as index:
        assert len(index.search("anything").hits) == 2
        citation = index.search("anything", 1).hits[0].citation
        bench.apply(rule("*:**", "user:ann"))
        assert index.search("anything").hits == ()
        with pytest.raises(NotFoundError):
            index.show(citation)
    assert bench.embedder.taken() == []


class Down(Recorder):
    """A model that cannot be reached, with the identity of one that could."""

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        raise UnavailableError("the model does not answer", kind="provider-unavailable")


def test_a_revocation_is_obeyed_while_the_model_is_down(bench: Bench) -> None:
    bench.apply(rule("*:**", "everyone"))
    with bench.open(principal=BOB, embedder=Down()) as index:
        before = index.search("alpha")
        assert before.fallback == "the model does not answer"
        assert [str(hit.document) for hit in before.hits] == ["docs:open/a.md"]
        bench.apply(rule("docs:hr/**", "everyone"))
        for mode in (None, "lexical"):
            assert index.search("alpha", mode=mode).hits == ()
        with pytest.raises(UnavailableError):
            index.search("alpha", mode="dense")
        with pytest.raises(NotFoundError):
            index.show(before.hits[0].citation)
        assert index.status().documents == 1


def test_what_a_tenant_would_embed_says_nothing_of_what_another_holds(tmp_path: Path) -> None:
    promises = []
    for name, others in (("same", document("Alpha")), ("other", document("Omega"))):
        bench = Bench(tmp_path / name)
        roots = "".join(f'[sources.{one}]\nroot = "{one}"\n' for one in ("theirs", "mine"))
        tables = "".join(
            f'[collections.{one}]\ntenant = "{one}"\nsources = ["{one}"]\n'
            for one in ("theirs", "mine")
        )
        bench.configure(bench.settings, roots + tables)
        for one, text in (("theirs", others), ("mine", document("Alpha"))):
            (bench.home / one).mkdir()
            (bench.home / one / "a.md").write_text(text)
        with bench.open(collection="theirs") as index:
            index.sync()
        with bench.open(collection="mine") as index:
            planned = promise(index.plan().report)
            synced = index.sync()
        bench.embedder.taken()
        assert promise(synced) == planned
        promises.append((planned, synced.embedder_calls))
    assert promises[0] == promises[1]
    assert promises[0][0]["inputs"]["embed"] > 0  # type: ignore[index]


def test_a_revocation_is_obeyed_in_every_generation(bench: Bench) -> None:
    bench.apply(rule("*:**", "everyone"))
    bench.write({"open/a.md": document("Gamma")})
    bench.sync()
    bench.apply(rule("docs:open/**", "everyone"))
    assert seen(bench, BOB, as_of=1) == ["docs:open/a.md"]


def test_a_new_document_falls_under_the_policy_in_force(bench: Bench) -> None:
    bench.apply(rule("docs:open/**", "everyone"))
    bench.write({"open/c.md": document("Delta"), "hr/d.md": document("Epsilon")})
    planned = bench.plan()
    assert [str(name) for name in planned.unnamed] == ["docs:hr/b.md", "docs:hr/d.md"]
    report, _ = bench.sync()
    assert report.unnamed == planned.unnamed
    assert seen(bench, BOB) == ["docs:open/a.md", "docs:open/c.md"]


def test_a_deleted_document_keeps_its_last_policy_or_a_stricter_one(bench: Bench) -> None:
    bench.apply(rule("docs:hr/**", "group:hr"))
    bench.remove("hr/b.md")
    bench.sync()
    bench.apply(rule("*:**", "everyone"))
    assert seen(bench, BOB, as_of=1) == ["docs:open/a.md"]
    assert seen(bench, "group:hr", as_of=1) == ["docs:hr/b.md", "docs:open/a.md"]
    bench.apply(rule("*:**", "user:ann"))
    bench.apply(rule("*:**", "everyone"))
    assert seen(bench, "group:hr", as_of=1) == ["docs:open/a.md"]


def test_a_restore_never_restores_policy(bench: Bench) -> None:
    bench.apply(rule("*:**", "everyone"))
    bench.remove("hr/b.md")
    bench.sync()
    bench.apply(rule("docs:open/**", "everyone"))
    with bench.open() as index:
        index.restore(1)
    assert seen(bench, BOB) == ["docs:open/a.md"]
    assert seen(bench, None) == ["docs:hr/b.md", "docs:open/a.md"]


def test_a_sync_that_brings_a_document_back_opens_nothing(bench: Bench) -> None:
    bench.apply(rule("docs:hr/**", "group:hr"))
    bench.remove("hr/b.md")
    bench.sync()
    bench.apply(rule("*:**", "everyone"))
    bench.write({"hr/b.md": document("Zeta")})
    bench.sync()
    assert seen(bench, BOB) == ["docs:open/a.md"]
    bench.apply(rule("*:**", "everyone"))
    assert seen(bench, BOB) == ["docs:hr/b.md", "docs:open/a.md"]


NARROW = '---\nvariorum:\n  readers: ["group:hr"]\n---\n'


def test_front_matter_narrows_what_the_policy_lets_read(bench: Bench) -> None:
    bench.apply(rule("*:**", "everyone"))
    bench.write({"open/a.md": NARROW + document("Alpha")})
    bench.sync()
    assert seen(bench, BOB) == ["docs:hr/b.md"]
    assert seen(bench, BOB, as_of=1) == ["docs:hr/b.md"]
    assert seen(bench, "group:hr") == ["docs:hr/b.md", "docs:open/a.md"]


def test_an_old_revision_stays_as_narrow_as_it_says_itself(bench: Bench) -> None:
    bench.apply(rule("*:**", "everyone"))
    for text in (NARROW + document("Alpha"), document("Alpha", "Gamma")):
        bench.write({"open/a.md": text})
        bench.sync()
    assert seen(bench, BOB) == ["docs:hr/b.md", "docs:open/a.md"]
    assert seen(bench, BOB, as_of=2) == ["docs:hr/b.md"]
    with bench.open() as index:
        (cited, *_) = index.search("alpha", 1, as_of=2, path="open/a.md").hits
    with bench.open(principal=BOB) as index, pytest.raises(NotFoundError):
        index.show(cited.citation)


def test_front_matter_gives_nobody_anything(bench: Bench) -> None:
    bench.apply(rule("docs:open/**", "group:staff"))
    bench.write({"open/a.md": '---\nvariorum:\n  readers: [everyone, "user:bob"]\n---\n' + "x"})
    bench.write({"hr/b.md": "---\nvariorum: {readers: [everyone]}\n---\n" + "y"})
    bench.sync()
    assert seen(bench, BOB) == []
    assert seen(bench, ANN) == ["docs:open/a.md"]


def test_a_restore_leaves_a_document_as_narrow_as_its_last_synced_revision(bench: Bench) -> None:
    bench.apply(rule("*:**", "everyone"))
    bench.write({"open/a.md": NARROW + document("Alpha")})
    bench.sync()
    with bench.open() as index:
        index.restore(1)
    assert seen(bench, BOB) == ["docs:hr/b.md"]


def test_a_switch_of_models_after_a_restore_opens_nothing(bench: Bench) -> None:
    """What is only embedded anew says nothing of its readers: no source was listed."""
    bench.apply(rule("*:**", "everyone"))
    bench.write({"open/a.md": NARROW + document("Alpha")})
    bench.sync()
    with bench.open() as index:
        index.restore(1)
        other = Recorder(96)
        index.use_model(other)
    with bench.open(principal=BOB, embedder=other) as index:
        hits = index.search("anything", 1000).hits
    assert {str(hit.document) for hit in hits} == {"docs:hr/b.md"}


def test_an_export_takes_policies_narrowings_and_readings_along(
    bench: Bench, tmp_path: Path
) -> None:
    bench.configure(bench.settings, '[collections.default]\naudit = "queries"\n')
    bench.apply(rule("*:**", "everyone"))
    bench.write({"open/a.md": NARROW + document("Alpha"), "open/c.md": document("Gamma")})
    bench.sync()
    bench.apply(rule("docs:open/**", "everyone") + rule("docs:hr/**", "group:hr"))
    asking = (None, ANN, BOB, "group:hr")
    file = tmp_path / "out.jsonl"
    wanted = [seen(bench, one, as_of=number) for one in asking for number in (1, 2)]
    with bench.open() as index:
        index.export(file)
        log = index.access.log()
        readings = len(bench.sql("SELECT id FROM audit"))
    assert readings > 0
    other = Bench(tmp_path / "other")
    with other.open() as index:
        index.import_(file)
        assert index.verify() == []
        assert index.access.log() == log
    assert len(other.sql("SELECT id FROM audit")) == readings
    assert [seen(other, one, as_of=number) for one in asking for number in (1, 2)] == wanted


@pytest.mark.parametrize(
    "front",
    [
        "---\nvariorum:\n  readers:\n---\n",
        "---\nvariorum: nobody\n---\n",
        "---\nvariorum: {readers: user:ann}\n---\n",
        "---\nvariorum: {readers: [ann]}\n---\n",
        "---\nvariorum: {reader: [everyone]}\n---\n",
        "---\nvariorum: {effective_from: 2026-13-01}\n---\n",
        '---\nvariorum: {effective_from: ""}\n---\n',
        "---\nvariorum: {effective_from: 2026-02-01, effective_until: 2026-01-01}\n---\n",
        "---\nVariorum: {readers: [everyone]}\n---\n",
        "---\nvariorum: {readers: [everyone]\n---\n",
        '---\nname: *alias\n"\\x76ariorum": {readers: []}\n---\n',
        "---\nvariorum:\n  readers: []\n\nnever closed\n",
        "+++\n[variorum]\nreaders = [\n+++\n",
    ],
)
def test_front_matter_that_may_narrow_and_cannot_be_read_holds_its_document(
    bench: Bench, front: str
) -> None:
    bench.apply(rule("*:**", "everyone"))
    bench.write({"open/a.md": front + document("Secret"), "new.md": front + document("Secret")})
    report, _ = bench.sync()
    assert [(str(one.document), one.kind) for one in report.held] == [
        ("docs:new.md", "bad-front-matter"),
        ("docs:open/a.md", "bad-front-matter"),
    ]
    with bench.open(principal=BOB) as index:
        texts = [hit.text for hit in index.search("secret", 100).hits]
    assert not any("Secret" in text for text in texts)


def test_front_matter_that_cannot_narrow_and_cannot_be_read_holds_nothing(bench: Bench) -> None:
    bench.write({"open/a.md": "---\ntitle: [unclosed\n---\n" + document("Alpha")})
    report, _ = bench.sync()
    assert report.held == ()
    assert len(report.fallbacks) == 1


def test_an_interval_is_in_force_from_its_first_day_to_the_end_of_its_last(bench: Bench) -> None:
    dates = {"effective_from": "2026-01-01", "effective_until": "2026-12-31"}
    bench.apply('time_zone = "Asia/Shanghai"\n' + rule("*:**", "everyone", **dates))
    for moment, expected in (
        ("2025-12-31", 0),
        ("2026-01-01", 2),
        ("2026-12-31", 2),
        ("2027-01-01", 0),
        ("2025-12-31T15:59:59Z", 0),
        ("2025-12-31T16:00:00Z", 2),
        ("2026-12-31T15:59:59Z", 2),
        ("2026-12-31T16:00:00Z", 0),
        ("any", 2),
    ):
        assert len(seen(bench, BOB, effective=moment)) == expected, moment
        assert len(seen(bench, None, effective=moment)) == expected, moment


def test_an_index_that_is_open_reads_dates_in_the_time_zone_of_the_policy(bench: Bench) -> None:
    front = "---\nvariorum:\n  effective_from: 2026-06-01\n---\n"
    bench.write({"dated.md": front + document("Dated")})
    bench.sync()
    everyone = rule("docs:dated.md", "everyone")
    bench.apply(everyone)
    evening = "2026-05-31T20:00:00Z"
    with bench.open() as index:
        reader = index.for_principal("user:ann")
        assert seen_by(reader, evening) == []
        bench.apply('time_zone = "Asia/Shanghai"\n' + everyone)
        assert seen_by(reader, evening) == ["docs:dated.md"]
        bench.apply(everyone)
        assert seen_by(reader, evening) == []


def test_effective_and_as_of_are_asked_separately_and_together(bench: Bench) -> None:
    later = {"effective_from": "2026-07-01"}
    bench.apply(rule("docs:open/**", "everyone", **later) + rule("docs:hr/**", "everyone"))
    bench.write({"hr/b.md": document("Newer")})
    bench.sync()
    new, old = "2026-08-01", "2026-06-01"
    assert seen(bench, BOB, effective=old) == seen(bench, BOB, effective=old, as_of=1)
    assert seen(bench, BOB, effective=new) == ["docs:hr/b.md", "docs:open/a.md"]
    with bench.open(principal=BOB) as index:
        (hit,) = index.search(words("beta"), 1, as_of=1, effective=old).hits
    assert words("beta") in hit.text


def test_hits_say_what_is_current_superseded_future_and_expired(bench: Bench) -> None:
    bench.write({f"{n}.md": document(f"Title{n}") for n in range(4)})
    bench.sync()
    status = {"status": '"superseded"', "status_by": '"Legal"', "status_at": "2026-01-02"}
    bench.apply(
        rule("docs:0.md", "everyone", **status)
        + rule("docs:1.md", "everyone", effective_from="2999-01-01")
        + rule("docs:2.md", "everyone", effective_until="2020-12-31")
        + rule("docs:3.md", "everyone")
    )
    with bench.open(principal=BOB) as index:
        hits = {str(hit.document): hit for hit in index.search("x", 100, effective="any").hits}
        standings = {name: hit.standing for name, hit in hits.items()}
        with pytest.raises(NotFoundError):
            index.show(hits["docs:2.md"].citation)
        shown = index.show(hits["docs:2.md"].citation, effective="any")
    assert standings == {
        "docs:0.md": "superseded",
        "docs:1.md": "future",
        "docs:2.md": "expired",
        "docs:3.md": "current",
    }
    first = hits["docs:0.md"]
    assert (first.status, first.status_by) == ("superseded", "Legal")
    assert first.status_at == "2026-01-02"
    assert hits["docs:1.md"].effective_from == "2999-01-01T00:00:00+00:00"
    assert (shown.standing, shown.is_current) == ("expired", True)
    assert shown.effective_until == "2021-01-01T00:00:00+00:00"


SECTIONS = """
[[rules.sections]]
heading = ["Pay"]
readers = ["group:hr"]
"""


def test_a_chunk_that_touches_a_section_kept_back_is_not_shown(bench: Bench) -> None:
    bench.write({"open/a.md": "".join([section("Intro"), section("Pay"), section("Rest")])})
    bench.sync()
    bench.apply(rule("docs:open/**", "everyone") + SECTIONS)
    secret = words("pay")
    with bench.open(principal=BOB) as index:
        hits = index.search(secret, 100).hits
        assert hits
        assert not any(secret in hit.text for hit in hits)
        sections = [index.show(hit.citation).section for hit in hits]
        assert not any(secret in text for text in sections)
    with bench.open(principal="user:x,group:hr") as index:
        (hit,) = (hit for hit in index.search(secret, 100).hits if secret in hit.text)
    with bench.open(principal=BOB) as index:
        for citation in (hit.citation, str(hit.citation).split("[")[0] + "[0:99999]"):
            with pytest.raises(NotFoundError):
                index.show(citation)


def test_a_section_whose_heading_was_renamed_is_not_opened_by_that(bench: Bench) -> None:
    bench.write({"open/a.md": section("Pay") + section("Rest")})
    bench.sync()
    bench.apply(rule("docs:open/**", "everyone") + SECTIONS)
    bench.write({"open/a.md": section("Salaries") + section("Rest")})
    bench.sync()
    assert seen(bench, BOB) == []
    bench.apply(rule("docs:open/**", "everyone") + SECTIONS + 'missing = "ignore"\n')
    assert seen(bench, BOB) == ["docs:open/a.md"]
    assert seen(bench, BOB, as_of=1) == ["docs:open/a.md"]


def test_what_is_the_owners_alone_is_refused_to_others(bench: Bench) -> None:
    with bench.open(principal=BOB) as index:
        for act in (
            index.plan,
            index.sync,
            index.verify,
            index.doctor,
            lambda: index.restore(1),
            lambda: index.use_model("hashing"),
            index.models,
            lambda: index.export(bench.home / "x"),
            lambda: index.import_(bench.home / "x"),
            lambda: index.backup(bench.home / "x"),
            lambda: next(index.watch()),
            lambda: index.access,
            lambda: index.store,
        ):
            with pytest.raises(DeniedError) as refused:
                act()
            assert refused.value.kind == "owner-only"


def test_a_principal_of_another_tenant_is_told_of_no_collection(bench: Bench) -> None:
    stranger = Principal("elsewhere", "ann", frozenset({"staff"}), "test")
    with pytest.raises(InputError) as refused:
        bench.open(principal=stranger)
    assert "default" not in str(refused.value.as_fields())
    with bench.open() as index:
        bench.apply(rule("*:**", "everyone"))
        assert index.for_principal(stranger).search("anything").hits == ()


def test_who_what_and_check_say_what_search_does(bench: Bench) -> None:
    bench.apply(rule("docs:open/**", "group:staff"), author="Legal")
    with bench.open() as index:
        access = index.access
        assert access.check(ANN, "docs:open/a.md").allowed
        assert access.check(ANN, "docs:open/a.md").reasons == ("rule 1 lets group:staff read it",)
        denied = access.check(ANN, "docs:hr/b.md")
        assert (denied.allowed, denied.reasons) == (
            False,
            ("no rule that names it says who may read it",),
        )
        assert access.who("docs:open/a.md").readers == ("group:staff",)
        assert access.who("docs:hr/b.md").readers is None
        assert [str(name) for name, _ in access.what(ANN).documents] == seen(bench, ANN)
        with pytest.raises(NotFoundError):
            access.who("docs:none.md")
        (row,) = access.log()
        assert (row.version, row.author) == (1, "Legal")
        assert "docs:open/**" in row.text


def test_applying_the_same_policy_again_changes_nothing(bench: Bench) -> None:
    policy = rule("docs:open/**", "group:staff")
    assert bench.apply(policy).version == 1
    assert bench.apply(policy).version is None
    assert bench.apply(policy + "# a comment\n").version == 2
    assert bench.sql("SELECT count(*) FROM access_grant") == [(1,)]


def test_readings_are_logged_where_configured_without_the_query(bench: Bench) -> None:
    bench.configure(bench.settings, '[collections.default]\naudit = "on"\n')
    bench.apply(rule("*:**", "everyone"))
    with bench.open(principal=BOB) as index:
        hit = index.search("a private question", 1).hits[0]
        index.show(hit.citation)
    with bench.open() as index:
        first, second = index.access.readings()
    assert (first.action, first.query, first.citations) == ("search", None, (str(hit.citation),))
    assert (second.action, second.principal) == ("show", "user:bob")
    assert (second.verified_by, second.policy_version) == ("local as", 1)
    bench.configure(bench.settings, '[collections.default]\naudit = "queries"\n')
    with bench.open() as index:
        index.search("another question", 1)
        assert index.access.readings()[-1].query == "another question"
        assert index.access.readings()[-1].principal == "owner"


def test_nothing_is_logged_by_default(bench: Bench) -> None:
    with bench.open() as index:
        index.search("anything")
        assert index.access.readings() == []


def test_a_policy_may_be_applied_before_the_first_sync(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("Alpha")})
    assert bench.apply(rule("*:**", "everyone")).version == 1
    bench.sync()
    assert seen(bench, BOB) == ["docs:a.md"]


def test_the_door_takes_a_policy_file_by_name(bench: Bench) -> None:
    file = bench.home / "other.toml"
    file.write_text(rule("*:**", "everyone"))
    with variorum.open(bench.home) as index:
        assert index.access.apply(file, author="me").named == 2
        with pytest.raises(NotFoundError):
            index.access.apply(bench.home / "none.toml")
        with pytest.raises(InputError):
            index.access.apply(file, author=" ")


def test_the_section_around_a_citation_ends_where_something_kept_back_begins(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path, '[chunking]\nchunker = "anchored(max_tokens=30, min_tokens=5)"\n')
    functions = [
        f"def {name}():\n    return '{words(name, 8)}'\n" for name in ("one", "key", "two")
    ]
    bench.write({"a.txt": "none", "code.py": "\n\n".join(functions)})
    sources = '\n[sources.code]\nroot = "docs"\ninclude = ["*.py"]\n'
    bench.configure(bench.settings, sources)
    bench.sync(source="code")
    section_of = '[[rules.sections]]\nheading = ["def key"]\nreaders = ["user:ann"]\n'
    bench.apply(rule("code:**", "everyone") + section_of)
    with bench.open(principal=BOB) as index:
        hits = index.search(words("one", 8), 10).hits
        sections = [index.show(hit.citation).section for hit in hits]
    assert any("one" in text for text in sections)
    assert not any(words("key", 8)[:10] in text for text in sections)
