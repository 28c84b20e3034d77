"""`watch` at the command line."""

import json
import os
import signal
import subprocess
import sys

from json_shapes import SHAPES, shape
from workplace import LEAVE, Workplace

QUICK = ("--settle-ms", "50", "--longest-ms", "500")


def test_every_line_is_an_object_with_documented_fields(place: Workplace) -> None:
    result = place.done("watch", "--publishes", "1", "--json", *QUICK)
    first, last = (json.loads(line) for line in result.out.splitlines())
    known = {name for name in SHAPES["watch"] if not name.startswith("compared")} | {"compared[]"}
    assert shape(first) | shape(last) == known
    assert (first["generation"], last["publishes"]) == (1, 1)


def test_people_are_told_in_a_line(place: Workplace) -> None:
    out = place.done("watch", "--publishes", "1", *QUICK).out.splitlines()
    assert out == [
        "Published generation 1: 2 added, 0 changed, 0 removed.",
        "Stopped after 1 publish, 0 edits.",
    ]


def test_an_interrupt_ends_it_with_the_sum_of_its_lags(place: Workplace) -> None:
    command = [sys.executable, "-m", "variorum", "watch", "--json", *QUICK]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=place.folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["generation"] == 1
        place.write("docs/leave.md", LEAVE.replace("80", "90"))
        second = json.loads(process.stdout.readline())
        assert second["documents"]["changed"] == 1
        assert second["edits"] == 1
        assert 0 < second["lag_s"]["longest"] < 60
        process.send_signal(signal.SIGINT)
        last = json.loads(process.stdout.readline())
        assert (last["publishes"], last["edits"]) == (2, 1)
        assert last["lag_s"] == second["lag_s"]
        assert process.wait(30) == 0


def test_there_must_be_a_folder(place: Workplace) -> None:
    place.write("n.jsonl", '{"id": "n", "text": "hm"}\n')
    refused = place.run("watch", "n.jsonl", "--json")
    assert (refused.code, refused.json["kind"]) == (2, "nothing-to-follow")
