"""What was taken out of a store, or would be. The field names are stable: `--json` prints them."""

from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True, slots=True)
class Removed:
    """Rows that go. `payload_bytes` are those of the stored revisions and vectors among them;
    `outputs` are what users' functions made.
    """

    generations: int = 0
    revisions: int = 0
    layouts: int = 0
    chunks: int = 0
    inputs: int = 0
    payload_bytes: int = 0
    outputs: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether no row goes, and no generation is closed to readers."""
        return self == Removed()


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a removal did to the store's files: their bytes before and after."""

    store_bytes_before: int
    store_bytes_after: int


@dataclass(frozen=True, slots=True)
class Pruned:
    """What `prune` removed, or would: `oldest` is the first generation that is kept."""

    oldest: int
    removed: Removed
    dry_run: bool
    compaction: Compaction | None = None

    def as_fields(self) -> dict[str, object]:
        """The report as JSON fields."""
        compaction = None if self.compaction is None else asdict(self.compaction)
        return {
            "oldest": self.oldest,
            "dry_run": self.dry_run,
            "removed": asdict(self.removed),
            "compaction": compaction,
        }

    def with_compaction(self, compaction: Compaction) -> "Pruned":
        """The report of a prune whose space came back."""
        return replace(self, compaction=compaction)


@dataclass(frozen=True, slots=True)
class Collected:
    """What `gc` removed, or would: inputs that no chunk holds with their vectors, and outputs."""

    removed: Removed
    dry_run: bool
    compaction: Compaction | None = None

    def as_fields(self) -> dict[str, object]:
        """The report as JSON fields."""
        compaction = None if self.compaction is None else asdict(self.compaction)
        return {
            "dry_run": self.dry_run,
            "inputs": self.removed.inputs,
            "outputs": self.removed.outputs,
            "payload_bytes": self.removed.payload_bytes,
            "compaction": compaction,
        }


@dataclass(frozen=True, slots=True)
class Erased:
    """What `erase` removed of a document.

    `shared_with` are the other documents that hold one of its revisions, a copy or an older name;
    they keep it. `probes` strings of its bytes were searched for in the store's files afterwards;
    none was found but where a row of another document holds it too (`probes_shared`).
    """

    document: str
    removed: Removed
    shared_with: tuple[str, ...]
    probes: int
    probes_shared: int
    compaction: Compaction

    def as_fields(self) -> dict[str, object]:
        """The report as JSON fields."""
        return {**asdict(self), "shared_with": list(self.shared_with)}
