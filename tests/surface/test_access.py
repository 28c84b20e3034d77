"""The commands about access: their JSON, their screens, and what they refuse."""

import pytest

from json_shapes import SHAPES, shape
from workplace import Workplace

POLICY = """\
[groups]
people = ["user:ann"]

[[rules]]
documents = ["docs:leave.md"]
readers = ["group:people"]
status = "current"
status_by = "People"
status_at = 2026-01-01
effective_from = 2020-01-01

[[rules.sections]]
heading = ["Leave", "Parental leave"]
readers = ["group:hr"]
"""


@pytest.fixture
def governed(published: Workplace) -> Workplace:
    """A published folder with a policy, whose readings are logged."""
    published.configure('[collections.default]\naudit = "on"\n')
    published.write("variorum-policy.toml", POLICY)
    published.done("access", "apply", "--author", "People")
    return published


ASKING = [
    ("access check", ("check", "user:ann", "docs:leave.md"), {}),
    ("access what", ("what", "user:ann"), {}),
    ("access log", ("log",), {}),
    ("access who", ("who", "docs:leave.md"), {"narrowed_to[]": "narrowed_to"}),
    ("access audit", ("audit",), {}),
]


@pytest.mark.parametrize(("name", "arguments", "null"), ASKING, ids=str)
def test_every_command_has_the_documented_fields(
    governed: Workplace, name: str, arguments: tuple[str, ...], null: dict[str, str]
) -> None:
    governed.done("search", "leave", "--principal", "user:ann")
    result = governed.run("access", *arguments, "--json")
    assert (result.code, result.err) == (0, "")
    assert shape(result.json) == {null.get(leaf, leaf) for leaf in SHAPES[name]}


def test_applying_says_what_it_came_to(governed: Workplace) -> None:
    again = governed.json("access", "apply", "--author", "People")
    assert shape(again) == SHAPES["access apply"]
    assert (again["version"], again["unnamed"]) == (None, ["docs:travel.md"])
    assert again["documents"] == {"named": 1, "unnamed": 1, "changed": 0}


def test_the_owner_may_act_as_another(governed: Workplace) -> None:
    hits = governed.json("search", "leave", "--principal", "user:ann,group:hr")["hits"]
    assert {hit["document"] for hit in hits} == {"docs:leave.md"}
    assert governed.json("search", "leave", "--principal", "user:bob")["hits"] == []
    assert governed.json("status", "--principal", "user:bob")["documents"] == 0
    (who,) = {one["principal"] for one in governed.json("access", "audit")["readings"][:1]}
    assert who == "user:bob"


def test_the_screens_say_the_same_in_words(governed: Workplace) -> None:
    check = governed.done("access", "check", "user:ann", "docs:leave.md").out
    assert check.splitlines() == [
        "user:ann may read docs:leave.md",
        "  rule 1 lets group:people read it",
        "  but not Leave › Parental leave",
    ]
    denied = governed.done("access", "check", "user:bob", "docs:leave.md").out
    assert "may not read" in denied
    who = governed.done("access", "who", "docs:leave.md").out
    assert "readers    group:people" in who
    assert "status     current, by People at 2026-01-01" in who
    what = governed.done("access", "what", "user:ann").out
    assert what.splitlines()[1:] == ["  docs:leave.md, in part"]
    assert "  1  " in " " + governed.done("access", "log").out
    assert "Nothing was logged" in governed.done("access", "audit").out


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("search", "x", "--principal", "ann"), "bad-reader"),
        (("search", "x", "--principal", "everyone"), "bad-principal"),
        (("search", "x", "--principal", "user:a,user:b"), "bad-principal"),
        (("search", "x", "--effective", "yesterday"), "bad-parameter"),
        (("show", "docs:leave.md@00000000[0:1]", "--effective", "2026-13-01"), "bad-parameter"),
        (("access", "check", "user:ann", "leave"), "bad-document-name"),
        (("access", "who", "docs:none.md"), "no-such-document"),
        (("access", "apply", "none.toml"), "no-policy-file"),
        (("access", "apply", "docs/leave.md"), "bad-policy"),
        (("access", "apply", "--author", " "), "bad-parameter"),
        (("log", "--principal", ""), "bad-parameter"),
    ],
)
def test_what_makes_no_sense_is_refused(
    governed: Workplace, arguments: tuple[str, ...], kind: str
) -> None:
    result = governed.run(*arguments, "--json")
    assert (result.json["kind"], result.json["ok"]) == (kind, False)
    assert result.code in (2, 4)


def test_an_operation_of_the_owners_is_not_offered_to_others(governed: Workplace) -> None:
    result = governed.run("plan", "--principal", "user:ann", "--json")
    assert result.json["kind"] == "usage"
