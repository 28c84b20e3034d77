"""Cases of the area git: what other tools got wrong about repositories, by id."""

import os
from pathlib import Path

import pytest

from repositories import commit_all, git
from workplace import LEAVE, MODEL, TRAVEL, Workplace

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'b' * 64}\nsize 4821337\n"


class Repo:
    """A repository beside a store, synced as `git:repo`."""

    def __init__(self, place: Workplace) -> None:
        self.place = place
        self.folder = place.folder / "repo"
        self.folder.mkdir()
        self.days = 0

    def write(self, name: str, content: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())

    def commit(self) -> None:
        self.days += 1
        commit_all(self.folder, self.days)

    def sync(self) -> dict[str, object]:
        return self.place.json("sync", "git:repo")

    def paths(self) -> set[str]:
        """The documents that a search with many passages comes back with."""
        found = self.place.json("search", "days of leave and travel", "-k", "1000")
        return {hit["document"].removeprefix("repo:") for hit in found["hits"]}


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    found = Workplace(tmp_path)
    found.write("variorum.toml", f'[model]\nspec = "{MODEL}"\n')
    return found


@pytest.fixture
def repo(place: Workplace) -> Repo:
    return Repo(place)


def embedded(report: dict[str, object]) -> int:
    inputs = report["inputs"]
    assert isinstance(inputs, dict)
    return int(inputs["embed"])


def test_GIT_01_a_rename_moves_the_document_and_embeds_nothing(repo: Repo) -> None:
    repo.write("a.md", LEAVE)
    repo.commit()
    assert embedded(repo.sync()) > 0
    git(repo.folder, "mv", "a.md", "b.md")
    repo.commit()
    assert embedded(repo.sync()) == 0
    assert repo.paths() == {"b.md"}
    git(repo.folder, "mv", "b.md", "c.md")
    repo.write("c.md", LEAVE.replace("80", "90"))
    repo.commit()
    assert embedded(repo.sync()) == 1
    assert repo.paths() == {"c.md"}


def test_GIT_02_names_of_any_characters_are_taken_literally(repo: Repo) -> None:
    names = ["docs/운영 지침.md", "docs/tab\there.md", 'docs/quo"te.md', "x b/y.md"]
    for number, name in enumerate(names):
        repo.write(name, f"# Page {number}\n\nDays of leave and travel: {number}.\n")
    repo.commit()
    repo.sync()
    listed = repo.paths()
    assert len(listed) == len(names)
    for number, name in enumerate(names):
        repo.write(name, f"# Page {number}\n\nDays of leave and travel: {number + 10}.\n")
        repo.commit()
        report = repo.sync()
        assert report["documents"]["changed"] == 1  # type: ignore[index]
    assert repo.paths() == listed


def test_GIT_04_a_submodule_is_told_and_not_followed(repo: Repo) -> None:
    repo.write("a.md", LEAVE)
    repo.commit()
    for oid in ("1" * 40, "2" * 40):
        git(repo.folder, "update-index", "--add", "--cacheinfo", f"160000,{oid},vendor/lib")
        git(repo.folder, "commit", "--quiet", "--message", "pointer")
        report = repo.sync()
        assert {"document": "repo:vendor/lib", "reason": "submodule", "detail": "not followed"} in (
            report["skipped"]  # type: ignore[operator]
        )
    assert embedded(report) == 0
    assert repo.paths() == {"a.md"}


def test_GIT_05_a_pointer_to_a_large_file_is_no_document(repo: Repo) -> None:
    repo.write("manual.md", POINTER)
    repo.write(
        "notes.md", f"# Notes\n\nDays of leave. A pointer looks like this:\n\n```\n{POINTER}```\n"
    )
    repo.commit()
    report = repo.sync()
    assert [(one["document"], one["reason"]) for one in report["skipped"]] == [  # type: ignore[attr-defined]
        ("repo:manual.md", "lfs-pointer")
    ]
    assert repo.paths() == {"notes.md"}


def test_GIT_06_a_symbolic_link_is_never_followed_or_read_as_text(repo: Repo) -> None:
    (repo.folder.parent / "secret.md").write_text("Days of leave: secret.\n")
    repo.write("docs/page.md", LEAVE)
    os.symlink("../secret.md", repo.folder / "docs" / "link.md")
    os.symlink("..", repo.folder / "docs" / "up")
    os.symlink("/etc/hostname", repo.folder / "docs" / "etc.md")
    repo.commit()
    report = repo.sync()
    links = {one["document"] for one in report["skipped"] if one["reason"] == "symlink"}  # type: ignore[attr-defined]
    assert links == {"repo:docs/link.md", "repo:docs/up", "repo:docs/etc.md"}
    assert repo.paths() == {"docs/page.md"}


def test_GIT_07_names_that_differ_only_in_case_are_two_documents(repo: Repo) -> None:
    repo.write("README.md", LEAVE)
    repo.commit()
    repo.sync()
    git(repo.folder, "mv", "README.md", "readme.md")
    repo.commit()
    assert embedded(repo.sync()) == 0
    assert repo.paths() == {"readme.md"}
    repo.write("README.md", TRAVEL)
    repo.commit()
    assert embedded(repo.sync()) > 0
    assert repo.paths() == {"README.md", "readme.md"}


def test_a_revision_is_synced_by_name_and_a_later_one_moves_it_on(repo: Repo) -> None:
    repo.write("docs/a.md", LEAVE)
    repo.commit()
    git(repo.folder, "tag", "v1")
    repo.write("docs/a.md", LEAVE.replace("80", "90"))
    repo.write("docs/b.md", TRAVEL)
    repo.commit()
    first = repo.place.json("sync", "git:repo@v1:docs")
    assert first["documents"]["added"] == 1
    second = repo.place.json("sync", "git:repo:docs")
    assert (second["documents"]["changed"], second["documents"]["added"]) == (1, 1)
    assert repo.place.json("sync")["generation"] is None
    (source,) = repo.place.json("status")["sources"]
    assert source["root"] == "git:repo:docs"


def test_a_repository_is_configured_like_any_source(place: Workplace) -> None:
    repo = Repo(place)
    repo.write("docs/a.md", LEAVE)
    repo.write("other.md", TRAVEL)
    repo.commit()
    place.write(
        "variorum.toml",
        '[model]\nspec = "hashing()"\n[sources.pages]\nkind = "git"\nroot = "repo"\npath = "docs"\n'
        'revision = "main"\nexclude = ["drafts/**"]\n',
    )
    assert place.json("sync")["documents"]["added"] == 1
    found = place.json("search", "parental leave")["hits"]
    assert {hit["document"] for hit in found} == {"pages:a.md"}


def test_a_repository_that_is_not_there_publishes_nothing(place: Workplace) -> None:
    result = place.run("sync", "git:nowhere", "--json")
    assert (result.code, result.json["kind"]) == (4, "no-such-repository")
