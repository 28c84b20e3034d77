"""What a repair did to a store, or would do. The field names are stable: `--json` prints them."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Mended:
    """A row that is as it was written again, and how that came about: see the reference."""

    subject: str
    how: str


@dataclass(frozen=True, slots=True)
class Left:
    """A finding that stands after a repair, and what can be done about it."""

    kind: str
    subject: str
    found: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """What `repair` did, or would: `embedded_inputs` of `embedded_tokens` tokens were sent to
    the model. Of a dry run `left` is what would stand if the model and the sources answer.
    """

    dry_run: bool
    findings: int
    mended: tuple[Mended, ...] = ()
    left: tuple[Left, ...] = ()
    embedded_inputs: int = 0
    embedded_tokens: int = 0

    def as_fields(self) -> dict[str, object]:
        """The report as JSON fields."""
        return {
            "dry_run": self.dry_run,
            "findings": self.findings,
            "mended": [asdict(one) for one in self.mended],
            "left": [asdict(one) for one in self.left],
            "embedded": {"inputs": self.embedded_inputs, "tokens": self.embedded_tokens},
        }
