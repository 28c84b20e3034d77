"""Splitters of other libraries behind one shape: a size, a tokenizer, and ranges of the text.

Each takes its size in the unit that its library takes, and none is asked for overlap. What a
library gives is laid back onto the source; what cannot be laid back is a failure of the document,
with its reason, never a silent repair. The libraries are the optional extra `peers`.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from variorum.lab.projection import NotProjectedError, project
from variorum.records.protocols import Tokenizer
from variorum.records.text import Span

Settings = Mapping[str, int]
Split = Callable[[str], list[Span]]


@dataclass(frozen=True, slots=True)
class Peer:
    """A splitter: its package, its settings with the defaults, and how it is made."""

    package: str
    defaults: Settings
    make: Callable[[Settings, Tokenizer], Split]


def _langchain(name: str) -> Callable[[Settings, Tokenizer], Split]:
    def make(settings: Settings, tokenizer: Tokenizer) -> Split:
        import langchain_text_splitters

        splitter = getattr(langchain_text_splitters, name)(
            chunk_size=settings["max_tokens"], chunk_overlap=0, length_function=tokenizer.count
        )
        return lambda text: project(text, splitter.split_text(text))

    return make


def _semantic_text_splitter(name: str) -> Callable[[Settings, Tokenizer], Split]:
    def make(settings: Settings, tokenizer: Tokenizer) -> Split:
        import semantic_text_splitter

        kind = getattr(semantic_text_splitter, name)
        splitter = kind.from_callback(tokenizer.count, settings["max_tokens"])
        return lambda text: [
            Span(start, start + len(chunk)) for start, chunk in splitter.chunk_indices(text)
        ]

    return make


def _semchunk(settings: Settings, tokenizer: Tokenizer) -> Split:
    from semchunk import chunkerify

    chunker = chunkerify(tokenizer.count, settings["max_tokens"], memoize=False)
    return lambda text: project(text, chunker(text))


def _llamaindex(settings: Settings, tokenizer: Tokenizer) -> Split:
    from llama_index.core.node_parser import SentenceSplitter

    def tokens(text: str) -> list[int]:
        return [0] * tokenizer.count(text)

    splitter = SentenceSplitter(
        chunk_size=settings["max_tokens"], chunk_overlap=0, tokenizer=tokens
    )
    return lambda text: project(text, splitter.split_text(text))


def _chonkie(settings: Settings, tokenizer: Tokenizer) -> Split:
    from chonkie import RecursiveChunker
    from chonkie.tokenizer import AutoTokenizer

    class Slices(AutoTokenizer):  # type: ignore[misc]
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

    chunker = RecursiveChunker(tokenizer=Slices(tokenizer), chunk_size=settings["max_tokens"])
    return lambda text: project(text, [chunk.text for chunk in chunker.chunk(text)])


def _cocoindex(settings: Settings, tokenizer: Tokenizer) -> Split:
    os.environ.setdefault("COCOINDEX_DISABLE_USAGE_TRACKING", "1")
    from cocoindex.ops.text import RecursiveSplitter

    splitter = RecursiveSplitter()

    def split(text: str) -> list[Span]:
        found = splitter.split(text, settings["max_bytes"], chunk_overlap=0, language="markdown")
        return [Span(one.start.char_offset, one.end.char_offset) for one in found]

    return split


def _haystack(settings: Settings, tokenizer: Tokenizer) -> Split:
    from haystack import Document
    from haystack.components.preprocessors import RecursiveDocumentSplitter

    splitter = RecursiveDocumentSplitter(
        split_length=settings["max_characters"],
        split_unit="char",
        separators=["\n\n", "\n", ". ", "。", " "],
    )

    def split(text: str) -> list[Span]:
        found = splitter.run([Document(content=text)])["documents"]
        return project(text, [one.content or "" for one in found])

    return split


def _steadlith(settings: Settings, tokenizer: Tokenizer) -> Split:
    from steadlith.chunk import CDCParams, chunk_text

    params = CDCParams(
        min_tokens=settings["min_tokens"],
        max_tokens=settings["max_tokens"],
        tokenizer_id=tokenizer.fingerprint[:16],
    )

    def split(text: str) -> list[Span]:
        found = chunk_text(text, params, token_counter=tokenizer.count).chunks
        return [Span(one.start_offset, one.end_offset) for one in found]

    return split


def _kara(settings: Settings, tokenizer: Tokenizer) -> Split:
    from kara import CharacterChunker, KARAUpdater

    updater: Any = KARAUpdater(CharacterChunker(chunk_size=settings["max_characters"]))
    known: list[Any] = []

    def split(text: str) -> list[Span]:
        """The layout of `text` given that of the text before it, which KARA keeps as its state."""
        if known:
            document = updater.update_collection(known[-1], [text]).new_chunked_doc
        else:
            document = updater.create_collection([text]).new_chunked_doc
        known.append(document)
        return project(text, document.get_chunk_contents())

    return split


PEERS: dict[str, Peer] = {
    "langchain-recursive": Peer(
        "langchain-text-splitters",
        {"max_tokens": 400},
        _langchain("RecursiveCharacterTextSplitter"),
    ),
    "langchain-markdown": Peer(
        "langchain-text-splitters", {"max_tokens": 400}, _langchain("MarkdownTextSplitter")
    ),
    "llamaindex-sentence": Peer("llama-index-core", {"max_tokens": 400}, _llamaindex),
    "chonkie-recursive": Peer("chonkie", {"max_tokens": 400}, _chonkie),
    "semchunk": Peer("semchunk", {"max_tokens": 400}, _semchunk),
    "semantic-text-splitter": Peer(
        "semantic-text-splitter", {"max_tokens": 440}, _semantic_text_splitter("TextSplitter")
    ),
    "semantic-text-splitter-markdown": Peer(
        "semantic-text-splitter", {"max_tokens": 440}, _semantic_text_splitter("MarkdownSplitter")
    ),
    "cocoindex-markdown": Peer("cocoindex", {"max_bytes": 1500}, _cocoindex),
    "haystack-recursive": Peer("haystack-ai", {"max_characters": 1200}, _haystack),
    "steadlith": Peer("steadlith", {"min_tokens": 176, "max_tokens": 352}, _steadlith),
    "kara": Peer("kara-toolkit", {"max_characters": 1200}, _kara),
}
"""Every splitter by the name that its spec begins with."""

STATEFUL = frozenset({"kara"})
"""Splitters whose layout depends on the one before: each document needs one of its own."""

BY_DEFAULT = tuple(name for name in PEERS if name != "kara")
"""What `--peers` adds: KARA takes minutes for one long page, so it runs where it is named."""

__all__ = ["BY_DEFAULT", "PEERS", "STATEFUL", "NotProjectedError", "Peer", "Settings", "Split"]
