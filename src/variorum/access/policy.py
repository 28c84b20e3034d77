"""The policy file: who may read which documents, when, and on whose authority."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, tzinfo
from typing import Any

from variorum.access.dates import Interval, instant_us, zone_named
from variorum.access.readers import parse_reader
from variorum.records.errors import InputError
from variorum.records.names import DocumentName
from variorum.sources.globs import Globs

POLICY_FILE = "variorum-policy.toml"
STATUSES = ("draft", "current", "superseded", "withdrawn")
_UNSET = "none"


@dataclass(frozen=True, slots=True)
class Authority:
    """What a document is worth, in one of `STATUSES`; who said so, and when (ISO 8601)."""

    status: str
    by: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document, by heading path, that fewer may read, or for a shorter time.

    `*` stands for any one title. `readers` None: the document's. Where a revision has no such
    section, `missing_denies` says whether whoever may not read it may not read the revision.
    """

    heading: tuple[str, ...]
    readers: frozenset[str] | None
    interval: Interval
    missing_denies: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """One `[[rules]]` table. `given` holds the settings that it makes, by their key."""

    number: int
    patterns: tuple[tuple[str, Globs], ...]
    given: Mapping[str, Any]
    sections: tuple[Section, ...] = ()

    def names(self, document: DocumentName) -> bool:
        """Whether one of its patterns matches the document's name."""
        name = document.path.rpartition(b"/")[2]
        return any(
            source in ("*", document.source) and globs.match(document.path, name, True)
            for source, globs in self.patterns
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy as parsed. `groups` maps a user's reader to the groups that the policy puts it in.

    `text` is the file as it was read.
    """

    text: str
    zone: tzinfo = UTC
    rules: tuple[Rule, ...] = ()
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the file, read key by key; what is left over at the end is an error."""

    source: str
    place: str
    values: dict[str, Any]

    def take(self, key: str, kind: type, words: str) -> Any:
        """The value of `key`, checked for its type; None where it is not given."""
        value = self.values.pop(key, None)
        if value is not None and not isinstance(value, kind):
            raise self.error(key, f"must be {words}", words, repr(value))
        return value

    def strings(self, key: str) -> tuple[str, ...] | None:
        """A list of strings; None where it is not given."""
        values = self.take(key, list, "a list of strings")
        if values is not None and not all(isinstance(value, str) for value in values):
            raise self.error(key, "must be a list of strings", "a list of strings", repr(values))
        return None if values is None else tuple(values)

    def tables(self, key: str) -> Iterator["_Table"]:
        """The tables of an array of tables, each with its place."""
        for number, value in enumerate(self.take(key, list, "an array of tables") or [], start=1):
            place = f"{self.place}.{key}[{number}]" if self.place else f"{key}[{number}]"
            if not isinstance(value, dict):
                raise self.error(key, "must be an array of tables", f"[[{key}]]", repr(value))
            yield _Table(self.source, place, dict(value))

    def finish(self) -> None:
        """Refuse keys that nothing asked for."""
        for key, value in self.values.items():
            raise self.error(key, "is not a setting", "the settings of docs/access.md", repr(value))

    def error(self, key: str, what: str, expected: str, found: str) -> InputError:
        """The error about one key, with its place."""
        where = f"{self.place}.{key}" if self.place else key
        line = _line_of(self.source, self.place, key)
        at = f", line {line}" if line else ""
        return InputError(
            f"the policy's {where}{at} {what}",
            kind="bad-policy",
            subject=where,
            expected=expected,
            found=found,
            remedy="correct the policy file; nothing was applied",
        )


def _line_of(source: str, place: str, key: str) -> int | None:
    """The line on which a key of a table stands, where the file is written a table a header."""
    wanted = [(name, int(number)) for name, number in re.findall(r"(\w+)\[(\d+)\]", place)]
    header = ".".join(name for name, _ in wanted) if wanted else place
    seen, depth = [0] * len(wanted), not place
    for number, line in enumerate(source.splitlines(), start=1):
        found = re.match(r"\s*\[{1,2}\s*([\w.]+)\s*\]{1,2}", line)
        if found:
            for level in range(len(wanted)):
                if found[1] == ".".join(name for name, _ in wanted[: level + 1]):
                    seen[level] += 1
                    seen[level + 1 :] = [0] * (len(wanted) - level - 1)
            depth = found[1] == header and seen == [count for _, count in wanted]
        elif depth and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return None


def parse_policy(text: str) -> Policy:
    """Read a policy file in full.

    Raises:
        InputError: it is not TOML, a key is unknown, or a value is not what its key takes.
    """
    try:
        top = _Table(text, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"the policy is not valid TOML: {error}",
            kind="bad-policy",
            subject=POLICY_FILE,
            expected="TOML",
            found=str(error),
            remedy="mend the line that the message names; nothing was applied",
        ) from error
    zone = _zone(top)
    groups = _groups(top)
    rules = tuple(
        _rule(number, table, zone) for number, table in enumerate(top.tables("rules"), start=1)
    )
    top.finish()
    return Policy(text, zone, rules, groups)


def _zone(top: _Table) -> tzinfo:
    name = top.take("time_zone", str, "the name of a time zone")
    try:
        return zone_named("UTC" if name is None else name)
    except ValueError as error:
        raise top.error("time_zone", "is unknown", "a name such as Asia/Shanghai", name) from error


def _groups(top: _Table) -> dict[str, frozenset[str]]:
    table = _Table(top.source, "groups", top.take("groups", dict, "a table") or {})
    memberships: dict[str, set[str]] = {}
    for name in list(table.values):
        group = _readers(table, name, (f"group:{name}",))
        for member in _readers(table, name, table.strings(name) or ()):
            if not member.startswith("user:"):
                raise table.error(name, "holds what is no user", "user:NAME", member)
            memberships.setdefault(member, set()).update(group)
    return {member: frozenset(groups) for member, groups in memberships.items()}


def _readers(table: _Table, key: str, values: tuple[str, ...]) -> frozenset[str]:
    try:
        return frozenset(parse_reader(value) for value in values)
    except InputError as error:
        raise table.error(key, error.message, error.expected, error.found) from error


def _rule(number: int, table: _Table, zone: tzinfo) -> Rule:
    patterns = table.strings("documents")
    if not patterns:
        raise table.error("documents", "is missing", "at least one SOURCE:GLOB", "nothing")
    given: dict[str, Any] = {}
    readers = table.strings("readers")
    if readers is not None:
        given["readers"] = _readers(table, "readers", readers)
    given |= _bounds(table, zone) | _authority(table, zone)
    sections = tuple(_section(one, zone) for one in table.tables("sections"))
    table.finish()
    return Rule(number, tuple(_pattern(table, one) for one in patterns), given, sections)


def _pattern(table: _Table, text: str) -> tuple[str, Globs]:
    source, colon, glob = text.partition(":")
    if not colon or not source:
        raise table.error("documents", "holds no pattern", "SOURCE:GLOB, or *:GLOB", text)
    try:
        return source, Globs([glob], dots=True)
    except InputError as error:
        raise table.error("documents", "holds no pattern", error.expected, text) from error


def _bounds(table: _Table, zone: tzinfo) -> dict[str, int | None]:
    given: dict[str, int | None] = {}
    for key, ends in (("effective_from", False), ("effective_until", True)):
        if key in table.values:
            given[key] = _bound(table, key, zone, ends=ends)
    interval = Interval(given.get("effective_from"), given.get("effective_until"))
    if interval.is_empty:
        raise table.error("effective_until", "is not after effective_from", "a later date", "")
    return given


def _bound(table: _Table, key: str, zone: tzinfo, *, ends: bool) -> int | None:
    value = table.values.pop(key)
    if value == _UNSET:
        return None
    try:
        return instant_us(value, zone, ends=ends)
    except ValueError:
        expected = 'a date, a date with a time, or "none"'
        raise table.error(key, "is not a date", expected, repr(value)) from None


def _as_written(table: _Table, key: str, zone: tzinfo) -> str | None:
    """A date as the policy has it, ISO 8601."""
    value = table.values.get(key)
    if value is None:
        return None
    _bound(table, key, zone, ends=False)
    return value.isoformat() if isinstance(value, date) else str(value)


def _authority(table: _Table, zone: tzinfo) -> dict[str, Authority | None]:
    status = table.take("status", str, "a status")
    by = table.take("status_by", str, "a name")
    at = _as_written(table, "status_at", zone)
    if status is None:
        for key, value in (("status_by", by), ("status_at", at)):
            if value is not None:
                raise table.error(key, "stands without a status", "status = ...", value)
        return {}
    if status not in (*STATUSES, _UNSET):
        raise table.error("status", "is unknown", f"one of: {', '.join(STATUSES)}", status)
    return {"status": None if status == _UNSET else Authority(status, by, at)}


def _section(table: _Table, zone: tzinfo) -> Section:
    heading = table.strings("heading")
    if not heading:
        raise table.error("heading", "is missing", "the titles from the outermost on", "nothing")
    readers = table.strings("readers")
    bounds = _bounds(table, zone)
    missing = table.take("missing", str, "deny or ignore") or "deny"
    if missing not in ("deny", "ignore"):
        raise table.error("missing", "is unknown", "deny or ignore", missing)
    table.finish()
    return Section(
        heading,
        None if readers is None else _readers(table, "readers", readers),
        Interval(bounds.get("effective_from"), bounds.get("effective_until")),
        missing == "deny",
    )
