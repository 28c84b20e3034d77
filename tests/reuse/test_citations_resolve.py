"""Every citation that a search ever gave resolves to the characters that it gave, for good.

Real documents go through their real revisions side by side; some are renamed, some go and come
back. What a citation must show is kept here, and cut again from the texts that were written.
"""

import hashlib
from pathlib import Path
from random import Random

import pytest
from bench.chains import Chain, read_chains

import variorum
from variorum.records.hits import Hit
from workbench import Bench

SEED = 20250214
RUNS = [
    pytest.param(200, 4, 5, id="200 hits"),
    pytest.param(10_000, 24, 40, id="10,000 hits", marks=pytest.mark.long),
]


class Life:
    """A folder whose documents are revised, renamed, removed and brought back."""

    def __init__(self, home: Path, chains: list[Chain], random: Random) -> None:
        self.bench = Bench(home, "")
        self.chains, self.random = chains, random
        self.names = {place: f"n{place}{one.suffix}" for place, one in enumerate(chains)}
        self.texts: dict[tuple[str, int], str] = {}
        self.generation = 0

    def step(self, number: int) -> None:
        """Publish one state of the folder, and remember what it holds."""
        for place, chain in enumerate(self.chains):
            old = self.bench.root / self.names[place]
            old.unlink(missing_ok=True)
            if self.random.random() < 0.1:
                self.names[place] = f"moved{number}/n{place}{chain.suffix}"
            if number == 0 or self.random.random() < 0.9:
                text = chain.texts[min(number, len(chain.texts) - 1)]
                self.bench.write({self.names[place]: text})
        report, _ = self.bench.sync(allow_shrink=True)
        self.generation = report.generation or self.generation
        for path in self.bench.root.rglob("*.*"):
            name = path.relative_to(self.bench.root).as_posix()
            self.texts[name, self.generation] = path.read_bytes().decode()

    def question(self) -> str:
        """Some words of some revision."""
        words = self.random.choice(self.random.choice(self.chains).texts).split()
        start = self.random.randrange(max(1, len(words) - 8))
        return " ".join(words[start : start + 8])[:200]

    def hits(self, index: variorum.Index, k: int) -> list[Hit]:
        """The hits of a question to some generation, each as it stands in the written text."""
        as_of = self.random.randint(1, self.generation)
        hits = list(index.search(self.question(), k, as_of=as_of).hits)
        for hit in hits:
            text = self.texts[hit.document.path.decode(), as_of]
            assert hit.text == text[hit.start : hit.end]
        return hits


@pytest.mark.parametrize(("wanted", "documents", "steps"), RUNS)
def test_a_citation_shows_the_same_characters_whatever_came_after(
    shared: Path, tmp_path: Path, wanted: int, documents: int, steps: int
) -> None:
    file = shared / "revisions" / "chains.jsonl.gz"
    if not file.is_file():
        pytest.skip("needs revisions/chains.jsonl.gz of the public data sets at ../shared")
    random = Random(SEED)
    life = Life(tmp_path, read_chains(documents, file), random)
    given: list[Hit] = []
    for number in range(steps):
        life.step(number)
        with life.bench.open() as index:
            while len(given) < wanted * (number + 1) // steps:
                given += life.hits(index, 20)
    assert len(given) >= wanted
    current = {
        (hit.document, hit.revision) for hit in given if _is_shown(life, hit, life.generation)
    }
    with life.bench.open() as index:
        for hit in random.sample(given, wanted):
            cited = index.show(str(hit.citation))
            assert (cited.text, cited.revision) == (hit.text, hit.revision)
            assert str(cited.citation) == str(hit.citation)
            assert cited.is_current == ((hit.document, hit.revision) in current)
    gone = len(given) - sum(_is_shown(life, hit, life.generation) for hit in given)
    assert gone


def _is_shown(life: Life, hit: Hit, generation: int) -> bool:
    """Whether a generation holds that very revision under that name."""
    text = life.texts.get((hit.document.path.decode(), generation))
    return text is not None and hashlib.sha256(text.encode()).hexdigest() == hit.revision
