import random
import shutil
import subprocess
from pathlib import Path

import pytest

from variorum.records.protocols import Listed
from variorum.sources import FolderSource

NAMES = ["a", "b", "foo", "build", "a.md", "b.md", "foo.md", "x.txt", "two words.md", "é.md"]
PATTERNS = [
    *("*", "!*/", "!*.md", "*.md", "foo", "foo/", "/foo", "/build/", "!foo", "!foo/", "a/**"),
    *("**/b", "a/*", "!a/b.md", "*/", "/*/", "a/**/b.md", "**/foo/*.md", "!**/foo.md", "[ab].md"),
    *("a[!b].md", "# c", "", "**", "!**/", "x.txt  ", "\\!x", "!", "/", "[z", "*.md/", "*.md\r"),
]


def taken(root: Path) -> set[bytes]:
    source = FolderSource("s", root, include=("**",))
    return {item.path for item in source.list() if isinstance(item, Listed)}


def grow(directory: Path, chance: random.Random, depth: int = 0) -> None:
    for name in chance.sample(NAMES, chance.randint(2, 6)):
        if "." in name:
            (directory / name).write_text("x")
        elif depth < 2:
            (directory / name).mkdir()
            grow(directory / name, chance, depth + 1)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("seed", range(40))
def test_ignore_files_mean_what_they_mean_to_git(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    grow(tmp_path, chance)
    directories = [tmp_path, *(p for p in sorted(tmp_path.rglob("*")) if p.is_dir())]
    for directory in chance.sample(directories, min(2, len(directories))):
        lines = chance.sample(PATTERNS, chance.randint(1, 5))
        (directory / ".gitignore").write_bytes("\n".join(lines).encode())
    git = ["git", "-C", str(tmp_path), "-c", "core.excludesFile=/dev/null"]
    subprocess.run([*git, "init", "-q"], check=True)
    listing = [*git, "ls-files", "-z", "--others", "--exclude-standard"]
    names = subprocess.run(listing, check=True, capture_output=True).stdout.split(b"\0")
    assert taken(tmp_path) == {n for n in names if n and not n.endswith(b".gitignore")}


def test_the_own_ignore_file_can_take_in_what_git_ignores(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("generated.md\nother.md\n")
    (tmp_path / ".variorumignore").write_text("!generated.md\nnotes.md\n")
    for name in ("generated.md", "other.md", "notes.md", "kept.md"):
        (tmp_path / name).write_text("x")
    assert taken(tmp_path) == {b"generated.md", b"kept.md"}


def test_ignore_files_can_be_left_unread(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.md\n")
    (tmp_path / "a.md").write_text("x")
    source = FolderSource("s", tmp_path, use_ignore_files=False)
    assert [item.path for item in source.list()] == [b"a.md"]


def test_a_byte_order_mark_does_not_hide_the_first_pattern(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa.md\r\n")
    (tmp_path / "a.md").write_text("x")
    assert taken(tmp_path) == set()


def test_a_symlinked_ignore_file_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "rules").write_text("a.md\n")
    (root / ".gitignore").symlink_to(tmp_path / "rules")
    (root / "a.md").write_text("x")
    assert taken(root) == {b"a.md"}
