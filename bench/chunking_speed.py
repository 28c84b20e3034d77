"""CPU seconds of a whole layout beside those of tokenizing alone, and of a planned one-word edit.

python bench/chunking_speed.py --revisions ../shared/revisions --tokenizer tokenizer.json
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tokenizers import Tokenizer

from chunking_corpus import AtomSizer, histories, markdown_structure
from variorum.chunking import chunker_from_spec, lay_out
from variorum.records.layout import PreviousLayout, Recipe
from variorum.records.protocols import Role, Sizer

CHARACTERS = 400_000
SPECS = ["fixed(max_tokens=304)", "recursive", "anchored"]
Result = TypeVar("Result")


class FileTokenizer:
    fingerprint = "file"

    def __init__(self, path: Path) -> None:
        self.whole = Tokenizer.from_file(str(path))
        self.whole.no_truncation()
        self.whole.no_padding()

    def starts(self, text: str) -> list[int]:
        encoded = self.whole.encode(text, add_special_tokens=False)
        return [start for start, _ in encoded.offsets]

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [len(one) for one in self.whole.encode_batch(list(texts), add_special_tokens=False)]


class FileSizer:
    max_tokens = 512

    def __init__(self, path: Path) -> None:
        self.tokenizer = FileTokenizer(path)

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return [len(one) for one in self.tokenizer.whole.encode_batch(list(inputs))]


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revisions", type=Path, default=Path("../shared/revisions"))
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json; atoms without it")
    options = parser.parse_args()
    sizer: Sizer = FileSizer(options.tokenizer) if options.tokenizer else AtomSizer()
    print("| language | chunker | tokenizing s | layout s | times | edit s |\n|" + "---|" * 6)
    for language in ("en", "zh"):
        text = sample(options.revisions, language)
        alone, _ = timed(lambda text=text: sizer.tokenizer.starts(text))
        for spec in SPECS:
            print(row(language, spec, text, sizer, alone), flush=True)


def sample(revisions: Path, language: str) -> str:
    pairs = histories(revisions, "pairs")
    return "\n\n".join(chain[-1][1] for lang, chain in pairs if lang == language)[:CHARACTERS]


def row(language: str, spec: str, text: str, sizer: Sizer, alone: float) -> str:
    recipe = Recipe(chunker_from_spec(spec).spec, True, 0, "t", "m", "p")
    structure = markdown_structure(text)
    fresh, layout = timed(lambda: lay_out(text, structure, recipe, sizer))
    middle = text.index(" ", len(text) // 2)
    edited = f"{text[:middle]} word{text[middle:]}"
    changed = markdown_structure(edited)
    planned, _ = timed(
        lambda: lay_out(edited, changed, recipe, sizer, PreviousLayout(text, layout))
    )
    times = [f"{alone:.2f}", f"{fresh:.2f}", f"{fresh / alone:.1f}", f"{planned:.2f}"]
    return f"| {language} | {recipe.chunker} | " + " | ".join(times) + " |"


if __name__ == "__main__":
    main()
