"""JSON with the place of every value: what the standard library's decoder does not tell.

Strict RFC 8259: no comments, no trailing commas, no NaN. Not recursive.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from variorum.formats.pieces import first_filled

MAX_NESTING: Final = 200
"""Levels of arrays and objects that the scanner follows."""

_TOKEN: Final = re.compile(
    r"""[ \t\n\r]*+(?:
        (?P<string>"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
      | (?P<scalar>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?(?![0-9.])
                  |true|false|null)
      | (?P<mark>[\[\]{},:])
      | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
_CLOSES: Final = {"[": "]", "{": "}"}

Kind = Literal["string", "scalar", "[", "{"]


class JsonError(ValueError):
    """The text is not JSON; the message names the line."""


class Member(NamedTuple):
    """A value in its container: `start` is its key's place in an object, else its own."""

    key: str | None
    start: int
    value: "Value"


@dataclass(slots=True)
class Value:
    """A value at `start` to `end` of the source; `members` are those of an array or object."""

    kind: Kind
    start: int
    end: int
    members: list[Member] = field(default_factory=list)

    def get(self, key: str) -> "Value | None":
        """The member of an object under `key`, the last where it is given twice."""
        found = [member.value for member in self.members if member.key == key]
        return found[-1] if found else None


class DecodedString(NamedTuple):
    """A string's characters and the map back to where each is written."""

    characters: str
    start: int
    decoded: list[int]
    written: list[int]

    def place(self, offset: int) -> int:
        """Where the character at `offset` begins in the source; the quote for the first."""
        if offset == 0:
            return self.start
        index = bisect_right(self.decoded, offset) - 1
        return self.written[index] + offset - self.decoded[index]


def unquoted(source: str) -> str:
    """The characters of a string token; lone surrogates, which no text holds, as U+FFFD."""
    value: str = json.loads(source)
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def decoded_string(characters: str, value: Value) -> DecodedString:
    """A string with its map. Linear in the string."""
    decoded, written = [0], [value.start + 1]
    pending_high = False
    for escape in _ESCAPE.finditer(characters, value.start + 1, value.end - 1):
        code = int(escape[1], 16) if escape[1] else 0
        run = escape.start() - written[-1]
        is_pair = pending_high and run == 0 and 0xDC00 <= code < 0xE000
        decoded.append(decoded[-1] + run + (0 if is_pair else 1))
        written.append(escape.end())
        pending_high = 0xD800 <= code < 0xDC00
    return DecodedString(
        unquoted(characters[value.start : value.end]), value.start, decoded, written
    )


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def _tokens(characters: str) -> Iterator[_Token]:
    position = 0
    while True:
        match = _TOKEN.match(characters, position)
        if match is None or match.lastgroup is None:
            raise _bad(characters, first_filled(characters, position, len(characters)))
        kind = match.lastgroup
        yield _Token(kind, match[kind], match.start(kind), match.end())
        if kind == "end":
            return
        position = match.end()


def _bad(characters: str, position: int) -> JsonError:
    line = characters.count("\n", 0, position) + 1
    return JsonError(f"not JSON at line {line}")


class _Builder:
    """Puts values where they belong."""

    def __init__(self, characters: str) -> None:
        self._characters = characters
        self._open: list[Value] = []
        self.root: Value | None = None
        self._key: _Token | None = None
        self._needs = "value"

    @property
    def is_whole(self) -> bool:
        """Whether the value has ended, so that nothing may follow."""
        return self._needs == "nothing"

    def take(self, token: _Token) -> None:
        """The next token."""
        # An object's member is: key, colon, value; then a comma or the end.
        if token.kind == "mark" and token.text in "]}":
            self._close(token)
        elif self._needs in ("key", "first key") and token.kind == "string":
            self._key, self._needs = token, ":"
        elif token.kind == "mark" and token.text in ":,":
            self._separate(token)
        elif self._needs in ("value", "first value") and token.kind != "end":
            self._add(token)
        else:
            raise _bad(self._characters, token.start)

    def _add(self, token: _Token) -> None:
        if token.kind == "mark":
            kind: Kind = "[" if token.text == "[" else "{"
        else:
            kind = "string" if token.kind == "string" else "scalar"
        value = Value(kind, token.start, token.end)
        if self._open:
            key = unquoted(self._key.text) if self._key else None
            start = self._key.start if self._key else token.start
            self._open[-1].members.append(Member(key, start, value))
        else:
            self.root = value
        self._key = None
        if token.kind != "mark":
            self._needs = "separator" if self._open else "nothing"
            return
        self._open.append(value)
        if len(self._open) > MAX_NESTING:
            raise JsonError(f"nested over {MAX_NESTING} levels deep")
        self._needs = "first value" if kind == "[" else "first key"

    def _separate(self, token: _Token) -> None:
        if token.text == ":" and self._needs == ":":
            self._needs = "value"
        elif token.text == "," and self._needs == "separator":
            self._needs = "value" if self._open[-1].kind == "[" else "key"
        else:
            raise _bad(self._characters, token.start)

    def _close(self, token: _Token) -> None:
        fits = self._needs in ("separator", "first value", "first key")
        if not (fits and self._open and _CLOSES[self._open[-1].kind] == token.text):
            raise _bad(self._characters, token.start)
        self._open.pop().end = token.end
        self._needs = "separator" if self._open else "nothing"


def scan(characters: str) -> Value:
    """The value that a JSON text is. Linear.

    Raises:
        JsonError: the text is not JSON, or nested over `MAX_NESTING` levels deep.
    """
    builder = _Builder(characters)
    for token in _tokens(characters):
        if token.kind == "end" and builder.root and builder.is_whole:
            return builder.root
        builder.take(token)
    raise JsonError("not JSON")  # pragma: no cover - the last token ends the loop
