"""What a repair may turn to: the sources as they are configured, and the models by their specs."""

from collections.abc import Callable

from variorum.door.choosing import Sources, build
from variorum.records.protocols import Embedder, Source
from variorum.store.models import model_spec_of
from variorum.store.store import Store


def sources_of(sources: Sources) -> list[Source]:
    """Every configured source, of whichever collection; without a configuration, the known ones."""
    configured = list(sources.config.sources.values())
    return [build(one) for one in configured or sources.chosen(None, ())]


def embedder_of(
    store: Store,
    fingerprint: str,
    configured: Callable[[], Embedder],
    load: Callable[[str], Embedder],
) -> Embedder | None:
    """The model of a fingerprint: the configured one, or by the spec that the store has of it.

    None where the store knows no such model, or its spec gives another one by now.
    """
    mine = configured()
    if mine.identity.fingerprint == fingerprint:
        return mine
    with store.reading() as connection:
        spec = model_spec_of(connection, fingerprint)
    found = load(spec) if spec else None
    return found if found and found.identity.fingerprint == fingerprint else None
