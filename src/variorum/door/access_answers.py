"""What the owner is told about access. Field names are stable: `--json` prints them."""

from collections.abc import Iterator
from dataclasses import dataclass

from variorum.access.dates import Interval, iso_of
from variorum.access.filter import AccessFilter
from variorum.access.policy import Section
from variorum.access.standing import Standing
from variorum.records.names import DocumentName


@dataclass(frozen=True, slots=True)
class SectionAccess:
    """A section that fewer may read; `readers` None where it has the document's."""

    heading: tuple[str, ...]
    readers: tuple[str, ...] | None
    interval: Interval

    @classmethod
    def of(cls, section: Section) -> "SectionAccess":
        """The section as told."""
        readers = None if section.readers is None else tuple(sorted(section.readers))
        return cls(section.heading, readers, section.interval)

    def open_to(self, asked: AccessFilter) -> bool:
        """Whether a filter lets the section through."""
        may_read = asked.readers is None or self.readers is None
        return (
            may_read or not asked.readers.isdisjoint(self.readers or ())  # type: ignore[union-attr]
        ) and self.interval.holds(asked.at_us)

    def as_fields(self) -> dict[str, object]:
        """The section as JSON fields."""
        return {
            "heading": list(self.heading),
            "readers": None if self.readers is None else list(self.readers),
            "effective_from": iso_of(self.interval.start_us),
            "effective_until": iso_of(self.interval.end_us),
        }


@dataclass(frozen=True, slots=True)
class DocumentAccess:
    """Who may read a document. `readers` None where no rule says so; `narrowed_to` None where its
    front matter does not narrow them; `rules` are the numbers of the rules that name it.
    """

    document: DocumentName
    has_policy: bool
    is_published: bool
    readers: tuple[str, ...] | None
    narrowed_to: tuple[str, ...] | None
    standing: Standing
    rules: tuple[int, ...]
    sections: tuple[SectionAccess, ...]
    now_us: int

    def as_fields(self) -> dict[str, object]:
        """The document's access as JSON fields."""
        return {
            "document": str(self.document),
            "is_published": self.is_published,
            "readers": None if self.readers is None else list(self.readers),
            "narrowed_to": None if self.narrowed_to is None else list(self.narrowed_to),
            **self.standing.as_fields(self.now_us),
            "rules": list(self.rules),
            "sections": [one.as_fields() for one in self.sections],
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a principal may read a document, in words, and which sections are kept back."""

    principal: str
    document: DocumentName
    allowed: bool
    reasons: tuple[str, ...]
    effective: str
    kept_back: tuple[tuple[str, ...], ...]

    def as_fields(self) -> dict[str, object]:
        """The verdict as JSON fields."""
        return {
            "principal": self.principal,
            "document": str(self.document),
            "allowed": self.allowed,
            "reasons": list(self.reasons),
            "effective": self.effective,
            "kept_back": [list(heading) for heading in self.kept_back],
        }


@dataclass(frozen=True, slots=True)
class Readable:
    """The documents of a generation that a principal may read; each, and whether only in part."""

    principal: str
    generation: int
    effective: str
    documents: tuple[tuple[DocumentName, bool], ...]

    def as_fields(self) -> dict[str, object]:
        """The documents as JSON fields."""
        return {
            "principal": self.principal,
            "generation": self.generation,
            "effective": self.effective,
            "documents": [
                {"document": str(document), "in_part": in_part}
                for document, in_part in self.documents
            ],
        }


def reasons(found: DocumentAccess, asked: AccessFilter, *, passes: bool) -> tuple[str, ...]:
    """Why a filter lets a document through, or everything that keeps it from that."""
    if passes:
        return (_granted(found, asked),)
    return tuple(_denials(found, asked))


def _granted(found: DocumentAccess, asked: AccessFilter) -> str:
    if asked.readers is None:
        return "the owner may read everything in force"
    mine = sorted(asked.readers.intersection(found.readers or ()))
    return f"{_numbers(found.rules)} {', '.join(mine)} read it"


def _denials(found: DocumentAccess, asked: AccessFilter) -> Iterator[str]:
    if asked.readers is not None:
        if not found.has_policy:
            yield "no policy was applied: the owner alone may read"
        elif found.readers is None:
            yield "no rule that names it says who may read it"
        elif asked.readers.isdisjoint(found.readers):
            named = ", ".join(found.readers) or "nobody"
            yield f"{_numbers(found.rules)} {named} read it"
        if found.narrowed_to is not None and asked.readers.isdisjoint(found.narrowed_to):
            yield f"its front matter narrows it to {', '.join(found.narrowed_to) or 'nobody'}"
    if not found.standing.interval.holds(asked.at_us):
        since, until = found.standing.interval.start_us, found.standing.interval.end_us
        yield f"it is in force from {iso_of(since) or 'ever'} until {iso_of(until) or 'ever'}"


def _numbers(rules: tuple[int, ...]) -> str:
    if len(rules) == 1:
        return f"rule {rules[0]} lets"
    listed = " and ".join(str(number) for number in rules)
    return f"rules {listed} let" if rules else "an earlier policy lets"
