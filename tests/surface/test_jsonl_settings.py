"""A JSON Lines source obeys its settings, and refuses those of a folder."""

import json

from surface.workplace import Workplace

LINES = [
    {"id": "short", "text": "parental leave", "metadata": {"owner": "People"}},
    {"id": "long", "text": "travel " * 100},
]


def configured(place: Workplace, setting: str) -> Workplace:
    place.configure(f'[sources.feed]\nkind = "jsonl"\nroot = "feed.jsonl"\n{setting}\n')
    place.write("feed.jsonl", "\n".join(map(json.dumps, LINES)))
    return place


def test_a_line_over_max_bytes_is_skipped(place: Workplace) -> None:
    plan = configured(place, "max_bytes = 100").json("plan", "feed")
    assert [(one["document"], one["reason"]) for one in plan["skipped"]] == [
        ("feed:long", "too-large")
    ]
    assert plan["documents"]["added"] == 1


def test_a_setting_of_folders_is_refused(place: Workplace) -> None:
    for setting in ('include = ["*"]', 'exclude = ["*"]', "ignore_files = true"):
        result = configured(place, setting).run("plan", "feed")
        assert result.code == 2
        assert "is not a setting" in result.err


def test_metadata_of_a_line_can_be_searched_by(place: Workplace) -> None:
    configured(place, "").done("sync")
    hits = place.json("search", "leave", "--where", "owner=People", "--path", "short")["hits"]
    assert [hit["document"] for hit in hits] == ["feed:short"]
