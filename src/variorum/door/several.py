"""What can be asked of every configured collection at once."""

from functools import partial
from pathlib import Path

from variorum.chunking import chunker_from_spec
from variorum.door.config import find_config, load_config
from variorum.door.doctor import Check, examine
from variorum.door.index import Index, open_index
from variorum.records.errors import InputError


def open_each(
    *, store: str | None, config: str | None, collection: str | None, model: str | None
) -> list[Index]:
    """An index of the named collection, or of every configured one, in the current folder.

    Raises:
        InputError: the configuration is not sound, or has no such collection.
        NotFoundError: `config` was named and is not there.
    """
    names = [collection]
    if collection is None:
        names = [*load_config(find_config(Path(), config), None).collections]
    return [open_index(store=store, config=config, collection=name, model=model) for name in names]


def examine_each(indexes: list[Index]) -> list[Check]:
    """Check the machine once, and what the collections are configured with, each setting once.

    Raises:
        DeniedError: the principal is not the owner.
    """
    indexes[0].principal.require_owner("examine the machine")
    loads = [(index.collection, partial(getattr, index, "embedder")) for index in indexes]
    return examine(indexes[0].config, loads)


def cutting_alike(indexes: list[Index], chunker: str | None) -> Index:
    """The index to cut a file with, where they all cut it alike; `chunker` is in place of theirs.

    Raises:
        InputError: they differ in the chunker, the headings put before a chunk, or the model.
    """
    differing = [
        name
        for name, values in (
            ("chunker", [chunker or _chunker_of(index) for index in indexes]),
            ("heading_depth", [index.collection.heading_depth for index in indexes]),
            ("model", [index.model_spec for index in indexes]),
        )
        if len(set(values)) > 1
    ]
    if not differing:
        return indexes[0]
    known = ", ".join(index.collection.name for index in indexes)
    raise InputError(
        f"the collections differ in {' and '.join(differing)}: name one",
        kind="unknown-collection",
        expected=f"one of: {known}",
        found="none named",
        remedy="pass --collection NAME",
    )


def _chunker_of(index: Index) -> str:
    return chunker_from_spec(index.collection.chunker).spec
