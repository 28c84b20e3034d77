from pathlib import Path

import pytest

from surface.workplace import LEAVE, TRAVEL, Workplace


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A configured folder with an English and a Chinese document, nothing published."""
    place = Workplace(tmp_path)
    place.configure()
    place.write("docs/leave.md", LEAVE)
    place.write("docs/travel.md", TRAVEL)
    return place


@pytest.fixture
def published(place: Workplace) -> Workplace:
    """The same, published as generation 1."""
    place.done("sync")
    return place


@pytest.fixture
def revised(published: Workplace) -> Workplace:
    """The same with an edit and a rename, published as generation 2."""
    published.write("docs/leave.md", LEAVE.replace("80 working days", "100 working days"))
    (published.folder / "docs/travel.md").rename(published.folder / "docs/trips.md")
    published.done("sync")
    return published
