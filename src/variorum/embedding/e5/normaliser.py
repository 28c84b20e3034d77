"""What the model's tokenizer does to characters first, with the way back to the original text.

The rules, in order: a base with combining marks is composed (Latin, Greek, Cyrillic, kana, hangul,
at most 8 marks at a time); each character is replaced by the model's own table (compatibility forms
folded, control characters dropped, white space and U+FFFD made a space); runs of spaces become one
space, none at the end, exactly one at the start. A surrogate counts as U+FFFD. Linear in the text.
"""

import re
import unicodedata
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

_MARKS = "\u0300-\u036f\u3099\u309a"
_VOWELS = "\u1161-\u1175"
_MAY_COMPOSE = re.compile(f"[{_MARKS}{_VOWELS}]")
_DECOMPOSED = re.compile(
    f".[{_MARKS}]{{1,8}}|[\u1100-\u1112][{_VOWELS}][\u11a8-\u11c2]?", re.DOTALL
)
_SPACES = re.compile(" {2,}")
_SURROGATES = range(0xD800, 0xE000)
_SPACE = ord(" ")


class Normaliser:
    """Applies the rules above; `replacements` is the model's table, by code point."""

    def __init__(self, replacements: Mapping[int, str]) -> None:
        unreadable = dict.fromkeys(_SURROGATES, replacements.get(0xFFFD, " "))
        self._table = {**replacements, **unreadable}
        self._lengths = np.ones(0x110000, dtype=np.uint8)
        for code_point, output in self._table.items():
            self._lengths[code_point] = len(output)

    def normalise(self, text: str) -> str:
        """A space and the words, single spaces between them; empty where there is no word."""
        words = _SPACES.sub(" ", _compose(text).translate(self._table)).strip(" ")
        return f" {words}" if words else ""

    def keeps(self, character: str) -> bool:
        """Whether a character becomes exactly one, no space, whatever stands around it."""
        replacement = self._table.get(ord(character), character)
        joins = unicodedata.combining(character) or _MAY_COMPOSE.match(character)
        return len(replacement) == 1 and replacement != " " and not joins

    def origins(self, text: str) -> NDArray[np.int64]:
        """For each character of `normalise(text)`, the offset in `text` where it comes from.

        Not decreasing. A space has the offset of the character after it, so that a token made of a
        space and a word starts where the word does.
        """
        composed, origins = _compose_with_origins(text)
        origins = np.repeat(origins, self._lengths[_code_points(composed)])
        is_space = _code_points(composed.translate(self._table)) == _SPACE
        # A space stays where a word follows it; the first word has its space added.
        is_word_start = ~is_space & np.concatenate(([True], is_space[:-1]))[: len(is_space)]
        copies = np.where(is_space, 0, np.where(is_word_start, 2, 1))
        return np.repeat(origins, copies)


def _compose(text: str) -> str:
    if text.isascii() or not _MAY_COMPOSE.search(text):
        return text
    return _DECOMPOSED.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)


def _compose_with_origins(text: str) -> tuple[str, NDArray[np.int64]]:
    """`_compose(text)` and the offset in `text` of each of its characters."""
    if text.isascii() or not _MAY_COMPOSE.search(text):
        return text, np.arange(len(text), dtype=np.int64)
    pieces: list[str] = []
    origins: list[NDArray[np.int64]] = []
    done = 0
    for match in _DECOMPOSED.finditer(text):
        start, end = match.span()
        composed = unicodedata.normalize("NFC", match[0])
        pieces += [text[done:start], composed]
        places = np.minimum(np.arange(len(composed), dtype=np.int64), end - start - 1)
        origins += [np.arange(done, start, dtype=np.int64), start + places]
        done = end
    origins.append(np.arange(done, len(text), dtype=np.int64))
    return "".join([*pieces, text[done:]]), np.concatenate(origins)


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
