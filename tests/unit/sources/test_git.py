"""A commit's documents: exact names, exact bytes, and nothing from outside the commit."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from repositories import commit_all, git
from variorum.records.errors import VariorumError
from variorum.records.protocols import Listed, Skipped
from variorum.sources import GIT_SKIP_REASONS, GitSource
from variorum.sources.git_objects import Change, Repository, is_lfs_pointer

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 4821337\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


def write(folder: Path, **files: str) -> None:
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content.encode())


def documents(source: GitSource) -> dict[bytes, bytes]:
    return {one.path: source.read(one) for one in source.list() if isinstance(one, Listed)}


def skipped(source: GitSource) -> dict[bytes, str]:
    return {one.path: one.reason for one in source.list() if isinstance(one, Skipped)}


def test_an_older_revision_is_listed_as_it_was(repository: Path) -> None:
    write(repository, a__md="one\n")
    first = commit_all(repository)
    write(repository, a__md="two\n", b__md="new\n")
    commit_all(repository, 2)
    assert documents(GitSource("s", repository)) == {b"a.md": b"two\n", b"b.md": b"new\n"}
    assert documents(GitSource("s", repository, first)) == {b"a.md": b"one\n"}


def test_documents_are_read_many_at_once_in_any_order(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        write(repository, **{f"{number:02d}__md": f"page {number % 7}\n"})
    commit_all(repository)
    calls: list[int] = []
    blobs = Repository.blobs
    monkeypatch.setattr(
        Repository, "blobs", lambda self, oids: calls.append(len(oids)) or blobs(self, oids)
    )
    source = GitSource("s", repository)
    listed = [one for one in source.list() if isinstance(one, Listed)]
    calls.clear()
    assert [source.read(one) for one in listed] == [
        f"page {number % 7}\n".encode() for number in range(30)
    ]
    assert len(calls) == 1
    assert source.read(listed[3]) == b"page 3\n"


def test_the_work_tree_and_the_index_play_no_part(repository: Path) -> None:
    write(repository, a__md="committed\n")
    commit_all(repository)
    write(repository, a__md="not committed\n", new__md="staged\n")
    git(repository, "add", "new.md")
    assert documents(GitSource("s", repository)) == {b"a.md": b"committed\n"}


def test_a_folder_of_the_repository_is_a_root_of_its_own(repository: Path) -> None:
    (repository / "docs").mkdir()
    write(repository, top__md="top\n")
    (repository / "docs" / "page.md").write_text("page\n")
    commit_all(repository)
    source = GitSource("s", repository, path=b"docs/")
    assert documents(source) == {b"page.md": b"page\n"}
    assert source.root == f"{repository}:docs"


def test_a_bare_repository_is_read_as_well(repository: Path, tmp_path: Path) -> None:
    write(repository, a__md="one\n")
    commit_all(repository)
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    assert documents(GitSource("s", tmp_path / "bare.git")) == {b"a.md": b"one\n"}


def test_every_reason_to_skip_is_told(repository: Path) -> None:
    write(repository, a__md="one\n", logo__png="x", __hidden__md="x", big__md="x" * 200)
    write(repository, lfs__md=POINTER, no__md="left out")
    os.symlink("a.md", repository / "link.md")
    commit_all(repository)
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor/lib")
    git(repository, "commit", "--quiet", "--message", "a submodule")
    source = GitSource("s", repository, exclude=["no.md"], max_bytes=len(POINTER))
    assert skipped(source) == {
        b".hidden.md": "hidden",
        b"big.md": "too-large",
        b"lfs.md": "lfs-pointer",
        b"link.md": "symlink",
        b"logo.png": "not-included",
        b"no.md": "excluded",
        b"vendor/lib": "submodule",
    }
    assert set(skipped(source).values()) == set(GIT_SKIP_REASONS)


def test_a_pointer_is_the_whole_file_and_never_a_page_about_one() -> None:
    assert is_lfs_pointer(POINTER.encode())
    assert not is_lfs_pointer(f"```\n{POINTER}```\n".encode())
    assert not is_lfs_pointer((POINTER + "More words.\n").encode())
    assert not is_lfs_pointer(b"")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda place: GitSource("s", place / "nowhere"), "no-such-repository"),
        (lambda place: GitSource("s", place / "empty"), "no-such-repository"),
        (lambda place: GitSource("s", place / "repository", "no-such-branch"), "no-such-revision"),
        (lambda place: GitSource("s", place / "repository", "--all"), "no-such-revision"),
    ],
)
def test_what_is_not_there_is_named(make: object, kind: str, repository: Path) -> None:
    write(repository, a__md="one\n")
    commit_all(repository)
    (repository.parent / "empty").mkdir()
    source = make(repository.parent)  # type: ignore[operator]
    with pytest.raises(VariorumError) as caught:
        list(source.list())
    assert caught.value.kind == kind


def test_a_missing_object_breaks_the_listing_off(repository: Path) -> None:
    write(repository, a__md="one\n")
    commit_all(repository)
    oid = git(repository, "rev-parse", "HEAD:a.md")
    (repository / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(VariorumError) as caught:
        list(GitSource("s", repository).list())
    assert caught.value.kind == "incomplete-listing"


def test_a_hook_s_environment_does_not_lead_to_another_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, a__md="one\n")
    commit_all(repository)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert documents(GitSource("s", repository)) == {b"a.md": b"one\n"}


def changes(repository: Path) -> Iterator[list[Change]]:
    opened = Repository(repository)
    for _, found in opened.changes(opened.history(opened.commit("HEAD"))):
        yield found


def test_a_history_follows_first_parents_and_renames(repository: Path) -> None:
    page = "".join(f"line {number}\n" for number in range(20))
    write(repository, a__md=page)
    commit_all(repository)
    git(repository, "checkout", "--quiet", "-b", "side")
    write(repository, side__md="side\n")
    commit_all(repository, 2)
    git(repository, "checkout", "--quiet", "main")
    git(repository, "mv", "a.md", "tab\there.md")
    (repository / "tab\there.md").write_text(page + "more\n")
    commit_all(repository, 3)
    git(repository, "merge", "--quiet", "--no-ff", "--message", "merge", "side", day=4)
    found = [[(one.status, one.old_path, one.path) for one in step] for step in changes(repository)]
    assert found == [
        [("A", b"a.md", b"a.md")],
        [("R", b"a.md", b"tab\there.md")],
        [("A", b"side.md", b"side.md")],
    ]


def test_the_last_commits_and_those_since_a_date(repository: Path) -> None:
    for day in (1, 2, 3):
        write(repository, a__md=f"{day}\n")
        commit_all(repository, day)
    opened = Repository(repository)
    tip = opened.commit("HEAD")
    every = opened.history(tip)
    assert [bool(one.parent) for one in every] == [False, True, True]
    assert opened.history(tip, last=2) == every[1:]
    assert opened.history(tip, since="2024-01-03T00:00:00Z") == every[2:]
    assert every[0].time_s < every[2].time_s
