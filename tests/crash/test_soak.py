"""Writer, readers, pruner and policy at once, for a while: no wrong answer, no growth."""

from pathlib import Path

import pytest
from bench.soak import Watched, soak


def check(found: list[Watched]) -> None:
    assert [one.wrong for one in found] == [[]] * len(found)
    assert all(one.done > 2 for one in found)
    assert not [(one.role, one.growth()) for one in found if one.grows]


def test_every_answer_is_that_of_its_generation_while_all_is_changed_for_half_a_minute(
    shared: Path, tmp_path: Path
) -> None:
    check(soak(tmp_path / "site", 30))


@pytest.mark.long
def test_every_answer_is_that_of_its_generation_while_all_is_changed_for_two_minutes(
    shared: Path, tmp_path: Path
) -> None:
    check(soak(tmp_path / "site", 120))
