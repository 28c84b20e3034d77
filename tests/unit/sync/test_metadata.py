"""A change of metadata is a change, and costs no embedding."""

from pathlib import Path

import pytest

import variorum
from workbench import Recorder, json_lines


@pytest.mark.parametrize(("old", "new"), [(1, True), (1, 1.0), (0, False), ("1", 1)])
def test_metadata_of_another_type_is_published_without_embedding(
    tmp_path: Path, old: object, new: object
) -> None:
    file, embedder = tmp_path / "notes.jsonl", Recorder()
    with variorum.open(tmp_path, embedder=embedder) as index:
        for value in (old, new):
            file.write_text(json_lines([{"id": "a", "text": "words", "metadata": {"n": value}}]))
            embedder.taken()
            report = index.sync(file)
        assert report.documents.changed == 1
        assert embedder.taken() == []
        assert [one.action for one in index.diff(1, 2).documents] == ["metadata"]
        printed = str(new).lower() if isinstance(new, bool) else str(new)
        assert len(index.search("words", where={"n": printed}).hits) == 1


def test_the_order_of_metadata_keys_is_no_change(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    with variorum.open(tmp_path, embedder=Recorder()) as index:
        for metadata in ({"a": 1, "b": 2}, {"b": 2, "a": 1}):
            file.write_text(json_lines([{"id": "a", "text": "words", "metadata": metadata}]))
            report = index.sync(file)
        assert report.generation is None
