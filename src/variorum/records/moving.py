"""What an export, an import and a backup did. The field names are stable: `--json` prints them."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Moved:
    """A collection in a file, or out of one: its newest generation, and the rows of each table.

    `sha256` is of the file's lines before the last, which states it.
    """

    file: str
    collection: str
    generation: int
    rows: int
    file_bytes: int
    sha256: str

    def as_fields(self) -> dict[str, object]:
        """The report as JSON fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A copy of a store, and the SHA-256 of its bytes. Every row of it was checked."""

    file: str
    file_bytes: int
    sha256: str

    def as_fields(self) -> dict[str, object]:
        """The report as JSON fields."""
        return asdict(self)
