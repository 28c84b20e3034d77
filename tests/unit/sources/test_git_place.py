"""How a place in a repository is read, and how a store remembers it."""

import pytest

from variorum.sources.git_place import GitPlace, git_place

FOLDERS = {"handbook", "/srv/a@b", "/srv/c:d", "team@home"}


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("git:handbook", GitPlace("handbook")),
        ("git:handbook@v2", GitPlace("handbook", "v2")),
        ("git:handbook:docs/en", GitPlace("handbook", "HEAD", "docs/en")),
        ("git:handbook@v2:docs/", GitPlace("handbook", "v2", "docs")),
        ("git:handbook@feature/x:文档", GitPlace("handbook", "feature/x", "文档")),
        ("git:/srv/a@b", GitPlace("/srv/a@b")),
        ("git:/srv/a@b@main", GitPlace("/srv/a@b", "main")),
        ("git:/srv/c:d:docs", GitPlace("/srv/c:d", "HEAD", "docs")),
        ("git:team@home:docs", GitPlace("team@home", "HEAD", "docs")),
        ("git:nowhere@v1:docs", GitPlace("nowhere", "v1", "docs")),
    ],
)
def test_a_place_is_read_by_what_folders_there_are(written: str, place: GitPlace) -> None:
    assert git_place(written, lambda name: name in FOLDERS) == place


def test_a_store_remembers_the_repository_and_the_path_but_no_revision() -> None:
    assert GitPlace("handbook", "v1", "docs").recorded == "git:handbook:docs"
    assert GitPlace("handbook", "v2", "docs").recorded == "git:handbook:docs"
