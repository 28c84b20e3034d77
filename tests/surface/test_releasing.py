"""A restore holds its sources until they are released."""

from surface.workplace import Workplace


def test_a_held_source_says_how_to_release_it(revised: Workplace) -> None:
    revised.done("restore", "1")
    held = revised.run("sync")
    assert held.code == 5
    assert "--release" in held.err
    assert "held by a restore" in revised.done("status").out


def test_release_lets_the_source_speak_again(revised: Workplace) -> None:
    revised.done("restore", "1")
    assert revised.json("sync", "--release")["generation"] == 4
    revised.done("sync")


def test_release_holds_also_where_nothing_changed(revised: Workplace) -> None:
    revised.done("restore", "2")
    assert revised.json("sync", "--release")["generation"] is None
    revised.done("sync")
    assert revised.json("status")["sources"][0]["held_by_restore"] is False
