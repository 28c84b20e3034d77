"""The terms of a text.

Text without spaces between its words gives overlapping pairs of characters, and the last character
of a run on its own: whatever stands in the text is found by any two of its characters that stand
together, and by any one as the beginning of a pair. Other text gives words; what holds them
together (a path, an identifier, a number, a date) gives itself, its parts, and theirs. A word of
Latin letters gives its English stem.
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import version
from typing import NamedTuple

import regex
from Stemmer import Stemmer

from variorum.analysis.folding import CHARACTER_MAP, fold

ANALYZER = f"variorum terms 1, {CHARACTER_MAP}, PyStemmer {version('PyStemmer')} english"
"""Identity of the rules: terms made under another are not compared with these."""

MAX_CHARACTERS = 80
"""What is longer is known by its beginning."""

MAX_PARTS = 5
"""A word of more letters-and-digits parts is a hash or a key, found as a whole."""

_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\u3005-\u3007\u30fc"
)
_WORD = rf"[\w--[_{_UNSPACED}]]"
_JOINT = r"[_.\-/\\:@#+'=&~,%$?]{1,3}"
_RUN = regex.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)|{_WORD}+(?:{_JOINT}{_WORD}+)*(?:\+\+|\#)?",
    regex.VERSION1,
)
_GROUPED_NUMBER = regex.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_JOINTS = tuple(regex.compile(joint) for joint in (r"[/\\:@=&~,%$?#]+", r"\.+", r"[-_'+]+"))
"""What parts a compound, the outermost first."""
_PART = regex.compile(r"\p{Lu}+(?![\p{Ll}])|\p{Lu}?\p{Ll}+|\d+|[^\p{Lu}\p{Ll}\d]+")


class QueryTerm(NamedTuple):
    """A term to look for; with `is_prefix`, every term that begins with it."""

    text: str
    is_prefix: bool


def terms(text: str) -> Counter[str]:
    """Every term of a document's text, with how often it occurs. Linear."""
    found: list[str] = []
    for run, is_unspaced in _runs(text):
        found += _pairs(run) if is_unspaced else _compound(run)
    return Counter(found)


def query_terms(text: str) -> Counter[QueryTerm]:
    """What to look for in order to find a query's text, with how often it occurs in it. Linear.

    A run of unspaced text is looked for by its pairs; a character that stands alone, by every pair
    that begins with it.
    """
    counts: Counter[QueryTerm] = Counter()
    for run, is_unspaced in _runs(text):
        found = _compound(run)
        if is_unspaced:
            found = tuple(_pairs(run)[:-1]) if len(run) > 1 else (run,)
        counts.update(QueryTerm(term, is_unspaced and len(term) == 1) for term in found)
    return counts


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    for match in _RUN.finditer(fold(text)):
        yield match.group(), match.lastgroup is not None


def _pairs(run: str) -> list[str]:
    return [*map(str.__add__, run, run[1:]), run[-1]]


@lru_cache(maxsize=16_384)
def _compound(run: str) -> tuple[str, ...]:
    """A compound, its parts, and theirs, each once at every level where it is another."""
    if _GROUPED_NUMBER.fullmatch(run):
        run = run.replace(",", "")
    return tuple(_settled(term) for term in (run, *_parts(run, 0)))


def _settled(term: str) -> str:
    """The form that a word has as a term. Without a stem, `opens` would not find `open`."""
    term = term.casefold()[:MAX_CHARACTERS]
    # A stemmer works in its own fields: one each, so that threads do not meet in it.
    return str(Stemmer("english", 0).stemWord(term)) if term.isascii() and term.isalpha() else term


def _parts(run: str, level: int) -> Iterator[str]:
    if level == len(_JOINTS):
        yield from _letters_and_digits(run)
        return
    pieces = [piece for piece in _JOINTS[level].split(run) if piece]
    for piece in pieces:
        if piece != run:
            yield piece
        yield from _parts(piece, level + 1)


def _letters_and_digits(word: str) -> list[str]:
    """`HTTPServer2` in three; nothing where there is one part, or more than a name has."""
    if word.isdigit() or (word.islower() and word.isalpha()):
        return []
    parts = _PART.findall(word)
    return parts if 1 < len(parts) <= MAX_PARTS else []
