"""The model's Unigram tokenizer over plain text: no special tokens, nothing truncated.

A word is a space of the normalised text and what follows up to the next space; words are
tokenised on their own, so a text may be cut between words and tokenised in parallel with the same
result. A word over `WINDOW_CHARACTERS` is tokenised in windows of that many characters, counted
from its start, since the time for one long unbroken run grows faster than its length. Counting,
offsets and what is sent follow the same rule. An input within the model's limit holds no such word
(512 tokens of at most 48 bytes), unless of unknown characters: a run of those is one token.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from threading import Lock
from typing import Any

import numpy as np

from variorum.embedding.e5.normaliser import Normaliser
from variorum.embedding.e5.package import WEIGHTS_SHA256, Vocabulary
from variorum.embedding.e5.seams import Seams

WINDOW_CHARACTERS = 32_768
_SEGMENT_CHARACTERS = 4_096
_SLICE_CHARACTERS = 1 << 20
_RULES = 1
"""Raised with every change of what is counted, so that no recipe takes one for the other."""

UNKNOWN_ID = 3
_SPECIAL_IDS = (0, 1, 2, 3, 250_001)

TOKENIZER_FINGERPRINT = hashlib.sha256(
    f"variorum e5 tokenizer {_RULES} {WEIGHTS_SHA256} {WINDOW_CHARACTERS}".encode()
).hexdigest()


class E5Tokenizer:
    """Counts tokens and finds where they start. Safe to share between threads.

    The vocabulary is read when first needed: a sync that finds nothing changed never needs it.
    """

    def __init__(self, read: Callable[[], Vocabulary]) -> None:
        self._read = read
        self._lock = Lock()
        self._loaded: tuple[Normaliser, Any, Seams] | None = None

    def _parts(self) -> tuple[Normaliser, Any, Seams]:
        if self._loaded is None:
            with self._lock:
                self._loaded = self._loaded or self._load()
        return self._loaded

    def _load(self) -> tuple[Normaliser, Any, Seams]:
        vocabulary = self._read()
        normaliser = Normaliser(vocabulary.replacements)
        return normaliser, _unigram(vocabulary), Seams(vocabulary)

    @property
    def _normaliser(self) -> Normaliser:
        return self._parts()[0]

    @property
    def _unigram(self) -> Any:
        return self._parts()[1]

    @property
    def fingerprint(self) -> str:
        """Identity of the vocabulary and of the rules above."""
        return TOKENIZER_FINGERPRINT

    @property
    def splits_at_blanks(self) -> bool:
        """True: words are tokenised on their own, and these blanks are spaces to the model."""
        return True

    def is_seam(self, text: str, place: int) -> bool:
        """Whether tokens never reach across `place`, a place inside `text`."""
        return self._parts()[2].is_seam(text, place)

    def stands_alone(self, text: str, place: int) -> bool:
        """Whether the character at `place` is one character to the model, whatever is around it."""
        return self._normaliser.keeps(text[place])

    def count(self, text: str) -> int:
        """Number of tokens of `text` on its own; 0 where the model sees only blanks."""
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each, on all cores."""
        counts = [0] * len(texts)
        for owners, segments in self._slices(texts):
            encodings = self._unigram.encode_batch_fast(segments, add_special_tokens=False)
            for owner, encoding in zip(owners, encodings, strict=True):
                counts[owner] += len(encoding)
        return counts

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text."""
        ids: list[list[int]] = [[] for _ in texts]
        for owners, segments in self._slices(texts):
            encodings = self._unigram.encode_batch_fast(segments, add_special_tokens=False)
            for owner, encoding in zip(owners, encodings, strict=True):
                ids[owner] += encoding.ids
        return ids

    def starts(self, text: str) -> list[int]:
        """Code-point offset where each token of `text` starts: not decreasing, each < len(text).

        A token that carries the space before a word starts where the word does.
        """
        places: list[int] = []
        base = 0
        for _, segments in self._slices([text]):
            encodings = self._unigram.encode_batch(segments, add_special_tokens=False)
            bases = accumulate(map(len, segments), initial=base)
            for encoding, segment_base in zip(encodings, bases, strict=False):
                places += [segment_base + start for start, _ in encoding.offsets]
            base += sum(map(len, segments))
        starts: list[int] = self._normaliser.origins(text)[
            np.array(places, dtype=np.int64)
        ].tolist()
        return starts

    def is_blank(self, text: str) -> bool:
        """Whether nothing of `text` reaches the model."""
        return not self._normaliser.normalise(text)

    def _slices(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
        """Segments of all texts, with the text each belongs to, about a million characters a slice.

        Bounds the memory of the encodings, which take far more than their text.
        """
        owners: list[int] = []
        segments: list[str] = []
        characters = 0
        for owner, text in enumerate(texts):
            for segment in _segments(self._normaliser.normalise(text)):
                owners.append(owner)
                segments.append(segment)
                characters += len(segment)
                if characters >= _SLICE_CHARACTERS:
                    yield owners, segments
                    owners, segments, characters = [], [], 0
        if segments:
            yield owners, segments


def _segments(normalised: str) -> Iterator[str]:
    """Cut before spaces, near every `_SEGMENT_CHARACTERS`; only a word over the window is cut."""
    start = 0
    while start < len(normalised):
        end = normalised.rfind(" ", start + 1, start + _SEGMENT_CHARACTERS + 1)
        if len(normalised) - start <= _SEGMENT_CHARACTERS:
            end = len(normalised)
        elif end < 0:
            end = normalised.find(" ", start + 1, start + WINDOW_CHARACTERS + 1)
        if end < 0:
            end = min(start + WINDOW_CHARACTERS, len(normalised))
        yield normalised[start:end]
        start = end


def _unigram(vocabulary: Vocabulary) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = list(vocabulary.pieces)
    for special in _SPECIAL_IDS:
        # Normalised text has no space inside a word, so this piece can never match: a literal
        # `</s>` in a document is ordinary characters.
        pieces[special] = f" {pieces[special]}"
    tokenizer = Tokenizer(
        models.Unigram(
            list(zip(pieces, vocabulary.scores, strict=True)),
            unk_id=UNKNOWN_ID,
            byte_fallback=False,
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=True)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
