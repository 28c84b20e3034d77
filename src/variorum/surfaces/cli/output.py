"""What the terminal shows: JSON on stdout for programs, a few plain lines for people."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.text import Text

from variorum.records.errors import VariorumError
from variorum.records.hits import CitedText
from variorum.records.reports import PlannedDocument, Report

MAX_SHOWN = 1000
"""Most characters of an error's field that a terminal shows."""


class Screen(Console):
    """A console whose every string shows control characters as pictures."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; strings are made visible first."""
        super().print(
            *(visible(one) if isinstance(one, str) else one for one in objects), **options
        )


def console(*, stderr: bool = False) -> Console:
    """A console that styles on a terminal alone, and nothing where NO_COLOR is set."""
    return Screen(
        stderr=stderr,
        # Rich itself would go on with bold and dim.
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        highlight=False,
        soft_wrap=True,
        markup=False,
        emoji=False,
    )


def print_json(fields: Mapping[str, object]) -> None:
    """One object on one line of stdout, escaped where stdout cannot carry its characters."""
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    text = text.encode("utf-8", "backslashreplace").decode()
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(fields)
    sys.stdout.write(text + "\n")


def print_exactly(text: str) -> None:
    """Text for another program, on stdout: as it is, but for control characters."""
    shown = visible(text)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(shown.encode(encoding, "backslashreplace").decode(encoding))


_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
_CONTROLS = _PICTURES | dict.fromkeys(range(128, 160), 0xFFFD)


def visible(text: str) -> str:
    """The text with pictures for control characters, so that no document drives the terminal."""
    return text.translate(_CONTROLS)


def on_one_line(text: str) -> str:
    """The text with pictures for line ends and tabs too: a name keeps to its line."""
    return visible(text.translate({9: 0x2409, 10: 0x240A, 0x2028: 0xFFFD, 0x2029: 0xFFFD}))


def headings(path: Sequence[str]) -> str:
    """A heading path on one line."""
    return visible(" › ".join(" ".join(title.split()) for title in path))


def counted(count: int, noun: str) -> str:
    """A number and its noun, in the plural where it is not one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def print_wrapped(out: Console, text: str, first: str = "", rest: str | None = None) -> None:
    """Print `text` behind `first`, its other lines behind `rest`; wrapped on a terminal alone."""
    following = " " * len(first) if rest is None else rest
    prefix = first
    for line in text.splitlines() or [""]:
        for piece in _fitted(out, visible(line), out.width - len(following)):
            out.print(f"{prefix}{piece}".rstrip())
            prefix = following


def _fitted(out: Console, line: str, width: int) -> list[str]:
    if not out.is_terminal or width < 20:
        return [line]
    return [str(piece).rstrip() for piece in Text(line).wrap(out, width)] or [""]


def print_error(error: VariorumError, *, as_json: bool) -> None:
    """The error as an object on stdout, or as a few lines on stderr."""
    if as_json:
        print_json(error.as_fields())
        return
    out = console(stderr=True)
    out.print(f"Error: {on_one_line(clipped(error.message))}", style="bold red")
    for label, value in (
        ("at", error.subject),
        ("expected", error.expected),
        ("found", error.found),
        ("do", error.remedy),
    ):
        if value:
            print_wrapped(out, clipped(value), f"  {label + ':':<10}")


def clipped(text: str) -> str:
    """The text, cut where it is longer than a person reads; JSON has it whole."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… ({len(text):,} characters)"


def percent(fraction: float | None) -> str:
    """A fraction as a percentage with one decimal, or a dash."""
    return "–" if fraction is None else f"{100 * fraction:.1f} %"


def local_time(iso: str) -> str:
    """An ISO time in the local zone, to the minute."""
    return datetime.fromisoformat(iso).astimezone().strftime("%Y-%m-%d %H:%M")


def print_report(report: Report, *, planned: bool, verbose: bool = False) -> None:
    """A plan or a sync in a few lines."""
    out = console()
    out.print(_headline(report, planned=planned), style="bold")
    counts = report.documents
    out.print(
        f"  documents  {counts.added} added, {counts.changed} changed, {counts.unchanged} "
        f"unchanged, {counts.removed} removed, {counts.held} held"
    )
    inputs, tokens = report.inputs, report.tokens
    out.print(
        f"  inputs     {inputs.embed} to embed, {inputs.reuse} reused, {inputs.retire} retired"
        if planned
        else f"  inputs     {inputs.embed} embedded, {inputs.reuse} reused, {inputs.retire} retired"
    )
    out.print(
        f"  tokens     {tokens.embed:,} of {tokens.total:,} "
        f"({percent(report.embedded_fraction)} of the added and changed documents)"
    )
    windows = report.windows
    if windows.embed or windows.reuse:
        out.print(
            f"  windows    {windows.embed} embedded to find the chunks, {windows.tokens:,} tokens; "
            f"{windows.reuse} reused"
        )
    derived = report.derived
    if derived.run or derived.reuse:
        verb = "to make" if planned else "made"
        out.print(f"  outputs    {derived.run} {verb} by functions, {derived.reuse} reused")
    if report.recompute_fraction is not None:
        out.print(
            f"  recompute  {percent(report.recompute_fraction)} of the changed documents, "
            "against their previous revision"
        )
    _print_cost(report, planned=planned)
    _print_exceptions(report, verbose=verbose)


def _headline(report: Report, *, planned: bool) -> str:
    parent = "nothing yet" if report.parent is None else f"generation {report.parent}"
    if planned:
        return f"Plan for {report.collection}, from {parent}. Nothing is written."
    if report.generation is None:
        return f"Nothing changed: {report.collection} stays at {parent}."
    return f"Published generation {report.generation} of {report.collection}."


def _print_cost(report: Report, *, planned: bool) -> None:
    out = console()
    if not planned:
        calls = f"{report.embedder_calls} model call{'' if report.embedder_calls == 1 else 's'}"
        out.print(f"  took       {report.elapsed_s:.1f} s, {calls}")
        return
    if "embed_s" in report.estimate:
        out.print(f"  time       about {report.estimate['embed_s']:.1f} s of embedding")
    if "usd" in report.estimate:
        out.print(f"  money      {_money(report.estimate['usd'])} USD")


def _money(usd: float) -> str:
    return "under 0.0001" if 0 < usd < 0.0001 else f"{usd:,.4f}"


def _print_sources(report: Report) -> None:
    """How sources were compared; those that go, are configured no more, or say the same twice."""
    out = console()
    for one in report.compared:
        if one.scope == "changes":
            out.print(f"  looked at  {counted(one.paths or 0, 'path')} of {one.source}")
        else:
            detail = f" ({one.detail})" if one.detail else ""
            out.print(
                f"  looked at  all of {one.source}: {one.reason.replace('-', ' ')}{detail}",
                style="yellow",
            )
    for note in report.dropped:
        out.print(f"  dropped    {note.source}: {counted(note.documents, 'document')}")
    for note in report.orphaned:
        out.print(
            f"  orphaned   {note.source} is not configured any more; "
            f"{counted(note.documents, 'document')} kept until --drop-source {note.source}",
            style="yellow",
        )
    for shared in report.shared_roots:
        out.print(
            f"  twice      {shared.root} is indexed as {' and as '.join(shared.sources)}",
            style="yellow",
        )


def _print_exceptions(report: Report, *, verbose: bool) -> None:
    out = console()
    _print_sources(report)
    for held in report.held:
        where = "" if held.position is None else f" at byte {held.position}"
        out.print(f"  held       {held.document}: {held.kind}{where}", style="yellow")
    if report.held:
        out.print("             a held document stays as it was last published, if it ever was")
    if report.unnamed:
        count = counted(len(report.unnamed), "document")
        out.print(
            f"  unnamed    {count} that no rule lets anyone read (`variorum plan -v` names them)",
            style="yellow",
        )
    reasons: dict[str, int] = {}
    for skipped in report.skipped:
        reasons[skipped.reason] = reasons.get(skipped.reason, 0) + 1
    if reasons:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        hint = "" if verbose else " (`variorum plan -v` names them)"
        out.print(f"  skipped    {listed}{hint}")
    if report.fallbacks:
        count = counted(len(report.fallbacks), "document")
        hint = "" if verbose else " (`variorum plan -v` says why)"
        out.print(f"  fallback   {count} read by a simpler parser{hint}")


def print_details(report: Report, documents: Sequence[PlannedDocument]) -> None:
    """Each document that the plan touches and its tokens to embed; each path that was skipped."""
    out = console()
    out.print("")
    for one in documents:
        cost = f"{one.embed_tokens:>9,} of {one.total_tokens:>9,} tokens"
        cost = " " * len(cost) if one.action == "removed" else cost
        out.print(f"  {one.action:<8} {cost}  {one.document}")
        for reason, tokens in (one.tokens_by_reason or {}).items():
            out.print(f"{tokens:>20,} {reason.replace('-', ' ')}")
    for skipped in report.skipped:
        detail = f" ({skipped.detail})" if skipped.detail else ""
        out.print(f"  skipped  {skipped.document}: {skipped.reason}{detail}")
    for name in report.unnamed:
        out.print(f"  unnamed  {name}")
    for fallback in report.fallbacks:
        out.print(f"  fallback {fallback.document}: {fallback.reason}")


def lines_of(start: int, end: int) -> str:
    """A range of lines in words."""
    return f"line {start}" if start == end else f"lines {start}–{end}"


def print_cited(cited: CitedText) -> None:
    """A citation in its section: its lines marked in the margin, its characters by colour."""
    out = console()
    out.print(f"{cited.citation.document}", style="bold")
    if not cited.is_current:
        out.print("  The newest generation no longer shows this revision.", style="yellow")
    if cited.standing != "current":
        out.print(f"  The document is {cited.standing} today.", style="yellow")
    out.print(
        f"  revision {cited.revision[:16]}, {lines_of(cited.start_line, cited.end_line)}, "
        f"characters {cited.citation.start}–{cited.citation.end}"
    )
    out.print(f"  bytes {cited.byte_start}–{cited.byte_end}\n")
    start = cited.citation.start - cited.section_start
    end = cited.citation.end - cited.section_start
    position = 0
    for line in cited.section.splitlines(keepends=True):
        _print_section_line(out, line, start - position, end - position)
        position += len(line)


def _print_section_line(out: Console, line: str, start: int, end: int) -> None:
    """A line of which the characters from `start` to `end` are cited; both may lie outside it."""
    shown = visible(line.rstrip("\r\n"))
    inside = start < len(line) and end > 0
    text = Text("> " if inside else "  ")
    text.append(shown)
    if inside:
        text.stylize("bold green", 2 + max(start, 0), 2 + min(end, len(shown)))
    else:
        text.stylize("dim")
    out.print(text)


def progress_fits() -> bool:
    """Whether a progress bar would be seen by a person."""
    return sys.stderr.isatty()
