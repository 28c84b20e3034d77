"""A model's `tokenizer.json` over plain text: nothing truncated, padded, or read as a marker.

A text over `WINDOW_CHARACTERS` is tokenised in pieces cut before white space, or after so many
characters of an unbroken run, whose time grows faster than its length. Counting, offsets and what
is sent follow the same rule.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any

from variorum.records.errors import UnsupportedError

WINDOW_CHARACTERS = 32_768
_RULES = 1
"""Raised with every change of what is counted, so that no recipe takes one for the other."""

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


class FileTokenizer:
    """Counts tokens and finds where they start. Safe to share; the file is read when needed.

    `max_tokens`, the model's limit, decides where texts are cut: it is part of the fingerprint.
    """

    def __init__(self, path: Path, max_tokens: int) -> None:
        self._path = path
        self._max_tokens = max_tokens
        self._lock = Lock()
        self._loaded: Any = None

    @cached_property
    def sha256(self) -> str:
        """Identity of the file and the rules above."""
        content = self._path.read_bytes()
        return hashlib.sha256(f"{_RULES} {WINDOW_CHARACTERS} ".encode() + content).hexdigest()

    @property
    def fingerprint(self) -> str:
        """Identity of the vocabulary, the rules and the model's limit."""
        return hashlib.sha256(f"{self.sha256} {self._max_tokens}".encode()).hexdigest()

    def count(self, text: str) -> int:
        """Number of tokens of `text` on its own; 0 where the model sees only blanks."""
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each, on all cores."""
        counts = [0] * len(texts)
        owners, pieces = _pieces(texts)
        encodings = self._tokenizer.encode_batch_fast(pieces, add_special_tokens=False)
        for owner, encoding in zip(owners, encodings, strict=True):
            counts[owner] += len(encoding)
        return counts

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text as the model takes it: special tokens around its own."""
        owners, pieces = _pieces(texts)
        encodings = self._tokenizer.encode_batch_fast(pieces, add_special_tokens=False)
        ids: list[list[int]] = [[] for _ in texts]
        for owner, encoding in zip(owners, encodings, strict=True):
            ids[owner] += encoding.ids
        before, after = self._around
        return [[*before, *own, *after] for own in ids]

    @property
    def special_tokens(self) -> int:
        """How many the model takes around every input."""
        return sum(map(len, self._around))

    def starts(self, text: str) -> list[int]:
        """Code-point offset where each token of `text` starts: not decreasing, each < len(text).

        A token that carries the white space before a word starts where the word does.
        """
        _, pieces = _pieces([text])
        bases = accumulate(map(len, pieces), initial=0)
        encodings = self._tokenizer.encode_batch(pieces, add_special_tokens=False)
        places = [
            base + start
            for base, encoding in zip(bases, encodings, strict=False)
            for start, _ in encoding.offsets
        ]
        filled = _filled(text)
        return list(accumulate((filled[min(p, len(text) - 1)] for p in places), max))

    @property
    def _tokenizer(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = load_tokenizer(self._path)
            return self._loaded

    @cached_property
    def _around(self) -> tuple[list[int], list[int]]:
        """The special tokens before and after every input."""
        encoding = self._tokenizer.encode("a", add_special_tokens=True)
        own = encoding.special_tokens_mask.index(0)
        end = len(encoding) - encoding.special_tokens_mask[::-1].index(0)
        return encoding.ids[:own], encoding.ids[end:]


def load_tokenizer(path: Path) -> Any:
    """The tokenizer of a file, which truncates and pads nothing and reads no marker in a text.

    Raises:
        UnsupportedError: it cannot be read as a tokenizer.
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # its errors have no common class but this one
        raise UnsupportedError(
            f"{path.name} cannot be read as a tokenizer",
            kind="bad-tokenizer",
            subject=str(path),
            expected="a tokenizer.json as Hugging Face writes it",
            found=str(error),
            remedy="take the file that belongs to the model",
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # a literal `</s>` in a document is characters
    return tokenizer


def _pieces(texts: Sequence[str]) -> tuple[list[int], list[str]]:
    """Every text in pieces, and the text that each belongs to. Lone surrogates are U+FFFD."""
    owners: list[int] = []
    pieces: list[str] = []
    for owner, text in enumerate(texts):
        for piece in _cut(text.translate(_SURROGATES) if not _is_plain(text) else text):
            owners.append(owner)
            pieces.append(piece)
    return owners, pieces


def _is_plain(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _cut(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > WINDOW_CHARACTERS:
        end = _last_blank(text, start + WINDOW_CHARACTERS // 2, start + WINDOW_CHARACTERS)
        yield text[start:end]
        start = end
    yield text[start:]


def _last_blank(text: str, start: int, end: int) -> int:
    """The last white space in `[start, end)`, or `end`."""
    return next((place for place in range(end - 1, start, -1) if text[place].isspace()), end)


def _filled(text: str) -> list[int]:
    """For each character the first that is not white space from it on, or itself if none is."""
    found, filled = -1, list(range(len(text)))
    for place in range(len(text) - 1, -1, -1):
        if not text[place].isspace():
            found = place
        filled[place] = place if found < 0 else found
    return filled
