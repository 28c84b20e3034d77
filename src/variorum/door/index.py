"""The one door: plan, sync, search, show, and every question about what was published."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from variorum.access.principals import Principal, acting_as
from variorum.door.asking import Asking
from variorum.door.config import (
    find_config,
    load_config,
)
from variorum.door.keeping import Keeping
from variorum.door.syncing import PlanView, Syncing
from variorum.embedding.guarded import Guarded
from variorum.records.arguments import (
    place,
    words,
)
from variorum.records.derivations import Function, derivations
from variorum.records.protocols import Embedder, Reranker

__all__ = ["Index", "PlanView", "open_index"]


def open_index(
    folder: str | Path = ".",
    *,
    store: str | Path | None = None,
    config: str | Path | None = None,
    collection: str | None = None,
    embedder: Embedder | None = None,
    model: str | None = None,
    principal: Principal | str | None = None,
    reranker: Reranker | None = None,
    derive: Mapping[str, Function] | None = None,
    derive_sections: Mapping[str, Function] | None = None,
) -> "Index":
    """Open the index configured in `folder`, by its variorum.toml where there is one.

    `store` names another store folder, `config` another file, `collection` one of several.
    `model`, a spec, or `embedder`, an object, replaces the configured model, `reranker`, an object,
    the configured reranker. Nothing is read or made before it is needed.

    `derive` are functions over a chunk's text, by name and version, such as
    `{"summary@1": summarise}`, `derive_sections` functions over the text of the section that a
    chunk begins in; both replace the configured ones. A sync runs each over every text
    that it was never run over under that version, and a hit has what it made. A function that
    raises holds the document; one that raises `UnavailableError` ends the sync.

    `principal` is who reads: the local owner where it is None; a verified identity (see
    `TokenVerifier`); or, as text such as `user:ann,group:staff`, whom the owner acts as.

    Raises:
        InputError: the configuration is not sound, or an argument is not what it should be.
        NotFoundError: `config` was named and is not there.
    """
    base = Path(place("folder", folder))
    found = find_config(base, config)
    chosen = None if store is None else Path(place("store", store))
    loaded = load_config(found, chosen or (None if found else base / ".variorum"))
    named = None if collection is None else words("collection", collection)
    given = None if embedder is None else Guarded.of(embedder)
    if isinstance(principal, Principal):
        loaded = loaded.of_tenant(principal.tenant)
    wanted = loaded.collection(named)
    if model is not None:
        wanted = replace(wanted, model=words("model", model))
    if principal is not None and not isinstance(principal, Principal):
        principal = acting_as(wanted.tenant, words("principal", principal))
    return Index(
        loaded,
        wanted,
        given,
        principal,
        is_model_named=model is not None,
        reranker=reranker,
        derive=derivations({} if derive is None else derive, derive_sections or {}),
    )


class Index(Syncing, Asking, Keeping):
    """One collection of one store. Searching and reading are safe from many threads at once.

    Every call is blocking; from async code, run it in a thread (`asyncio.to_thread`).
    """
