"""The project's own pages, and the blocks in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs/tutorial.md"
REFERENCE = ROOT / "docs/reference.md"
PYTHON = ROOT / "docs/python.md"
ACCESS = ROOT / "docs/access.md"
DESIGN = ROOT / "docs/design"
ALL = [README, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("docs/**/*.md"))]

_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    language: str
    body: str
    file: str | None


@dataclass(frozen=True)
class Step:
    """A command of a transcript and the lines that it shows."""

    command: str
    shown: tuple[str, ...]


def blocks(page: Path, language: str | None = None) -> list[Block]:
    found = [
        Block(match["language"], match["body"], match["file"])
        for match in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]
    return [block for block in found if language in (None, block.language)]


def steps(body: str) -> Iterator[Step]:
    """The steps of a console block: each begins with a line `$ command`."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield Step(command, tuple(shown))


def section(page: Path, heading: str) -> str:
    """From a heading line to the next of the same or a higher level."""
    text = page.read_text(encoding="utf-8")
    level = len(heading) - len(heading.lstrip("#"))
    match = re.search(rf"^{re.escape(heading)}$", text, re.MULTILINE)
    assert match, f"{page.name} has no section {heading!r}"
    following = re.search(rf"^#{{1,{level}}} ", text[match.end() :], re.MULTILINE)
    return text[match.end() :][: following.start() if following else None]


def code_words(text: str) -> set[str]:
    """Everything between backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))
