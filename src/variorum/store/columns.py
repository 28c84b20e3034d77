"""Whether each stored value is of its column's type."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    case,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.types import JSON, Boolean, LargeBinary

from variorum.store.seals import named, sealed_columns

_SHAPES = {
    **dict.fromkeys(("metadata", "settings", "report"), "object"),
    **dict.fromkeys(("heading_path", "outline", "sections", "rules", "citations"), "array"),
}
"""What a JSON column holds, by its name."""


def ill_typed(connection: Connection, table: Table) -> Iterator[tuple[str, str]]:
    """(row and column, what it holds) of every value that its column cannot hold. One scan."""
    columns = sealed_columns(table)
    for row, *kinds in connection.execute(_ill_typed(table)):
        for column, kind in zip(columns, kinds, strict=True):
            if kind is not None:
                shown = f"{kind}, not JSON of its shape" if isinstance(column.type, JSON) else kind
                yield f"{row} {column.name}", f"holds {shown}"


@cache
def _ill_typed(table: Table) -> Select[Any]:
    """Each row with a value that does not fit, and by column its kind, or null where it fits."""
    wrong = [(~_fits(column), func.typeof(column)) for column in sealed_columns(table)]
    kinds = (case(one, else_=None).label(f"kind_{place}") for place, one in enumerate(wrong))
    return select(named(table), *kinds).where(or_(*(unfit for unfit, _ in wrong)))


def _fits(column: Column[Any]) -> ColumnElement[bool]:
    fits: ColumnElement[bool] = func.typeof(column) == _engine_type(column)
    if isinstance(column.type, JSON):
        shape = func.json_type(column) == _SHAPES[column.name]
        is_text = func.typeof(column) == "text"
        fits = case((is_text & (func.json_valid(column) == 1), shape), else_=_FALSE)
    if isinstance(column.type, Boolean):
        fits = fits & func.quote(column).in_(["0", "1"])
    return fits | column.is_(None) if column.nullable else fits


_FALSE: ColumnElement[bool] = literal_column("0")


def _engine_type(column: Column[Any]) -> str:
    if isinstance(column.type, LargeBinary):
        return "blob"
    return "text" if column.type.python_type is str else "integer"
