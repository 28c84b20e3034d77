"""Whole-text character work without a Python loop: code points, blanks, line starts, hashes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.tokens import Positions

Codes = NDArray[np.uint32]
"""uint32[n] code points of a text."""

HASH_WINDOW = 24
"""Characters after a boundary that decide its hash: about five English words."""

_UNDERSCORE = ord("_")
_HIGHEST_BLANK = 0x3000
_BLANK = np.array([chr(code).isspace() for code in range(_HIGHEST_BLANK + 2)])
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def code_points(text: str) -> Codes:
    """The code points of `text`, lone surrogates included."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def blank_mask(codes: Codes) -> NDArray[np.bool_]:
    """Which code points are white space as `str.isspace` sees it."""
    return _BLANK[np.minimum(codes, _HIGHEST_BLANK + 1)]


def word_mask(codes: Codes) -> NDArray[np.bool_]:
    """Which code points are letters, digits or underscores, as `\\w` sees them."""
    present = np.flatnonzero(np.bincount(codes)) if len(codes) else np.zeros(0, dtype=np.int64)
    known = np.zeros(int(present[-1]) + 1 if len(present) else 0, dtype=np.bool_)
    known[present] = [code == _UNDERSCORE or chr(code).isalnum() for code in present.tolist()]
    return known[codes]


def counts_before(mask: NDArray[np.bool_]) -> Positions:
    """int64[n + 1]: how many are true before each place."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(mask, dtype=np.int64)])


def line_starts(codes: Codes) -> Positions:
    """Where each line starts; a line ends at LF, CR LF or a lone CR. A last empty line counts."""
    ends = codes == 10
    lone = codes == 13
    lone[:-1] &= codes[1:] != 10
    found = np.flatnonzero(ends | lone).astype(np.int64) + 1
    return np.concatenate([np.zeros(1, dtype=np.int64), found])


def rolling_hashes(
    symbols: Codes | NDArray[np.uint64], width: int, multiplier: np.uint64 = _MULTIPLIER
) -> NDArray[np.uint64]:
    """uint64[n - width + 1]: a hash of the `width` symbols from each position on.

    The polynomial of the symbols in powers of `multiplier`, modulo 2**64.
    """
    length = len(symbols) - width + 1
    hashed = np.zeros(max(0, length), dtype=np.uint64)
    for step in range(width if length > 0 else 0):
        hashed *= multiplier
        hashed += symbols[step : step + length]
    return hashed


def head_hashes(texts: Sequence[str], width: int) -> NDArray[np.uint64]:
    """The `rolling_hashes` of the first `width` characters of each text; none may be shorter."""
    heads = code_points("".join(text[:width] for text in texts)).reshape(-1, width)
    hashed = np.zeros(len(texts), dtype=np.uint64)
    for step in range(width):
        hashed *= _MULTIPLIER
        hashed += heads[:, step]
    return hashed


def window_hashes(codes: Codes, positions: Positions) -> NDArray[np.float64]:
    """A number in [0, 1) for each position, from the `HASH_WINDOW` characters that follow it.

    Only what follows decides: an edit before a boundary never changes its hash.
    """
    hashed = np.zeros(len(positions), dtype=np.uint64)
    last = len(codes)
    for step in range(HASH_WINDOW):
        at = positions + step
        inside = at < last
        code = np.where(inside, codes[np.minimum(at, last - 1)], 0).astype(np.uint64)
        hashed = hashed * _MULTIPLIER + code + np.uint64(1)
    hashed ^= hashed >> np.uint64(30)
    hashed *= np.uint64(0xBF58476D1CE4E5B9)
    hashed ^= hashed >> np.uint64(27)
    hashed *= np.uint64(0x94D049BB133111EB)
    hashed ^= hashed >> np.uint64(31)
    return (hashed >> np.uint64(11)).astype(np.float64) / float(1 << 53)
