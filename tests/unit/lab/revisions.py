"""Small files of revisions from the pages that ship with the package."""

import json
from collections.abc import Mapping
from pathlib import Path

from variorum import demo


def pages() -> list[tuple[str, str, str]]:
    """(name, older text, newer text) of the demo's pages that its second edition changes."""
    first, second = demo.edition("first"), demo.edition("second")
    found = []
    for path in sorted(first.rglob("*.md")):
        newer = second / path.relative_to(first)
        if newer.exists() and newer.read_text() != path.read_text():
            found.append((str(path.relative_to(first)), path.read_text(), newer.read_text()))
    return found


def pair(name: str, old: str, new: str, **more: str) -> dict[str, str]:
    """A pair's record."""
    cjk = sum("一" <= one <= "鿿" for one in new)
    language = "zh" if cjk > len(new) / 5 else "en"
    record = {"id": name, "repo": name.partition("/")[0], "lang": language, "path": name}
    return {**record, "old_path": name, "old_text": old, "new_text": new, **more}


def write_records(path: Path, records: list[Mapping[str, object]]) -> Path:
    """Write a file of revisions."""
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in records)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_pairs(path: Path) -> Path:
    """Write every changed page of the demo as a pair."""
    return write_records(path, [pair(*one) for one in pages()])
