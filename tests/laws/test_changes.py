"""A sync of a list of changes ends where a full sync ends, whatever the list."""

import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from variorum.records.changes import Changes
from variorum.sources.change_lists import read_changes
from workbench import Bench, document, promise

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git makes the lists of this test")

NAMES = ["a.md", "b.md", "deep/c.md", "deep/er/d e.md", "中 文.md", 'q"uote.md', "skipped.bin"]
TITLES = [f"Unit{n}" for n in range(6)]
CONTENTS = st.lists(st.sampled_from(TITLES), min_size=1, max_size=3).map(lambda t: document(*t))
FOLDERS = st.dictionaries(st.sampled_from(NAMES), CONTENTS, max_size=6)
FIRST = FOLDERS.map(lambda files: {"always.md": document("Always"), **files})
PHASES = (Phase.explicit, Phase.generate)
"""A history is read as it failed: shrinking one takes far longer than finding it."""
FORMATS = {
    "raw": ("--raw", "--abbrev=40"),
    "raw-short": ("--raw",),
    "names": ("--name-only", "--no-renames"),
    "status": ("--name-status",),
    "diff": ("--patch",),
    "diff-of-renames": ("--patch", "-M10%"),
}


def git(folder: Path, *arguments: str) -> bytes:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.autocrlf=false")
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout


class Twins:
    """One folder and two stores: one is synced in full, the other by lists of changes."""

    def __init__(self, home: Path) -> None:
        self.full, self.listed = Bench(home / "full"), Bench(home / "listed")
        git(self.listed.home, "init", "-q")
        (self.listed.home / ".git/info/exclude").write_text(".variorum\nvariorum.toml\n")

    def put(self, files: dict[str, str]) -> None:
        for bench in (self.full, self.listed):
            shutil.rmtree(bench.root)
            bench.root.mkdir()
            bench.write(files)

    def commit(self) -> None:
        git(self.listed.home, "add", "-A")
        git(self.listed.home, "commit", "-q", "--allow-empty", "-m", "x")

    def changes(self, kind: str, old: str = "HEAD~1", new: str = "HEAD") -> bytes:
        return git(self.listed.home, "diff", *FORMATS[kind], old, new)

    def sync(self, changes: bytes) -> list[dict[str, object]]:
        """Sync both; what the one by the list says of how it compared."""
        full, _ = self.full.sync(allow_empty=True, allow_shrink=True)
        listed, _ = self.listed.sync(allow_empty=True, allow_shrink=True, changed=changes)
        mine, other = promise(listed), promise(full)
        if all(one.scope == "changes" for one in listed.compared):
            mine.pop("skipped")
            other.pop("skipped")
        assert mine == other
        assert self.listed.stored().plain() == self.full.stored().plain()
        return [one.as_fields() for one in listed.compared]


@needs_git
@settings(max_examples=5, deadline=None, phases=PHASES)
@given(
    first=FIRST,
    edits=st.lists(FOLDERS, min_size=1, max_size=2),
    kind=st.sampled_from(sorted(FORMATS)),
)
def test_a_list_that_git_makes_of_every_change_gives_what_a_full_sync_gives(
    first: dict[str, str], edits: list[dict[str, str]], kind: str
) -> None:
    with tempfile.TemporaryDirectory() as home:
        twins = Twins(Path(home))
        for number, state in enumerate([first, *edits]):
            twins.put(state)
            twins.commit()
            if number == 0:
                twins.sync(b"")
                continue
            changes = twins.changes(kind)
            (how,) = twins.sync(changes)
            if changes:
                assert how["scope"] == "changes", how
            again = twins.listed.sync(changed=changes, allow_empty=True, allow_shrink=True)[0]
            assert again.generation is None


@needs_git
@settings(max_examples=4, deadline=None, phases=PHASES)
@given(
    first=FIRST,
    edits=st.lists(FOLDERS, min_size=2, max_size=4),
    kind=st.sampled_from(sorted(FORMATS)),
    order=st.randoms(use_true_random=False),
)
def test_lists_that_come_twice_late_and_in_any_order_end_where_a_full_sync_ends(
    first: dict[str, str], edits: list[dict[str, str]], kind: str, order: random.Random
) -> None:
    with tempfile.TemporaryDirectory() as home:
        twins = Twins(Path(home))
        twins.put(first)
        twins.commit()
        twins.sync(b"")
        for state in edits:
            twins.put(state)
            twins.commit()
        last = len(edits)
        lists = [
            twins.changes(kind, f"HEAD~{last - n}", f"HEAD~{last - n - 1}") for n in range(last)
        ]
        deliveries = [*lists, order.choice(lists)]
        order.shuffle(deliveries)
        twins.full.sync(allow_empty=True, allow_shrink=True)
        for changes in deliveries:
            twins.listed.sync(changed=changes, allow_empty=True, allow_shrink=True)
        assert twins.listed.stored().plain() == twins.full.stored().plain()


@given(st.text())
def test_any_text_is_a_list_or_has_a_fault(text: str) -> None:
    found = read_changes(text.encode("utf-8", "surrogatepass"))
    assert isinstance(found, Changes)
    assert not (found.fault and found.mentions)


@given(st.binary())
def test_any_bytes_are_a_list_or_have_a_fault(content: bytes) -> None:
    assert isinstance(read_changes(content), Changes)
