"""Cases of the area acl, by id."""

from pathlib import Path

import pytest

from variorum.access.principals import Principal
from variorum.records.errors import InputError, NotFoundError
from workbench import Bench, document, rule, section, words


def seen(bench: Bench, principal: object, query: str = "anything", **named: object) -> list[str]:
    with bench.open(principal=principal) as index:
        hits = index.search(query, 1000, **named).hits  # type: ignore[arg-type]
    return sorted({str(hit.document) for hit in hits})


def test_ACL_01_a_document_without_readers_is_visible_to_nobody(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{name}.md": document(name.title()) for name in ("one", "two", "none")})
    bench.sync()
    bench.apply(rule("docs:one.md", "user:u1") + rule("docs:two.md", "user:u2"))
    assert seen(bench, "user:u1") == ["docs:one.md"]
    assert seen(bench, "user:unknown") == []


def test_ACL_02_a_change_of_permission_alone_takes_effect_and_embeds_nothing(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("Alpha")})
    bench.sync()
    bench.apply(rule("docs:**", "user:u1", "user:u2"))
    assert seen(bench, "user:u2") == ["docs:a.md"]
    bench.apply(rule("docs:**", "user:u1"))
    assert seen(bench, "user:u2") == []
    report, embedded = bench.sync()
    assert (report.inputs.embed, report.generation, embedded) == (0, None, [])


def test_ACL_04_a_small_share_of_the_corpus_is_found_in_full(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    near = "\n\n".join(
        f"## N{n}\n\ntarget word number {n} of many in this text." for n in range(400)
    )
    bench.write({"theirs.md": near, "mine.md": document(*(f"Far{n}" for n in range(20)))})
    bench.sync()
    bench.apply(rule("docs:mine.md", "user:b") + rule("docs:theirs.md", "user:a"))
    with bench.open(principal="user:b") as index:
        found = index.search("target word", 10).hits
        every = index.search("target word", 1000).hits
    assert len(found) == 10
    assert found == every[:10]
    assert {str(hit.document) for hit in every} == {"docs:mine.md"}
    assert len(every) == len(bench.stored().documents["docs:mine.md"].chunks)


def answers(bench: Bench) -> list[object]:
    """All that b is told, without what a store says of its own history."""
    told: list[object] = []
    with bench.open(principal="user:b") as index:
        for n in range(20):
            answer = index.search(f"words of question {n}", 10).as_fields()
            told.append(answer)
        status = index.status().as_fields()
        told.append({k: v for k, v in status.items() if k != "created_at"})
        told.append(index.diff(1, 1).as_fields())
    for one in told:
        for hit in one.get("hits", []):  # type: ignore[attr-defined]
            del hit["changed_at"]
    return told


def test_ACL_06_counts_are_the_same_with_and_without_what_is_forbidden(tmp_path: Path) -> None:
    mine = {"mine.md": document("Words", "Question", "Others")}
    theirs = {f"theirs{n}.md": document(f"Words{n}", "Question") for n in range(50)}
    policy = rule("docs:mine.md", "user:b") + rule("docs:theirs*.md", "user:a")
    told = []
    for name, files in (("with", {**mine, **theirs}), ("without", mine)):
        bench = Bench(tmp_path / name)
        bench.write(files)
        bench.sync()
        bench.apply(policy)
        told.append(answers(bench))
    assert told[0] == told[1]


def test_ACL_07_a_group_of_one_tenant_is_nothing_to_another(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    tenants = "".join(
        f'[collections.{one}]\ntenant = "{one}"\nsources = ["docs"]\n' for one in "ab"
    )
    bench.configure(bench.settings, tenants)
    bench.write({"a.md": document("Alpha")})
    policy = rule("docs:**", "group:editors")
    (bench.home / "variorum-policy.toml").write_text(policy)
    for one in "ab":
        with bench.open(collection=one) as index:
            index.sync()
            index.access.apply(author="x")
    member_of_a = Principal("a", "x", frozenset({"editors"}), "test")
    owner_of_the_group = Principal("b", "o", frozenset(), "test")
    with bench.open(collection="b") as index:
        assert index.for_principal(member_of_a).search("alpha").hits == ()
        assert index.for_principal(owner_of_the_group).search("alpha").hits == ()
        member_of_b = Principal("b", "y", frozenset({"editors"}), "test")
        assert index.for_principal(member_of_b).search("alpha").hits


def test_ACL_08_no_readers_is_nobody_and_only_everyone_is_everyone(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({f"{name}.md": document(name.title()) for name in ("empty", "absent", "public")})
    bench.sync()
    bench.apply(rule("docs:empty.md") + rule("docs:public.md", "everyone"))
    assert seen(bench, "user:any") == ["docs:public.md"]


def test_ACL_09_no_way_round_the_search_reaches_a_forbidden_section(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": section("One") + "\n" + section("Two")})
    bench.sync()
    everyone = rule("docs:**", "user:u2", "user:u1")
    bench.apply(everyone)
    with bench.open(principal="user:u2") as index:
        first = index.search(words("one"), 1).hits[0]
    bench.write({"a.md": section("One") + "\n" + section("Two") + "\nMore.\n"})
    bench.sync()
    bench.apply(everyone + '[[rules.sections]]\nheading = ["One"]\nreaders = ["user:u1"]\n')
    with bench.open(principal="user:u2") as index:
        (hit,) = (one for one in index.search(words("two"), 100).hits if words("two") in one.text)
        shown = index.show(hit.citation)
        whole = f"{hit.document}@{hit.revision}[0:{hit.end}]"
        before = f"{hit.document}@{hit.revision}[{hit.start - 5}:{hit.start + 1}]"
        for citation in (whole, before, str(first.citation)):
            with pytest.raises(NotFoundError):
                index.show(citation)
        old = index.search(words("one"), 100, as_of=1).hits
    assert words("one") not in shown.section
    assert not any(words("one")[:20] in one.text for one in old)


def test_ACL_10_a_filter_that_is_not_known_is_an_error(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": "---\nowner: x\n---\n" + document("Alpha")})
    bench.sync()
    bench.apply(rule("docs:**", "user:b"))
    for principal in ("user:b", "user:c"):
        with bench.open(principal=principal) as index, pytest.raises(InputError) as refused:
            index.search("alpha", where={"tenent": "B"})
        assert refused.value.kind == "unknown-metadata-key"
        assert ("owner" in refused.value.expected) == (principal == "user:b")
    for tenant in ("", "other"):
        stranger = Principal(tenant, "b", frozenset(), "test")
        with bench.open() as index:
            assert index.for_principal(stranger).search("alpha").hits == ()
