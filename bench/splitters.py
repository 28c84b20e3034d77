"""Splitters of other libraries, their chunks laid back onto the text that they were cut from."""

import re
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise

from variorum.records.protocols import Tokenizer
from variorum.records.text import Span

Split = Callable[[str], list[Span]]

PACKAGES = (
    "semantic-text-splitter",
    "langchain-text-splitters",
    "semchunk",
    "chonkie",
    "kara-toolkit",
)


class NotProjectedError(Exception):
    """A chunk that does not stand in its source, white space apart."""


def installed_versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def project(text: str, chunks: Sequence[str]) -> list[Span]:
    """The range of each chunk in `text`, in order, blank ends left out and blank chunks too.

    Raises:
        NotProjectedError: a chunk is not there, after the one before it.
    """
    return list(_projected(text, chunks))


def _projected(text: str, chunks: Sequence[str]) -> Iterator[Span]:
    place = 0
    for number, chunk in enumerate(chunks):
        content = chunk.strip()
        if not content:
            continue
        start = text.find(content, place)
        end = start + len(content)
        if start < 0:
            pattern = re.compile(r"\s+".join(map(re.escape, content.split())))
            match = pattern.search(text, place)
            if match is None:
                raise NotProjectedError(f"chunk {number + 1} of {len(chunks)} is not in the text")
            start, end = match.span()
        yield Span(start, end)
        place = end


def semantic_markdown(size: int, tokenizer: Tokenizer) -> Split:
    from semantic_text_splitter import MarkdownSplitter

    splitter = MarkdownSplitter.from_callback(tokenizer.count, size)
    return lambda text: project(text, splitter.chunks(text))


def semantic_text(size: int, tokenizer: Tokenizer) -> Split:
    from semantic_text_splitter import TextSplitter

    splitter = TextSplitter.from_callback(tokenizer.count, size)
    return lambda text: project(text, splitter.chunks(text))


def langchain_recursive(size: int, tokenizer: Tokenizer) -> Split:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=0, length_function=tokenizer.count
    )
    return lambda text: project(text, splitter.split_text(text))


def langchain_markdown(size: int, tokenizer: Tokenizer) -> Split:
    from langchain_text_splitters import MarkdownTextSplitter

    splitter = MarkdownTextSplitter(
        chunk_size=size, chunk_overlap=0, length_function=tokenizer.count
    )
    return lambda text: project(text, splitter.split_text(text))


def semchunk(size: int, tokenizer: Tokenizer) -> Split:
    from semchunk import chunkerify

    chunker = chunkerify(tokenizer.count, size, memoize=False)
    return lambda text: project(text, chunker(text))


def chonkie_recursive(size: int, tokenizer: Tokenizer) -> Split:
    from chonkie import RecursiveChunker
    from chonkie.tokenizer import AutoTokenizer

    class Slices(AutoTokenizer):
        """Tokens as slices of their text, so that a decoded run of them is the text again."""

        def encode(self, text: str) -> list[str]:
            starts = [0, *tokenizer.starts(text)[1:], len(text)]
            return [text[start:end] for start, end in pairwise(starts)]

        def decode_batch(self, token_sequences: Sequence[Sequence[str]]) -> list[str]:
            return ["".join(tokens) for tokens in token_sequences]

        def count_tokens(self, text: str) -> int:
            return tokenizer.count(text)

        def count_tokens_batch(self, texts: Sequence[str]) -> list[int]:
            return tokenizer.count_many(texts)

    chunker = RecursiveChunker(tokenizer=Slices(tokenizer), chunk_size=size)
    return lambda text: project(text, [chunk.text for chunk in chunker.chunk(text)])


SPLITTERS: dict[str, Callable[[int, Tokenizer], Split]] = {
    "semantic-text-splitter Markdown": semantic_markdown,
    "semantic-text-splitter Text": semantic_text,
    "LangChain Recursive": langchain_recursive,
    "LangChain Markdown": langchain_markdown,
    "semchunk": semchunk,
    "Chonkie Recursive": chonkie_recursive,
}
"""Each by name: from a size in tokens and a tokenizer to a function that cuts."""
