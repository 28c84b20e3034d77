"""Recompute fraction of every chunker on real revisions, beside the floor of its old layouts.

    python bench/chunking_recompute.py pairs --revisions ../shared/revisions --size 300

R is the share of a new version's distinct inputs, weighted by tokens with specials, that are not
byte for byte among the old version's; the floor is the share of its tokens in no intact old input.
A semantic chunker, named by `--spec`, is given hashed words in place of a model.
"""

import argparse
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, pstdev

from chunking_corpus import SPECIAL_TOKENS, AtomTokenizer, histories, structure_of, word_vectors
from variorum.chunking import Chunker, NeedsVectors, TokenMap, chunker_from_spec
from variorum.chunking.chunker import Reading
from variorum.chunking.planner import OldLayout, plan_spans

CDC_100 = "min_tokens=60, max_tokens=120, primary_mask_bits=6, backup_mask_bits=4"
SPECS = {
    100: [
        "fixed(max_tokens=102)",
        "recursive(max_tokens=124)",
        "anchored",
        f"content_defined({CDC_100})",
        f"content_defined({CDC_100}, words=segmented, window_words=16)",
        "structural(max_tokens=160, min_tokens=48)",
    ],
    300: [
        "fixed(max_tokens=304)",
        "recursive(max_tokens=400, terminators=spaced)",
        "recursive(max_tokens=400)",
        "anchored(max_tokens=512, min_tokens=100)",
        "content_defined",
        "content_defined(words=segmented)",
        "structural(max_tokens=512, min_tokens=200)",
    ],
}
TOKENS = AtomTokenizer()


@dataclass
class Tally:
    recompute: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    floors: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    sizes: list[int] = field(default_factory=list)
    under_minimum: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=["pairs", "chains", "calibration"])
    parser.add_argument("--revisions", type=Path, default=Path("../shared/revisions"))
    parser.add_argument("--size", type=int, choices=sorted(SPECS), default=100)
    parser.add_argument("--spec", action="append", help="instead of the specs of --size")
    options = parser.parse_args()
    corpus = [(lang, readings(chain)) for lang, chain in histories(options.revisions, options.name)]
    columns = "| chunker | R en | R zh | floor en | floor zh | mean | cv | under min % |"
    print(columns + "\n|" + "---|" * 8)
    for spec in options.spec or SPECS[options.size]:
        chunker = bound(chunker_from_spec(spec))
        for planner in (False, True):
            name = chunker.spec + (" + planner" if planner else "")
            print(row(name, replay(corpus, chunker, planner=planner)), flush=True)


def bound(chunker: Chunker) -> Chunker:
    return chunker.with_embed(word_vectors) if isinstance(chunker, NeedsVectors) else chunker


def readings(chain: Sequence[tuple[str, str]]) -> list[Reading]:
    return [
        Reading(text, structure_of(path, text), TokenMap.of(text, TOKENS)) for path, text in chain
    ]


def replay(
    corpus: Sequence[tuple[str, list[Reading]]], chunker: Chunker, *, planner: bool
) -> Tally:
    tally = Tally()
    for language, chain in corpus:
        steps = list(transitions(chain, chunker, tally, planner=planner))
        tally.recompute[language].append(fmean(share for share, _ in steps))
        tally.floors[language].append(fmean(floor for _, floor in steps))
    return tally


def transitions(
    chain: Sequence[Reading], chunker: Chunker, tally: Tally, *, planner: bool
) -> Iterator[tuple[float, float]]:
    """(recompute, floor) in percent of each step of one history."""
    old: OldLayout | None = None
    for reading in chain:
        text = reading.characters
        if planner and old is not None:
            spans = plan_spans(reading, chunker, old)
        else:
            spans = chunker.spans(text, reading.structure, reading.tokens)
        spans = [span for span in spans if text[span.start : span.end].strip()]
        new = OldLayout(text, tuple(spans))
        sizes = [reading.tokens.count(*span) for span in spans]
        tally.sizes += sizes
        tally.under_minimum += sum(size for size in sizes if size < chunker.shape.min_tokens)
        if old is not None and spans:
            yield recompute(old.contents(), new.contents()), floor(old.contents(), reading)
        old = new


def recompute(old: Sequence[str], new: Sequence[str]) -> float:
    cost = {one: TOKENS.count(one) + SPECIAL_TOKENS for one in new}
    return 100 * sum(cost[one] for one in cost.keys() - set(old)) / sum(cost.values())


def floor(old: Sequence[str], reading: Reading) -> float:
    """Percent of tokens outside the heaviest set of old inputs that do not overlap."""
    found = sorted(occurrences(set(old), reading.characters))
    ends = [end for end, _ in found]
    best = [0]
    for number, (end, start) in enumerate(found):
        before = bisect_right(ends, start, hi=number)
        best.append(max(best[-1], best[before] + reading.tokens.count(start, end)))
    return 100 * (1 - best[-1] / max(1, reading.tokens.total))


def occurrences(contents: set[str], text: str) -> Iterator[tuple[int, int]]:
    """(end, start) of every old input in the text."""
    for content in contents:
        place = text.find(content)
        while place >= 0:
            yield place + len(content), place
            place = text.find(content, place + 1)


def row(name: str, tally: Tally) -> str:
    mean = fmean(tally.sizes)
    numbers = [fmean(tally.recompute[language]) for language in ("en", "zh")]
    numbers += [fmean(tally.floors[language]) for language in ("en", "zh")]
    numbers += [mean, pstdev(tally.sizes) / mean, 100 * tally.under_minimum / sum(tally.sizes)]
    return f"| {name} | " + " | ".join(f"{number:.2f}" for number in numbers) + " |"


if __name__ == "__main__":
    main()
