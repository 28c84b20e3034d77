"""How the tokens of a model behind an address are counted."""

from collections.abc import Sequence
from pathlib import Path

from variorum.embedding.e5.embedder import E5Embedder
from variorum.embedding.local.folder import ModelFolder
from variorum.embedding.local.tokenizer import FileTokenizer
from variorum.records.protocols import TokenCounter, Tokenizer

BYTES = "bytes"
E5 = "e5-small"
MOST_TOKENS = 1_000_000
"""The limit of a model whose limit does not matter."""


class ByteTokenizer:
    """One token a byte of UTF-8: no tokenizer of bytes counts more, most count far fewer.

    Safe where the model's own is not at hand, and dear: texts are cut shorter than need be.
    """

    @property
    def fingerprint(self) -> str:
        """Identity of the rule, as long as a hash."""
        return b"bytes of UTF-8".hex().ljust(64, "0")

    def count(self, text: str) -> int:
        """Bytes of `text`."""
        return len(text.encode("utf-8", "surrogatepass"))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each."""
        return [self.count(text) for text in texts]

    def starts(self, text: str) -> list[int]:
        """Where each byte's character stands."""
        if text.isascii():
            return list(range(len(text)))
        return [place for place, one in enumerate(text) for _ in range(self.count(one))]


def named_tokenizer(name: str, base: Path, max_tokens: int) -> tuple[Tokenizer, int]:
    """The tokenizer of that name, and the special tokens that its model takes around an input.

    A name is `bytes`, `e5-small`, or a `tokenizer.json` or the folder of one, from `base`.

    Raises:
        NotFoundError: no such file.
    """
    if name == BYTES:
        return ByteTokenizer(), 0
    if name == E5:
        return E5Embedder().tokenizer, 2
    path = (base / Path(name).expanduser()).absolute()
    file = path if path.is_file() else ModelFolder(path).require("tokenizer.json")
    tokenizer = FileTokenizer(file, max_tokens)
    return tokenizer, tokenizer.special_tokens


def named_counter(name: str, base: Path) -> TokenCounter:
    """The tokenizer of that name, for counting alone.

    Raises:
        NotFoundError: as `named_tokenizer`.
    """
    return named_tokenizer(name, base, MOST_TOKENS)[0]
