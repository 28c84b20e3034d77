"""Content-defined chunking: a rolling fingerprint of the last words says where a chunk may end."""

import hashlib
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.characters import rolling_hashes
from variorum.chunking.chunker import CUT_ANYWHERE, Chunker, Shape, canonical_spec, refuse
from variorum.chunking.fixed import Fixed
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.tokens import TokenMap
from variorum.chunking.units import Units, units
from variorum.records.text import Span, Structure

FINGERPRINT_BASE = np.uint64(0x100000001B3)
"""Base of the fingerprint polynomial, modulo 2**64."""

_PERSON = b"cairn-word-v1"


@dataclass(frozen=True)
class ContentDefined:
    """Cut where the Rabin fingerprint of the last `window_words` words ends in enough zero bits.

    The two-threshold, two-divisor rule (TTTD): the first place with `primary_mask_bits` zero bits
    and at least `min_tokens` before it ends a chunk; where there is none within `max_tokens`, the
    last one with `backup_mask_bits`, and where there is none of these either, the last word that
    fits. A word is a run without white space, in NFC; one after a blank line has its own mark.

    The cuts are those of Steadlith 1.0.1, strategy `cdc-rabin` without snapping, for the same
    parameters and a token counter that counts a word alone as it counts it here, wherever that
    accepts the text. It refuses a word over `max_tokens`; here such a word is cut into parts that
    enter the same stream (`units.units`). `words` may be `segmented` instead of `whole`: then
    every word of more than 32 characters, and of Chinese, Japanese and other scripts written
    without spaces, is cut into such parts. The structure plays no part.

    Every span has at most `max_tokens` tokens, a single grapheme apart. Linear in the text, n log n
    in the cuts.

    Raises:
        InputError: kind `bad-parameter`, where min_tokens < 1, max_tokens < min_tokens,
            window_words < 1, `1 <= backup_mask_bits < primary_mask_bits <= 63` does not hold, or
            words is another word.
    """

    min_tokens: int = 176
    max_tokens: int = 352
    window_words: int = 48
    primary_mask_bits: int = 8
    backup_mask_bits: int = 6
    words: str = "whole"

    def __post_init__(self) -> None:
        if self.min_tokens < 1:
            refuse("content_defined", "min_tokens", self.min_tokens, "at least 1")
        if self.max_tokens < self.min_tokens:
            allowed = f"at least min_tokens={self.min_tokens}"
            refuse("content_defined", "max_tokens", self.max_tokens, allowed)
        if self.window_words < 1:
            refuse("content_defined", "window_words", self.window_words, "at least 1")
        if not 1 < self.primary_mask_bits <= 63:
            refuse("content_defined", "primary_mask_bits", self.primary_mask_bits, "2 to 63")
        if not 1 <= self.backup_mask_bits < self.primary_mask_bits:
            allowed = f"1 or more, and less than primary_mask_bits={self.primary_mask_bits}"
            refuse("content_defined", "backup_mask_bits", self.backup_mask_bits, allowed)
        if self.words not in ("whole", "segmented"):
            refuse("content_defined", "words", self.words, "whole or segmented")

    @property
    def spec(self) -> str:
        """The canonical spec."""
        return canonical_spec("content_defined", self)

    @property
    def overlaps(self) -> bool:
        """Never."""
        return False

    @property
    def shape(self) -> Shape:
        """A target two thirds of the way from the minimum to the maximum, cut at any word."""
        target = (self.min_tokens + 2 * self.max_tokens) // 3
        return Shape(self.min_tokens, target, self.max_tokens, CUT_ANYWHERE)

    def limited(self, max_tokens: int) -> Chunker:
        """The same rule up to `max_tokens`; a minimum over that comes down to half of it."""
        if max_tokens >= self.max_tokens:
            return self
        least = self.min_tokens if self.min_tokens <= max_tokens else max(1, max_tokens // 2)
        return replace(self, max_tokens=max_tokens, min_tokens=least)

    def spans(self, text: str, structure: Structure, tokens: TokenMap) -> list[Span]:
        """The spans between the cuts; the structure plays no part."""
        if not text:
            return []
        stream = units(text, tokens, self.max_tokens, segmented=self.words == "segmented")
        starts = [*stream.starts.tolist(), len(text)]
        rule = _Rule(self, starts, tokens, _fingerprints(text, stream, self))
        cuts = sorted({0, *(starts[index] for index in rule.cuts())})
        windows, graphemes = Fixed(self.max_tokens), Graphemes(text)
        spans: list[Span] = []
        for span in (Span(*ends) for ends in pairwise(cuts)):
            whole = tokens.fits(*span, self.max_tokens)
            spans += [span] if whole else windows.parts(span, tokens, graphemes)
        return spans


class _Rule:
    """Two thresholds over one stream; a place `p` is between unit `p - 1` and unit `p`."""

    def __init__(
        self,
        chunker: ContentDefined,
        starts: Sequence[int],
        tokens: TokenMap,
        fingerprints: NDArray[np.uint64],
    ) -> None:
        self._chunker = chunker
        self._starts = starts
        self._tokens = tokens
        self._before: list[int] = tokens.before_each(np.array(starts)).tolist()
        self._last = len(starts) - 1
        self._primary = _places(fingerprints, chunker.primary_mask_bits, chunker.window_words)
        self._backup = _places(fingerprints, chunker.backup_mask_bits, chunker.window_words)

    def cuts(self) -> list[int]:
        """Where each chunk ends."""
        cuts = [0]
        while cuts[-1] < self._last:
            cuts.append(self._end(cuts[-1]))
        return cuts[1:]

    def _end(self, start: int) -> int:
        """Where the chunk from `start` ends: as far as it fits, or after one unit."""
        most = self._chunker.max_tokens
        reach = bisect_right(self._before, self._before[start] + most) - 1
        end = self._chosen(start, max(start + 1, reach))
        while end > start + 1 and not self._tokens.fits(
            self._starts[start], self._starts[end], most
        ):
            end = self._chosen(start, end - 1)
        return end

    def _chosen(self, start: int, reach: int) -> int:
        """Where the chunk from `start` ends if it may go up to `reach`."""
        spent = self._before[start]
        least = bisect_left(self._before, spent + self._chunker.min_tokens, lo=start + 1)
        first = bisect_left(self._primary, least)
        if first < len(self._primary) and self._primary[first] <= reach:
            return self._primary[first]
        if reach == self._last:
            return reach
        last = bisect_right(self._backup, reach) - 1
        return self._backup[last] if last >= 0 and self._backup[last] >= least else reach


def _places(fingerprints: NDArray[np.uint64], bits: int, window: int) -> list[int]:
    """The places after a whole window whose fingerprint ends in that many zero bits."""
    mask = np.uint64((1 << bits) - 1)
    found: list[int] = (np.flatnonzero((fingerprints & mask) == 0) + window).tolist()
    return found


def _fingerprints(text: str, stream: Units, chunker: ContentDefined) -> NDArray[np.uint64]:
    """uint64[n - window_words + 1]: of the `window_words` units before each place."""
    plain, opening = _Symbols("W"), _Symbols("P")
    words = list(map(str.strip, stream.of(text)))
    symbols = np.fromiter(map(plain.__getitem__, words), dtype=np.uint64, count=len(words))
    for index in np.flatnonzero(stream.opens).tolist():
        symbols[index] = opening[words[index]]
    return rolling_hashes(symbols, chunker.window_words, FINGERPRINT_BASE)


class _Symbols(dict[str, int]):
    """64 bits of each word in NFC, after a mark that says whether a blank line stands before it."""

    def __init__(self, mark: str) -> None:
        self._mark = mark

    def __missing__(self, word: str) -> int:
        marked = self._mark + unicodedata.normalize("NFC", word)
        encoded = marked.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(encoded, digest_size=8, person=_PERSON).digest()
        symbol = self[word] = int.from_bytes(digest, "big")
        return symbol
