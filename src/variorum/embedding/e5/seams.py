"""Places in Chinese words where no token of the vocabulary reaches across.

Between two characters that stand side by side in no piece, the cheapest path of the Unigram model
has a boundary, and each side has the path that it has alone: scores are 32-bit floats, whose sums
over a word are exact in 64 bits, so that no rounding on one side decides a tie on the other. Both
characters are pieces themselves, since a run of unknown ones is one token. Only ideographs, and the
marks of Chinese before them, are looked at: the normaliser gives each of these for itself.
"""

import re
from itertools import pairwise

from variorum.embedding.e5.package import Vocabulary

_HAN = "\u4e00-\u9fff"
_MARKS = "、。，！？；："


class Seams:
    """The pairs of characters that some piece holds side by side."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        marks = {mark: vocabulary.replacements.get(ord(mark), mark) for mark in _MARKS}
        runs = re.compile(f"[{_HAN}{re.escape(''.join(marks.values()))}]{{2,}}")
        joined = {
            pair for piece in runs.findall("\n".join(vocabulary.pieces)) for pair in pairwise(piece)
        }
        singles = {piece for piece in vocabulary.pieces if len(piece) == 1}
        self._after = {piece for piece in singles if re.match(f"[{_HAN}]", piece)}
        self._before = {piece: piece for piece in self._after}
        self._before |= {mark: one for mark, one in marks.items() if one in singles}
        self._joined = joined

    def is_seam(self, text: str, place: int) -> bool:
        """Whether tokens never reach across `place`, a place inside `text`."""
        before = self._before.get(text[place - 1])
        after = text[place]
        return before is not None and after in self._after and (before, after) not in self._joined
