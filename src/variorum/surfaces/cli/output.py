"""What the terminal shows: JSON on stdout for programs, a few plain lines for people."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime

import click
from rich.console import Console

from variorum.records.errors import VariorumError
from variorum.records.hits import Answer, CitedText
from variorum.records.reports import PlannedDocument, Report


def console(*, stderr: bool = False) -> Console:
    """A console that colours on a terminal alone, and obeys NO_COLOR."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False)


def print_json(fields: Mapping[str, object]) -> None:
    """One object on one line of stdout."""
    text = json.dumps(fields, ensure_ascii=False)
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


def print_error(error: VariorumError, *, as_json: bool) -> None:
    """The error as an object on stdout, or as a few lines on stderr."""
    if as_json:
        print_json(error.as_fields())
        return
    out = console(stderr=True)
    out.print(f"Error: {error.message}", style="bold red")
    for label, value in (
        ("at", error.subject),
        ("expected", error.expected),
        ("found", error.found),
        ("do", error.remedy),
    ):
        if value:
            out.print(f"  {label + ':':<10}{value}")


def percent(fraction: float | None) -> str:
    """A fraction as a percentage with one decimal, or a dash."""
    return "–" if fraction is None else f"{100 * fraction:.1f} %"


def local_time(iso: str) -> str:
    """An ISO time in the local zone, to the minute."""
    return datetime.fromisoformat(iso).astimezone().strftime("%Y-%m-%d %H:%M")


def print_report(report: Report, *, planned: bool) -> None:
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
    if report.recompute_fraction is not None:
        out.print(
            f"  recompute  {percent(report.recompute_fraction)} of the changed documents, "
            "against their previous revision"
        )
    _print_cost(report, planned=planned)
    _print_exceptions(report)


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
        out.print(f"  money      {report.estimate['usd']:.4f} USD")


def _print_exceptions(report: Report) -> None:
    out = console()
    for held in report.held:
        where = "" if held.position is None else f" at byte {held.position}"
        out.print(f"  held       {held.document}: {held.kind}{where}", style="yellow")
    reasons: dict[str, int] = {}
    for skipped in report.skipped:
        reasons[skipped.reason] = reasons.get(skipped.reason, 0) + 1
    if reasons:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        out.print(f"  skipped    {listed} (-v names them)")


def print_details(report: Report, documents: Sequence[PlannedDocument]) -> None:
    """Each document that a plan touches, and each path that was skipped."""
    out = console()
    for one in documents:
        cost = f"{one.embed} to embed, {one.reuse} reused, {one.embed_tokens:,} tokens"
        out.print(
            f"  {one.action:<9}  {one.document}" + ("" if one.action == "removed" else f": {cost}")
        )
    for skipped in report.skipped:
        detail = f" ({skipped.detail})" if skipped.detail else ""
        out.print(f"  skipped    {skipped.document}: {skipped.reason}{detail}")


def print_answer(answer: Answer) -> None:
    """Hits as a reader wants them: where, under which headings, the passage, its citation."""
    out = console()
    if not answer.hits:
        out.print(f"No passage in generation {answer.generation}.")
    for hit in answer.hits:
        lines = (
            f"line {hit.start_line}"
            if hit.start_line == hit.end_line
            else f"lines {hit.start_line}–{hit.end_line}"
        )
        path = " › ".join(hit.heading_path)
        out.print(f"{hit.rank}. {path or hit.document}", style="bold", end="")
        out.print(f"  {hit.score:.3f}, {lines}, unchanged since {local_time(hit.changed_at)}")
        out.print(_indented(hit.text.strip()))
        out.print(f"   {hit.citation}\n", style="cyan")


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.splitlines())


def print_cited(cited: CitedText) -> None:
    """A citation in its section, the cited characters marked."""
    out = console()
    status = "" if cited.is_current else "  (the newest generation no longer shows this revision)"
    out.print(f"{cited.citation.document}{status}", style="bold")
    out.print(
        f"  revision {cited.revision[:16]}, lines {cited.start_line}–{cited.end_line}, "
        f"characters {cited.citation.start}–{cited.citation.end}, "
        f"bytes {cited.byte_start}–{cited.byte_end}\n"
    )
    start = cited.citation.start - cited.section_start
    end = cited.citation.end - cited.section_start
    out.print(cited.section[:start], style="dim", end="")
    out.print(cited.section[start:end], style="bold green" if out.is_terminal else None, end="")
    out.print(cited.section[end:], style="dim")


def progress_fits() -> bool:
    """Whether a progress bar would be seen by a person."""
    return sys.stderr.isatty()


def note(message: str) -> None:
    """A line on stderr."""
    click.echo(message, err=True)
