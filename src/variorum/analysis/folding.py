"""One form for what readers take for the same: width, compatibility forms, Chinese variants.

Every character is folded on its own, never by the phrase it stands in: otherwise a part of a word
would fold to something else than the word, and would not be found in it.
"""

import unicodedata
from functools import cache
from importlib.metadata import version

from opencc import OpenCC

CHARACTER_MAP = f"opencc {version('opencc')} t2s"
"""Where the map from traditional to simplified characters comes from."""

_APOSTROPHES = dict.fromkeys(map(ord, "\u2019\u2018\u02bc\uff07"), "'")


@cache
def _converter() -> OpenCC:
    return OpenCC("t2s")


class _Simplified(dict[int, str | int]):
    """The simplified form of each character, asked for once."""

    def __missing__(self, code: int) -> str | int:
        found: str | int = code
        if code >= 0x2E80:
            found = _settled(chr(code))
        self[code] = found
        return found


def _settled(character: str) -> str:
    """A few characters convert to one that converts again; none for ever."""
    for _ in range(4):
        simpler = str(_converter().convert(character))
        if simpler == character:
            break
        character = simpler
    return character


_SIMPLIFIED = _Simplified(_APOSTROPHES)


def fold(text: str) -> str:
    """The text in Unicode's compatibility form, with Chinese in simplified characters.

    Case is kept: it tells the parts of an identifier apart. Linear.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).translate(_SIMPLIFIED)
