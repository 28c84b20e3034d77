"""Chunkers as cutters: ours by spec, each document cut afresh, and splitters of other libraries."""

from collections.abc import Sequence

from variorum.chunking import Embed, chunker_from_spec, lay_out
from variorum.chunking.versions import algorithm_of
from variorum.formats import parse
from variorum.lab.peers import PEERS
from variorum.lab.questions.records import Reading
from variorum.lab.recall.units import Cutter, Piece
from variorum.lab.subjects import subject
from variorum.lab.versions import Version
from variorum.records.errors import InputError
from variorum.records.layout import Recipe
from variorum.records.protocols import Embedder
from variorum.records.text import Span, Text


def canonical(spec: str) -> str:
    """The spec of a chunker of ours or of a peer with every setting.

    Raises:
        InputError: kind `unknown-chunker` or `bad-parameter`; the planner has no place here, since
            nothing was cut before.
    """
    if spec.rstrip().endswith("planner"):
        raise InputError(
            "the planner needs a layout to plan from, and here every document is cut afresh",
            kind="bad-parameter",
            subject=spec,
            expected="a chunker alone",
            found=spec,
            remedy=f"name {spec.partition('+')[0].strip()} alone",
        )
    name = spec.partition("(")[0].strip()
    return subject(spec).spec if name in PEERS else chunker_from_spec(spec).spec


def cutter_of(spec: str, embedder: Embedder, embed: Embed, heading_depth: int = 0) -> Cutter:
    """How a spec cuts; `embed` gives vectors to a chunker that compares meanings.

    Raises:
        InputError: as `canonical`.
    """
    if canonical(spec).partition("(")[0] in PEERS:
        return _peer(spec, embedder)
    recipe = recipe_of(spec, embedder, heading_depth)

    def cut(reading: Reading) -> Sequence[Piece]:
        structure = parse(Text(reading.characters), reading.content_type)
        layout = lay_out(reading.characters, structure, recipe, embedder, None, embed)
        return [
            Piece(Span(chunk.start, chunk.end), text)
            for chunk, text in zip(layout.chunks, layout.inputs, strict=True)
        ]

    return cut


def recipe_of(spec: str, embedder: Embedder, heading_depth: int = 0) -> Recipe:
    """The recipe of a fresh layout by a chunker of ours.

    Raises:
        InputError: kind `unknown-chunker` or `bad-parameter`.
    """
    ours = chunker_from_spec(spec).spec
    return Recipe(
        ours,
        planner=False,
        heading_depth=heading_depth,
        tokenizer=embedder.tokenizer.fingerprint,
        model=embedder.identity.fingerprint,
        algorithm=algorithm_of(ours, planner=False),
    )


def recipe_text(spec: str, embedder: Embedder, heading_depth: int = 0) -> str:
    """What a record says of a cutter: the recipe's fingerprint, or a peer's spec and version."""
    if canonical(spec).partition("(")[0] in PEERS:
        return subject(spec).recipe
    return recipe_of(spec, embedder, heading_depth).fingerprint


def _peer(spec: str, embedder: Embedder) -> Cutter:
    one = subject(spec)

    def cut(reading: Reading) -> Sequence[Piece]:
        version = Version(reading.characters, reading.content_type, embedder.tokenizer)
        found = one.fresh().cut(version, embedder)
        return [Piece(span, text) for span, text in zip(found.spans, found.inputs, strict=True)]

    return cut
