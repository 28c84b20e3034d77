"""Cutting a single file, with or without an older one's chunks to reuse."""

import os
from dataclasses import dataclass
from pathlib import Path

from variorum.chunking import chunker_from_spec, lay_out
from variorum.chunking.versions import algorithm_of
from variorum.door.index import Index
from variorum.door.reading import file_bytes, not_a_file
from variorum.formats import decode, parse
from variorum.records.arguments import place
from variorum.records.errors import InputError
from variorum.records.layout import Layout, PreviousLayout, Recipe
from variorum.records.text import Revision, Text
from variorum.sources.naming import content_type_of
from variorum.sync.target import Settings


@dataclass(frozen=True, slots=True)
class CutChunk:
    """A chunk of a cut file; `tokens` counts its input as sent. `reused`: the old file has it."""

    start: int
    end: int
    tokens: int
    heading_path: tuple[str, ...]
    reused: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """How one file is cut. `reused_tokens` is None where no older file was given.

    `fallback` says why a simpler parser read it, or is empty.
    """

    path: str
    recipe: str
    chunks: tuple[CutChunk, ...]
    fallback: str = ""
    reused_tokens: int | None = None

    def as_fields(self) -> dict[str, object]:
        """The cut as JSON fields."""
        fields: dict[str, object] = {
            "path": self.path,
            "recipe": self.recipe,
            "fallback": self.fallback,
            "chunks": [
                {
                    "start": chunk.start,
                    "end": chunk.end,
                    "tokens": chunk.tokens,
                    "heading_path": list(chunk.heading_path),
                    **({} if self.reused_tokens is None else {"reused": chunk.reused}),
                }
                for chunk in self.chunks
            ],
        }
        if self.reused_tokens is not None:
            fields["reused_tokens"] = self.reused_tokens
        return fields


def cut_file(index: Index, path: str, chunker: str | None, given: str | None) -> Cut:
    """Cut the file at `path` by `chunker`, or as configured; `given` is an older file to reuse.

    Raises:
        InputError: an unknown chunker, a bad parameter, or a file that is not text.
        NotFoundError: a file is not there.
        UnavailableError: a file cannot be read.
    """
    place("FILE", path)
    if given is not None:
        place("given", given)
    settings = index.settings
    chosen = chunker_from_spec(settings.chunker if chunker is None else chunker)
    spec = chosen.spec
    if given is not None and chosen.overlaps:
        raise _no_reuse(spec)
    fresh = _recipe(settings, spec, planner=False)
    if given is None:
        _, fallback, layout = _cut(Path(path), fresh, settings, None)
        return Cut(path, spec, _chunks(layout, frozenset()), fallback)
    old_text, _, old = _cut(Path(given), fresh, settings, None)
    previous = PreviousLayout(old_text.characters, old)
    planned = _recipe(settings, spec, planner=True)
    _, fallback, layout = _cut(Path(path), planned, settings, previous)
    chunks = _chunks(layout, frozenset(old.inputs))
    reused = sum(chunk.tokens for chunk in chunks if chunk.reused)
    return Cut(path, spec, chunks, fallback, reused)


def _no_reuse(spec: str) -> InputError:
    return InputError(
        f"no plan of reuse for overlapping chunks: {spec}",
        kind="planner-needs-no-overlap",
        subject=spec,
        expected="a chunker without overlap",
        found=spec,
        remedy="leave --given out, or set the overlap to 0",
    )


def _recipe(settings: Settings, spec: str, *, planner: bool) -> Recipe:
    recipe = settings.recipe
    return Recipe(
        chunker=spec,
        planner=planner,
        heading_depth=recipe.heading_depth,
        tokenizer=recipe.tokenizer,
        model=recipe.model,
        algorithm=algorithm_of(spec, planner=planner),
    )


def _chunks(layout: Layout, old_inputs: frozenset[str]) -> tuple[CutChunk, ...]:
    return tuple(
        CutChunk(chunk.start, chunk.end, chunk.tokens, chunk.heading_path, text in old_inputs)
        for chunk, text in zip(layout.chunks, layout.inputs, strict=True)
    )


def _cut(
    path: Path, recipe: Recipe, settings: Settings, previous: PreviousLayout | None
) -> tuple[Text, str, Layout]:
    """The file's text, why a simpler parser read it, and its layout."""
    content_type = content_type_of(os.fsencode(path))
    try:
        text = decode(Revision(_read(path), content_type))
    except InputError as error:
        error.subject = str(path)
        raise
    structure = parse(text, content_type)
    embedder = settings.embedder
    layout = lay_out(text.characters, structure, recipe, embedder, previous, embedder.embed)
    return text, structure.fallback, layout


def _read(path: Path) -> bytes:
    if path.exists() and not path.is_file() and not path.is_dir():
        raise not_a_file(path, "a device, a pipe or a socket")
    return file_bytes(path)
