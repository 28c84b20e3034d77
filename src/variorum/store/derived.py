"""What users' functions made of chunks: kept by what they were given, read by generation."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Connection, bindparam, select, tuple_

from variorum.store.engine import write_transaction
from variorum.store.removals import require_nothing_removed
from variorum.store.schema import derivation, derived, generation, output
from variorum.store.seals import insert_rows, require_sound, unsound

DERIVATIONS = "derivations"
"""Where a generation's report says whose outputs it has: the version of each name."""

_OUTPUTS = (
    select(derivation.c.name, derivation.c.version, output.c.text)
    .select_from(
        derived.join(output, output.c.id == derived.c.output_id).join(
            derivation, derivation.c.id == derived.c.derivation_id
        )
    )
    .add_columns(*unsound(derived, output, derivation))
    .where(derived.c.layout_id == bindparam("layout"), derived.c.ordinal == bindparam("place"))
    .order_by(derivation.c.name)
)


def outputs_of(
    connection: Connection, layout_id: int, ordinal: int, versions: Mapping[str, str]
) -> dict[str, str]:
    """The outputs of a chunk, by the name of what made them, of the given stored versions.

    Raises:
        DamagedError: a row is not as it was written.
    """
    rows = connection.execute(_OUTPUTS, {"layout": layout_id, "place": ordinal})
    found = (require_sound(row, 3) for row in rows)
    return {name: text for name, version, text in found if versions.get(name) == version}


def record_output(
    connection: Connection, key: bytes, derivation_id: int, text: str, removal: int
) -> None:
    """Keep an output in a short transaction (as invariant 6 does vectors); one that is there stays.

    Raises:
        ConflictError: something was removed from the store since removal number `removal`.
    """
    with write_transaction(connection):
        require_nothing_removed(connection, removal)
        insert_rows(
            connection, output, [{"key": key, "derivation_id": derivation_id, "text": text}]
        )


def register_derivations(connection: Connection, named: Sequence[tuple[str, str]]) -> list[int]:
    """The ids of functions by name and version, inserted where they are new."""
    columns = tuple_(derivation.c.name, derivation.c.version)
    query = select(derivation.c.name, derivation.c.version, derivation.c.id).where(
        columns.in_(list(named))
    )
    with write_transaction(connection):
        insert_rows(connection, derivation, [{"name": n, "version": v} for n, v in named])
        found = {(name, version): one for name, version, one in connection.execute(query)}
    return [found[one] for one in named]


def versions_of(report: Mapping[str, object]) -> Mapping[str, str]:
    """Whose outputs a generation has, by its report: the version of each name."""
    found = report.get(DERIVATIONS)
    return found if isinstance(found, Mapping) else {}


def unkept_derivations(connection: Connection, oldest: Mapping[int, int]) -> set[int]:
    """The functions that no kept generation has outputs of; `oldest` is the first that each
    collection keeps.
    """
    used = {
        function
        for collection_id, number, function in _named(connection)
        if number >= oldest.get(collection_id, 1)
    }
    rows = connection.execute(select(derivation.c.id, derivation.c.name, derivation.c.version))
    return {row.id for row in rows if (row.name, row.version) not in used}


def derivation_problems(connection: Connection) -> Iterator[tuple[str, str]]:
    """Generations that name a function that the store does not know."""
    known = {
        (row.name, row.version)
        for row in connection.execute(select(derivation.c.name, derivation.c.version))
    }
    for collection_id, number, (name, version) in _named(connection):
        if (name, version) not in known:
            row = f"generation collection_id={collection_id} number={number}"
            yield row, f"has outputs of {name}@{version}, which has no row"


def note_derivations(connection: Connection, collection_id: int) -> None:
    """Within a transaction: a row for every function that a generation of a collection names.

    One that made nothing, or nothing that is kept, is named all the same.
    """
    named = {function for of, _, function in _named(connection) if of == collection_id}
    rows = [{"name": name, "version": version} for name, version in sorted(named)]
    if rows:
        insert_rows(connection, derivation, rows)


def _named(connection: Connection) -> Iterator[tuple[int, int, tuple[str, str]]]:
    """(collection, generation, function) of every function that a generation names."""
    query = select(generation.c.collection_id, generation.c.number, generation.c.report)
    for collection_id, number, report in connection.execute(query).all():
        for function in versions_of(report).items():
            yield collection_id, number, function
