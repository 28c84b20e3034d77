"""A repository's documents through its first-parent history."""

import os
from pathlib import Path

import pytest

from repositories import commit_all, git
from variorum.lab.own_history import Window, language_of, own_history
from variorum.records.errors import VariorumError
from variorum.sources.git import Selection
from variorum.sources.git_place import GitPlace

PAGE = "".join(f"Line {number} of the page.\n" for number in range(12))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "handbook"
    place.mkdir()
    return place


def write(folder: Path, name: str, content: str | bytes, day: int) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    commit_all(folder, day)


def window(folder: Path, path: str = "", **limits: object) -> Window:
    place = GitPlace(str(folder), "HEAD", path)
    return own_history(place, Selection(), **limits)  # type: ignore[arg-type]


def texts(found: Window) -> dict[str, list[str]]:
    return {one.document: [step.text for step in one.revisions] for one in found.histories}


def test_every_edit_of_a_document_is_a_revision(folder: Path) -> None:
    for day, content in enumerate(["one\n", "two\n", "two\n", "three\n"], 1):
        write(folder, "a.md", content, day)
    assert texts(window(folder)) == {"a.md": ["one\n", "two\n", "three\n"]}


def test_a_document_that_was_never_edited_has_no_history(folder: Path) -> None:
    write(folder, "a.md", "one\n", 1)
    write(folder, "b.md", "two\n", 2)
    assert texts(window(folder)) == {}


def test_a_rename_goes_on_and_is_no_revision_by_itself(folder: Path) -> None:
    write(folder, "a.md", PAGE, 1)
    git(folder, "mv", "a.md", "b.md")
    commit_all(folder, 2)
    write(folder, "b.md", PAGE + "more\n", 3)
    git(folder, "mv", "b.md", "c.md")
    write(folder, "c.md", PAGE + "more\nand more\n", 4)
    assert texts(window(folder)) == {"c.md": [PAGE, PAGE + "more\n", PAGE + "more\nand more\n"]}


def test_two_documents_that_swap_names_keep_their_histories(folder: Path) -> None:
    other = PAGE.replace("page", "other")
    write(folder, "a.md", PAGE, 1)
    write(folder, "b.md", other, 2)
    write(folder, "a.md", PAGE + "a\n", 3)
    write(folder, "b.md", other + "b\n", 4)
    for old, new in (("a.md", "t.md"), ("b.md", "a.md"), ("t.md", "b.md")):
        git(folder, "mv", old, new)
    commit_all(folder, 5)
    git(folder, "mv", "a.md", "x.md")
    git(folder, "mv", "b.md", "y.md")
    commit_all(folder, 6)
    found = texts(window(folder))
    assert {name: len(steps) for name, steps in found.items()}.keys() == {"x.md", "y.md"}


def test_a_name_that_comes_again_is_another_document(folder: Path) -> None:
    write(folder, "a.md", "one\n", 1)
    write(folder, "a.md", "two\n", 2)
    (folder / "a.md").unlink()
    commit_all(folder, 3)
    write(folder, "a.md", "entirely different\n", 4)
    write(folder, "a.md", "entirely different again\n", 5)
    found = window(folder)
    assert [len(one.revisions) for one in found.histories] == [2, 2]


def test_a_window_starts_from_what_was_there_before_it(folder: Path) -> None:
    for day in range(1, 6):
        write(folder, "a.md", f"{day}\n", day)
    assert texts(window(folder, last=2)) == {"a.md": ["3\n", "4\n", "5\n"]}
    assert texts(window(folder, since="2024-01-05T00:00:00Z")) == {"a.md": ["4\n", "5\n"]}
    assert window(folder, last=2).commits == 2


def test_a_merge_is_one_step(folder: Path) -> None:
    write(folder, "a.md", PAGE, 1)
    git(folder, "checkout", "--quiet", "-b", "side")
    write(folder, "a.md", PAGE + "1\n", 2)
    write(folder, "a.md", PAGE + "1\n2\n", 3)
    git(folder, "checkout", "--quiet", "main")
    write(folder, "b.md", "x\n", 4)
    git(folder, "merge", "--quiet", "--no-ff", "--message", "merge", "side", day=5)
    assert texts(window(folder)) == {"a.md": [PAGE, PAGE + "1\n2\n"]}


def test_a_path_below_which_to_look(folder: Path) -> None:
    for name in ("docs/a.md", "other.md"):
        write(folder, name, "one\n", 1)
        write(folder, name, "two\n", 2)
    assert texts(window(folder, "docs")) == {"docs/a.md": ["one\n", "two\n"]}


def test_what_is_no_text_is_left_out_with_its_reason(folder: Path) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 1\n"
    for name, contents in {
        "bin.md": [b"\x89PNG\0\0", b"\x89PNG\0\1"],
        "latin.md": [b"caf\xe9 \xff\xfe\xfd", b"caf\xe9"],
        "large.md": ["x\n", pointer],
        "fine.md": ["one\n", "two\n"],
    }.items():
        for day, content in enumerate(contents, 1):
            write(folder, name, content, day)
    found = window(folder)
    assert "fine.md" in texts(found)
    assert {name for name, _ in found.left_out} >= {"bin.md", "large.md"}
    assert dict(found.left_out)["large.md"] == "a pointer to a large file"


def test_a_link_that_becomes_a_file_and_a_submodule_are_followed_nowhere(folder: Path) -> None:
    os.symlink("elsewhere.md", folder / "a.md")
    commit_all(folder, 1)
    (folder / "a.md").unlink()
    write(folder, "a.md", "one\n", 2)
    write(folder, "a.md", "two\n", 3)
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib.md")
    git(folder, "commit", "--quiet", "--message", "a submodule", day=4)
    assert texts(window(folder)) == {"a.md": ["one\n", "two\n"]}


def test_names_of_any_characters_are_kept(folder: Path) -> None:
    names = ["运营 指南.md", "tab\there.md", 'quo"te.md']
    for name in names:
        write(folder, name, "one\n", 1)
        write(folder, name, "two\n", 2)
    assert set(texts(window(folder))) == {"运营 指南.md", "tab\\there.md", 'quo"te.md'}


def test_an_empty_window_is_told(folder: Path) -> None:
    write(folder, "a.md", "one\n", 1)
    with pytest.raises(VariorumError) as caught:
        window(folder, since="2030-01-01")
    assert caught.value.kind == "empty-history"


@pytest.mark.parametrize(
    ("text", "language"),
    [("plain words", "en"), ("知识库更新", "zh"), ("", "en"), ("API 知 " + "word " * 20, "en")],
)
def test_a_document_s_language_is_that_of_its_atoms(text: str, language: str) -> None:
    assert language_of(text) == language
