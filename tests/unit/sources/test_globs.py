import pytest

from variorum.records.errors import InputError
from variorum.sources.globs import Globs


def matches(pattern: str, path: str, *, dots: bool = False) -> bool:
    name = path.rpartition("/")[2].encode()
    hidden = any(component.startswith(".") for component in path.split("/"))
    return Globs([pattern], dots=dots).match(path.encode(), name, hidden)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/*.md", "a.md"),
        ("**/*.md", "d/e/a.md"),
        ("*.md", "a.md"),
        ("docs/**", "docs/x/y.bin"),
        ("docs/**/*.md", "docs/a.md"),
        ("a/**/b/*.md", "a/x/y/b/c.md"),
        ("[ab]?.txt", "a1.txt"),
        ("[!a].txt", "b.txt"),
        ("[]].txt", "].txt"),
        ("a[[]b.txt", "a[b.txt"),
        ("?.md", "é.md"),
        (".github/**/*.md", ".github/w/a.md"),
        ("**/*.tar.md", "x/y.tar.md"),
        ("a/**/**/**/b", "a/b"),
    ],
)
def test_a_pattern_matches_the_paths_it_describes(pattern: str, path: str) -> None:
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "d/a.md"),
        ("**/*.md", "a.mdx"),
        ("**/*.md", ".hidden.md"),
        ("**/*.md", ".git/a.md"),
        ("**", "a/.b"),
        ("?.md", "/.md"),
        ("[!a].txt", "/.txt"),
        ("docs/**", "docs"),
        ("**/*.md", "a.md\n"),
    ],
)
def test_a_pattern_leaves_other_paths_alone(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


def test_a_wildcard_matches_a_leading_dot_only_where_asked() -> None:
    assert matches("**/*.md", ".notes/.a.md", dots=True)
    assert not matches("**/*.md", ".notes/a.md")


@pytest.mark.parametrize(
    "pattern", ["", "/etc/*", "../*.md", "a/./b", "a//b", "a/", "a[b.txt", "[a/b]"]
)
def test_a_pattern_that_cannot_be_relative_is_refused(pattern: str) -> None:
    with pytest.raises(InputError) as caught:
        Globs([pattern])
    assert caught.value.kind == "bad-glob"


def test_a_directory_is_entered_only_where_something_below_could_match() -> None:
    globs = Globs(["docs/*.md", ".github/**/*.md"])
    assert globs.may_hold(b"docs")
    assert globs.may_hold(b".github")
    assert globs.may_hold(b".github/a/b")
    assert not globs.may_hold(b"src")
    assert not globs.may_hold(b"docs/deeper")
    assert not globs.may_hold(b".github/.x")


def test_repeated_wildcards_stay_fast() -> None:
    globs = Globs(["/".join(["**"] * 40) + "/*x"])
    assert not globs.match(b"a/" * 200 + b"b", b"b", False)
