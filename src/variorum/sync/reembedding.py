"""Embedding again what has no vector any more: the input's text is there, and hashes to its key."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from variorum.embedding.jobs import Embedded, Outcome, embed_and_keep
from variorum.records.errors import UnavailableError, VariorumError
from variorum.records.protocols import Embedder
from variorum.records.repairs import Mended
from variorum.store.engine import write_transaction
from variorum.store.lexicon import within
from variorum.store.rewriting import Unembedded, put_vectors, unembedded, vector_name
from variorum.store.store import Store
from variorum.store.vectors import Precision
from variorum.sync.probing import require_stored_model
from variorum.sync.remaking import EmbedderOf, readable
from variorum.sync.slices import key_of, passage_of

EMBEDDED_AGAIN = "embedded again"


@dataclass(slots=True)
class Reembedding:
    """What is embedded again in one repair, and what that came to."""

    store: Store
    embedder_of: EmbedderOf
    precision: Precision
    dry_run: bool
    inputs: int = 0
    tokens: int = 0
    reasons: list[str] = field(default_factory=list)

    def model(self, fingerprint: str) -> Embedder | None:
        """The model of a fingerprint; where it is not at hand, `reasons` may say why."""
        try:
            return self.embedder_of(fingerprint)
        except VariorumError as error:
            self.reasons.append(f"{error.message}: {error.remedy}")
            return None

    def vectors(self, connection: Connection) -> Iterator[Mended]:
        """Embed every input of a chunk that has no sound vector; each answer is kept at once."""
        with within(connection):
            missing = unembedded(connection)
        for fingerprint in dict.fromkeys(one.fingerprint for one in missing):
            embedder = self.model(fingerprint)
            if embedder is not None:
                mine = (one for one in missing if one.fingerprint == fingerprint)
                passages = [(one, text) for one in mine if (text := _passage(connection, one))]
                yield from self._embed(connection, embedder, passages)

    def _embed(
        self, connection: Connection, embedder: Embedder, passages: list[tuple[Unembedded, str]]
    ) -> list[Mended]:
        if self.dry_run:
            return self._done([one for one, _ in passages])
        made: list[Mended] = []

        def keep(outcomes: Sequence[Outcome[Unembedded]]) -> None:
            new = [one for one in outcomes if isinstance(one, Embedded)]
            with write_transaction(connection):
                put_vectors(
                    connection, {one.key.input_id: one.vector for one in new}, self.precision
                )
            made.extend(self._done([one.key for one in new]))

        try:
            require_stored_model(self.store, embedder)
            embed_and_keep(embedder, passages, keep)
        except UnavailableError as error:
            self.reasons.append(f"{error.message}: {error.remedy}")
        return made

    def _done(self, inputs: list[Unembedded]) -> list[Mended]:
        self.inputs += len(inputs)
        self.tokens += sum(one.tokens for one in inputs)
        return [Mended(vector_name(one.input_id), EMBEDDED_AGAIN) for one in inputs]


def _passage(connection: Connection, one: Unembedded) -> str:
    """The text of an input; nothing where it does not hash to its key."""
    with within(connection):
        found = readable(connection, one.layout_id)
    if found is None:
        return ""
    layout, text = found
    chunk = next(chunk for chunk in layout.chunks if chunk.ordinal == one.ordinal)
    if key_of(layout, chunk, text) != one.key:
        return ""
    return passage_of(chunk, text.characters)
