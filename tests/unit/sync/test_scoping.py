"""When a list of changes is enough, and every doubt on which all is compared."""

import hashlib
from pathlib import Path

import pytest

from variorum.records.changes import Compared
from variorum.records.errors import ConflictError
from workbench import Bench, document, words


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two"), "deep/b.md": document("Three"), "c.md": "c\n"})
    bench.sync()
    return bench


def compared(bench: Bench, changes: str | bytes, **named: object) -> Compared:
    content = changes.encode() if isinstance(changes, str) else changes
    (one,) = bench.sync(changed=content, **named)[0].compared
    return one


def blob(content: str) -> str:
    data = content.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def test_only_what_the_list_names_is_looked_at(bench: Bench) -> None:
    bench.write({"a.md": document("One", "Four"), "c.md": "other\n", "new.md": "new\n"})
    before = bench.stored().documents
    report, asked = bench.sync(changed=b"docs/a.md\n")
    assert report.compared == (Compared("docs", "changes", paths=1),)
    assert (report.documents.changed, report.documents.unchanged, len(asked)) == (1, 2, 1)
    after = bench.stored().documents
    assert after["docs:c.md"] == before["docs:c.md"]
    assert "docs:new.md" not in after
    assert bench.sync()[0].documents.added == 1


def test_a_plan_of_a_list_is_a_promise(bench: Bench) -> None:
    bench.write({"a.md": document("One", "Four")})
    promised = bench.plan(changed=b"docs/a.md\n")
    done, _ = bench.sync(changed=b"docs/a.md\n")
    assert (promised.documents, promised.inputs, promised.compared) == (
        done.documents,
        done.inputs,
        done.compared,
    )


def test_a_list_is_read_from_a_file_too(bench: Bench) -> None:
    bench.write({"a.md": document("One", "Four")})
    (bench.home / "list").write_text("M\tdocs/a.md\n")
    report, _ = bench.sync(changed=bench.home / "list")
    assert report.documents.changed == 1


def test_additions_deletions_and_renames(bench: Bench) -> None:
    bench.write({"中 文.md": "# 新\n\n住宿限额。\n", "moved.md": document("Three")})
    bench.remove("deep/b.md", "c.md")
    git = 'A\t"docs/\\344\\270\\255 \\346\\226\\207.md"\nD\tdocs/c.md\n'
    git += "R100\tdocs/deep/b.md\tdocs/moved.md\n"
    assert compared(bench, git).scope == "changes"
    assert set(bench.stored().documents) == {"docs:a.md", "docs:moved.md", "docs:中 文.md"}
    report, asked = bench.sync()
    assert (report.generation, asked) == (None, [])


def test_a_held_document_is_looked_at_again_without_being_named(bench: Bench) -> None:
    bench.write({"a.md": b"caf\xe9"})
    assert bench.sync()[0].documents.held == 1
    bench.write({"c.md": "other\n"})
    report, _ = bench.sync(changed=b"docs/c.md\n")
    assert [str(one.document) for one in report.held] == ["docs:a.md"]
    assert report.documents.changed == 1
    with bench.open() as index:
        assert len(index.status().held) == 1


DIFF = """\
diff --git a/docs/c.md b/docs/c.md
{index}--- a/docs/c.md
+++ b/docs/c.md
@@ -1 +1 @@
-{old}
+{new}
"""


@pytest.mark.parametrize(
    ("old", "stored", "scope"), [("c", "c", "changes"), ("else", "c", "all"), ("c", "d", "changes")]
)
def test_a_diff_must_fit_the_stored_revision_or_be_there_already(
    bench: Bench, old: str, stored: str, scope: str
) -> None:
    """By its lines, and by the names that git gives the contents."""
    bench.write({"c.md": f"{stored}\n"})
    bench.sync()
    bench.write({"c.md": "d\n"})
    plain = DIFF.format(index="", old=old, new="d").replace(
        "diff --git a/docs/c.md b/docs/c.md\n", ""
    )
    index = f"index {blob(old + chr(10))[:7]}..{blob('d' + chr(10))[:7]} 100644\n"
    raw = f":100644 100644 {blob(old + chr(10))} {blob('d' + chr(10))} M\tdocs/c.md\n"
    for changes in (plain, DIFF.format(index=index, old=old, new="d"), raw):
        with bench.open() as index_:
            (one,) = index_.plan(changed=changes.encode()).report.compared
        assert (one.scope, one.reason) == (scope, "" if scope == "changes" else "other-revision")


DOUBTS = [
    ("unreadable-changes", "M\tdocs/a.md\0"),
    ("unreadable-changes", "Q\tdocs/a.md\n"),
    ("unreadable-changes", '"docs/a.md\n'),
    ("unreadable-changes", ":100644 100644 abc\tdocs/a.md\n"),
    ("unreadable-changes", DIFF.format(index="", old="c", new="d") + "@@ -9 +9"),
    ("unreadable-changes", DIFF.format(index="", old="c", new="d").removesuffix("+d\n")),
    (
        "unreadable-changes",
        DIFF.format(index="", old="c", new="d").replace("a/", "").replace("b/", ""),
    ),
    ("unreadable-changes", "diff --cc docs/a.md\n"),
    ("elsewhere", "M\tother/a.md\n"),
    ("elsewhere", "M\t../docs/a.md\n"),
    ("a-folder", "docs\n"),
    ("a-folder", "docs/deep\n"),
    ("a-folder", "docs/deep/\n"),
    ("ignore-file", "docs/.gitignore\n"),
    ("not-there", "M\tdocs/gone.md\n"),
    ("still-there", "D\tdocs/a.md\n"),
    ("other-revision", f":100644 100644 {'1' * 40} {'2' * 40} M\tdocs/c.md\n"),
]


@pytest.mark.parametrize(("reason", "changes"), DOUBTS)
def test_on_any_doubt_all_is_compared_and_the_reason_said(
    bench: Bench, reason: str, changes: str
) -> None:
    bench.write({"a.md": document("One", "Four"), "c.md": "edited\n"})
    one = compared(bench, changes)
    assert (one.scope, one.reason) == ("all", reason)
    assert "edited" in bench.stored().documents["docs:c.md"].text


def test_what_was_listed_by_other_rules_or_cut_by_others_is_compared_in_full(bench: Bench) -> None:
    bench.configure(bench.settings.replace("40", "30"))
    assert compared(bench, "docs/a.md\n").reason == "other-recipe"
    assert compared(bench, "docs/a.md\n").scope == "changes"
    toml = bench.home / "variorum.toml"
    toml.write_text(toml.read_text() + 'include = ["**/*.txt"]\n')
    bench.write({"new.txt": "text\n"})
    assert compared(bench, "docs/a.md\n", allow_empty=True).reason == "other-rules"
    assert "docs:new.txt" in bench.stored().documents
    assert compared(bench, "docs/a.md\n").scope == "changes"


def test_after_a_restore_all_is_compared_once(bench: Bench) -> None:
    bench.write({"a.md": document("Five"), "c.md": "later\n"})
    bench.sync()
    with bench.open() as index:
        index.restore(1)
    with pytest.raises(ConflictError):
        bench.sync(changed=b"docs/a.md\n")
    assert compared(bench, "docs/a.md\n", release=True).reason == "restored"
    assert "later" in bench.stored().documents["docs:c.md"].text


def test_a_switch_of_models_keeps_what_was_listed(bench: Bench) -> None:
    with bench.open() as index:
        index.use_model("hashing(dimensions=32)")
    with bench.open(embedder=None, model="hashing(dimensions=32)") as index:
        (one,) = index.sync(changed=b"docs/a.md\n").compared
    assert one.scope == "changes"


def test_a_first_sync_and_other_kinds_of_sources_are_compared_in_full(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": words("one")})
    assert compared(bench, "docs/a.md\n").reason == "never-listed"
    lines = tmp_path / "notes.jsonl"
    lines.write_text('{"id": "n", "text": "hm"}\n')
    with (tmp_path / "variorum.toml").open("a") as file:
        file.write('[sources.notes]\nroot = "notes.jsonl"\nkind = "jsonl"\n')
    report, _ = bench.sync(changed=b"docs/a.md\n")
    assert [(one.source, one.scope, one.reason) for one in report.compared] == [
        ("docs", "changes", ""),
        ("notes", "all", "not-a-folder"),
    ]


def test_links_and_what_is_ignored_are_passed_over_as_in_a_full_sync(bench: Bench) -> None:
    bench.write({".gitignore": "ignored/\n"})
    bench.sync()
    bench.write({"ignored/x.md": "x\n", "picture.png": b"\x89PNG", "deep/d.md": "d\n"})
    (bench.root / "link.md").symlink_to("a.md")
    listed = "docs/ignored/x.md\ndocs/picture.png\ndocs/deep/d.md\ndocs/link.md\n"
    assert compared(bench, listed).scope == "changes"
    assert set(bench.stored().documents) == {
        f"docs:{n}" for n in ("a.md", "deep/b.md", "c.md", "deep/d.md")
    }
    assert bench.sync()[0].generation is None
