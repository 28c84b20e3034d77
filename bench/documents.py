"""A corpus of any size from real text: sentences of the revision files, recombined by a seed."""

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from random import Random

from bench.study import SEED, SHARED

SOURCES = (SHARED / "revisions" / "pairs.jsonl.gz", SHARED / "revisions" / "chains.jsonl.gz")
LANGUAGES = ("en", "zh")
_SENTENCE = re.compile(r"[^\n。！？.!?]{12,120}[。！？.!?]")
_HEADING = re.compile(r"^#{2,3} +([^\n]{4,60})$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


@lru_cache
def _pool(language: str) -> tuple[list[str], list[str]]:
    """(headings, sentences) of every revision file in a language, each once, in order."""
    headings: dict[str, None] = {}
    sentences: dict[str, None] = {}
    for text in _texts(language):
        prose = _FENCE.sub("", text)
        headings.update(dict.fromkeys(_HEADING.findall(prose)))
        sentences.update(dict.fromkeys(one.strip() for one in _SENTENCE.findall(prose)))
    return list(headings), list(sentences)


def _texts(language: str) -> Iterator[str]:
    for source in SOURCES:
        with gzip.open(source, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                if record["lang"] == language:
                    steps = record.get("revisions", [])
                    yield from [record.get("new_text", ""), *(step["text"] for step in steps[-1:])]


def document(number: int, seed: int = SEED) -> str:
    """Document `number` of the corpus: every second one Chinese, about 3,000 atoms at the most."""
    language = LANGUAGES[number % len(LANGUAGES)]
    headings, sentences = _pool(language)
    random = Random(f"{seed} {number}")
    space = " " if language == "en" else ""
    parts = [f"# {random.choice(headings)} {number}"]
    for section in range(1, random.randint(2, 7) + 1):
        parts.append(f"## {number}.{section} {random.choice(headings)}")
        for _ in range(random.randint(1, 3)):
            parts.append(space.join(random.sample(sentences, random.randint(3, 7))))
    return "\n\n".join(parts) + "\n"


def write_corpus(folder: Path, count: int, seed: int = SEED) -> list[Path]:
    """Write the first `count` documents below `folder`, 100 a directory; their paths in order."""
    shutil.rmtree(folder, ignore_errors=True)
    paths = [folder / f"{number // 100:03d}" / f"{number:05d}.md" for number in range(count)]
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document(number, seed), encoding="utf-8")
    return paths


def edit(path: Path, number: int) -> None:
    """Add one sentence in the middle of a document, another one for every `number`."""
    text = path.read_text(encoding="utf-8")
    middle = text.index("\n\n", len(text) // 2)
    added = f" This sentence was added by edit {number} 第{number}次修订。"
    path.write_text(text[:middle] + added + text[middle:], encoding="utf-8")
