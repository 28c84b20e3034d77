"""What a policy comes to for one document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from variorum.access.dates import ALWAYS, Interval
from variorum.access.policy import Authority, Policy, Section
from variorum.access.readers import EVERYONE
from variorum.records.names import DocumentName


@dataclass(frozen=True, slots=True)
class Grant:
    """Who may read a document, when it is in force, and which sections fewer may read.

    `rules` are the numbers of the rules that name it.
    """

    readers: frozenset[str]
    interval: Interval = ALWAYS
    authority: Authority | None = None
    sections: tuple[Section, ...] = ()
    rules: tuple[int, ...] = ()


def grant_for(policy: Policy, document: DocumentName) -> Grant | None:
    """What the policy grants of a document; None where no rule that names it says to whom.

    Each setting is that of the last rule that names the document and makes it; sections add up.
    """
    rules = [rule for rule in policy.rules if rule.names(document)]
    given: dict[str, Any] = {}
    for rule in rules:
        given.update(rule.given)
    if "readers" not in given:
        return None
    return Grant(
        given["readers"],
        Interval(given.get("effective_from"), given.get("effective_until")),
        given.get("status"),
        tuple(section for rule in rules for section in rule.sections),
        tuple(rule.number for rule in rules),
    )


def tightened(old: Grant | None, new: Grant | None) -> Grant | None:
    """What becomes of a deleted document's grant: nobody and no date that it did not have before.

    What was set last stays where the new policy does not name the document stricter.
    """
    if old is None or new is None:
        return None
    kept = old.readers & new.readers
    if EVERYONE in old.readers:
        kept |= new.readers
    if EVERYONE in new.readers:
        kept |= old.readers
    sections = (*old.sections, *(one for one in new.sections if one not in old.sections))
    return Grant(kept, old.interval.within(new.interval), old.authority, sections, new.rules)


def stored_sections(sections: tuple[Section, ...]) -> list[dict[str, object]]:
    """Sections as JSON."""
    return [
        {
            "heading": list(one.heading),
            "readers": None if one.readers is None else sorted(one.readers),
            "from": one.interval.start_us,
            "until": one.interval.end_us,
            "missing_denies": one.missing_denies,
        }
        for one in sections
    ]


def read_sections(stored: list[Mapping[str, Any]]) -> tuple[Section, ...]:
    """Sections read back from JSON."""
    return tuple(
        Section(
            tuple(one["heading"]),
            None if one["readers"] is None else frozenset(one["readers"]),
            Interval(one["from"], one["until"]),
            one["missing_denies"],
        )
        for one in stored
    )
