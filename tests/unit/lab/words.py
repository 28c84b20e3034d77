"""A model of words for contracts that are computed by hand: one token a word, two specials."""

from collections.abc import Sequence

from variorum.records.protocols import Role

SPECIALS = 2


class Words:
    """One token for each run of characters between blanks."""

    fingerprint = "words"

    def starts(self, text: str) -> list[int]:
        return [
            place
            for place, character in enumerate(text)
            if not character.isspace() and (not place or text[place - 1].isspace())
        ]

    def count(self, text: str) -> int:
        return len(text.split())

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


class WordSizer:
    """Counts words and two special tokens."""

    def __init__(self, max_tokens: int = 100) -> None:
        self.tokenizer = Words()
        self.max_tokens = max_tokens

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return [self.tokenizer.count(text) + SPECIALS for text in inputs]
