"""Laying documents out, several at once: the work of a plan that needs no store."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import TypeVar

from variorum.access.narrowing import KEY, checked_claims, unreadable_claims
from variorum.chunking import Embed, lay_out
from variorum.formats import decode, parse
from variorum.records.layout import Layout, PreviousLayout
from variorum.records.text import Revision, Structure
from variorum.sync.outlines import outline_of
from variorum.sync.target import Settings

THREADS = 2
AHEAD = 4
"""Documents in work at once; what a plan holds in memory beside the one being staged."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Task:
    """A document to lay out. `is_known`: its layout is stored, so only its metadata is read."""

    revision: Revision
    previous: PreviousLayout | None = None
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class Laid:
    """A document's own metadata, its layout unless that is known, and why its parser fell back.

    `outline` is where its sections lie.
    """

    metadata: dict[str, Mapping[str, object]]
    layout: Layout | None
    fallback: str = ""
    outline: Sequence[tuple[int, int, Sequence[str]]] = ()


def lay(task: Task, settings: Settings, embed: Embed | None = None) -> Laid:
    """Decode, parse and cut one document.

    Raises:
        InputError: the content is no text, or text in no encoding that is known, its front matter
            cannot be read and might narrow access, or the recipe or the model refuses a block or a
            window.
    """
    text = decode(task.revision)
    structure = parse(text, task.revision.content_type)
    metadata = metadata_of(structure)
    outline = outline_of(text.characters, structure)
    if task.is_known:
        return Laid(metadata, None, structure.fallback, outline)
    model = settings.embedder
    layout = lay_out(text.characters, structure, settings.recipe, model, task.previous, embed)
    return Laid(metadata, layout, structure.fallback, outline)


def metadata_of(structure: Structure) -> dict[str, Mapping[str, object]]:
    """What the document says of itself; whom it narrows itself to stands apart (invariant 8).

    Raises:
        InputError: it may narrow itself, and to whom or until when cannot be read.
    """
    metadata: dict[str, Mapping[str, object]] = {"document": dict(structure.metadata)}
    if structure.claims_fault:
        raise unreadable_claims(structure.claims_fault)
    if structure.claims:
        metadata["access"] = checked_claims(structure.claims[KEY])
    return metadata


def in_order(
    items: Iterable[T], work: Callable[[T], R], give_up: Callable[[], None]
) -> Iterator[tuple[T, Future[R]]]:
    """Each item with its work, in order; `items` is read in the caller's thread.

    Tokenizing leaves the interpreter free, so two threads keep two cores at it. Where the caller
    stops before the end, `give_up` is called, and the work begun is waited for.
    """
    waiting: deque[tuple[T, Future[R]]] = deque()
    pool = ThreadPoolExecutor(THREADS, "lay-out")
    try:
        for item in items:
            waiting.append((item, pool.submit(copy_context().run, work, item)))
            if len(waiting) > AHEAD:
                yield waiting.popleft()
        yield from waiting
    except BaseException:
        give_up()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
