"""A model without weights: feature hashing of words and word pairs.

It knows no meaning, only which words two texts share. It is exact, instant and the same on every
machine, which is what tests and large benchmarks of everything around a model need.
"""

import hashlib
import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from variorum.records.errors import InputRejectedError
from variorum.records.protocols import ModelIdentity, Role, Vectors

_UNSPACED = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Han, kana and hangul: scripts whose every character is an atom."""

MAX_ATOM_CHARACTERS = 16
"""A longer run of letters is several atoms, so that no text is a single huge token."""

_ATOM = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]{{1,{MAX_ATOM_CHARACTERS}}}|[^\w\s]")
_SPECIAL_TOKENS = 2
_ATOM_WEIGHT = 2
_PAIR_WEIGHT = 1
_PAIR_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class HashingTokenizer:
    """Atoms of a text: a Han, kana or hangul character, up to 16 word characters, or a symbol."""

    @property
    def fingerprint(self) -> str:
        """Identity of the atom rules."""
        return hashlib.sha256(b"variorum atoms 1 " + _ATOM.pattern.encode()).hexdigest()

    @property
    def splits_at_blanks(self) -> bool:
        """True: no atom holds white space."""
        return True

    def count(self, text: str) -> int:
        """Number of atoms of `text`."""
        return len(_ATOM.findall(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each."""
        return [self.count(text) for text in texts]

    def starts(self, text: str) -> list[int]:
        """Code-point offset of each atom, increasing."""
        return [match.start() for match in _ATOM.finditer(text)]

    def atoms(self, text: str) -> list[str]:
        """The atoms themselves, in order."""
        return _ATOM.findall(text)


class HashingEmbedder:
    """Signed counts of hashed atoms and pairs of neighbouring atoms, scaled to unit length.

    Sums are whole numbers until the last division, so the bytes of a vector are the same on every
    machine. A text without atoms has a fixed vector. Case is folded; roles make no difference.
    """

    def __init__(self, dimensions: int = 256, max_tokens: int = 512) -> None:
        self._dimensions = dimensions
        self._max_tokens = max_tokens
        self._tokenizer = HashingTokenizer()

    @property
    def tokenizer(self) -> HashingTokenizer:
        """The atom rules."""
        return self._tokenizer

    @property
    def max_tokens(self) -> int:
        """Most tokens in one input: its atoms and two special tokens."""
        return self._max_tokens

    @property
    def splits_at_blanks(self) -> bool:
        """True."""
        return True

    @property
    def identity(self) -> ModelIdentity:
        """Identity over the parameters and the atom rules."""
        name = f"hashing(dimensions={self._dimensions}, max_tokens={self._max_tokens})"
        parts = f"variorum hashing 1 {name} {self._tokenizer.fingerprint}"
        fingerprint = hashlib.sha256(parts.encode()).hexdigest()
        return ModelIdentity(name, fingerprint, self._dimensions, is_proven=True)

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """Atoms of each input and the two special tokens."""
        return [self._tokenizer.count(text) + _SPECIAL_TOKENS for text in inputs]

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        """Vectors of `inputs`: float32[len(inputs), dimensions].

        Raises:
            InputRejectedError: an input has more than `max_tokens` tokens.
        """
        vectors = np.zeros((len(inputs), self._dimensions), dtype=np.float32)
        for index, text in enumerate(inputs):
            atoms = self._tokenizer.atoms(text)
            self._check_length(index, len(atoms) + _SPECIAL_TOKENS)
            vectors[index] = _unit_vector(atoms, self._dimensions)
        return vectors

    def _check_length(self, index: int, tokens: int) -> None:
        if tokens > self._max_tokens:
            raise InputRejectedError(
                f"input {index} has {tokens} tokens, the model takes {self._max_tokens}",
                index=index,
                expected=f"at most {self._max_tokens} tokens",
                found=f"{tokens} tokens",
            )


def _unit_vector(atoms: Sequence[str], dimensions: int) -> NDArray[np.float32]:
    hashes = np.fromiter(
        (zlib.crc32(atom.casefold().encode("utf-8", "surrogatepass")) for atom in atoms),
        dtype=np.uint64,
        count=len(atoms),
    )
    pairs = (hashes[:-1] * _PAIR_FACTOR + hashes[1:]) * _PAIR_FACTOR >> np.uint64(32)
    sums = _signed_sums(hashes, dimensions, _ATOM_WEIGHT)
    sums += _signed_sums(pairs, dimensions, _PAIR_WEIGHT)
    squared_length = int(sums @ sums)
    if squared_length == 0:
        sums[0] = squared_length = 1
    vector: NDArray[np.float32] = (sums / np.sqrt(float(squared_length))).astype(np.float32)
    return vector


def _signed_sums(hashes: NDArray[np.uint64], dimensions: int, weight: int) -> NDArray[np.int64]:
    # The low bit is the sign, the others choose the place: the two do not depend on each other.
    places = ((hashes >> np.uint64(1)) % np.uint64(dimensions)).astype(np.int64)
    signs = (hashes & np.uint64(1)).astype(bool)
    added = np.bincount(places[signs], minlength=dimensions)
    taken = np.bincount(places[~signs], minlength=dimensions)
    return (added - taken) * weight
