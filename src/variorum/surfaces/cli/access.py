"""`access`: apply the policy, ask who may read what, and read the logs."""

import click

from variorum.door.access_answers import DocumentAccess, Verdict
from variorum.store.policies import Applied
from variorum.surfaces.cli.options import Common, common_options, effective_option
from variorum.surfaces.cli.output import console, counted, headings, local_time, print_json, visible


@click.group()
def access() -> None:
    """Say who may read what, and when; ask, and read the logs. Needs no sync and no model."""


@access.command()
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--author", metavar="NAME", help="Who sets it [default: the user of this process].")
@common_options
def apply(common: Common, file: str | None, author: str | None) -> int:
    """Make FILE the policy, at once, for every generation [default: variorum-policy.toml]."""
    with common.index() as index:
        applied = index.access.apply(file, author=author)
    if common.as_json:
        print_json({"ok": True, **applied.as_fields()})
    else:
        _print_applied(applied)
    return 0


def _print_applied(applied: Applied) -> None:
    out = console()
    if applied.version is None:
        out.print("Nothing changed: this policy is in force already.", style="bold")
    else:
        out.print(f"Applied policy {applied.version}, by {visible(applied.author)}.", style="bold")
    out.print(
        f"  documents  {applied.named} named, {len(applied.unnamed)} unnamed, "
        f"{applied.changed} changed"
    )
    for name in applied.unnamed:
        out.print(f"  unnamed    {name}: readable by the owner alone", style="yellow")


@access.command()
@click.argument("principal")
@click.argument("document")
@effective_option
@common_options
def check(common: Common, principal: str, document: str, effective: str | None) -> int:
    """Say whether PRINCIPAL, such as user:ann,group:staff, may read DOCUMENT, and why."""
    with common.index() as index:
        verdict = index.access.check(principal, document, effective=effective)
    if common.as_json:
        print_json({"ok": True, **verdict.as_fields()})
    else:
        _print_verdict(verdict)
    return 0


def _print_verdict(verdict: Verdict) -> None:
    out = console()
    word = "may read" if verdict.allowed else "may not read"
    out.print(f"{visible(verdict.principal)} {word} {verdict.document}", style="bold")
    for reason in verdict.reasons:
        out.print(f"  {visible(reason)}")
    for heading in verdict.kept_back:
        out.print(f"  but not {headings(heading)}", style="yellow")


@access.command()
@click.argument("document")
@common_options
def who(common: Common, document: str) -> int:
    """Say who may read DOCUMENT, and when."""
    with common.index() as index:
        found = index.access.who(document)
    if common.as_json:
        print_json({"ok": True, **found.as_fields()})
    else:
        _print_access(found)
    return 0


def _print_access(found: DocumentAccess) -> None:
    out = console()
    out.print(f"{found.document}", style="bold")
    if not found.is_published:
        out.print("  the newest generation does not hold it", style="yellow")
    out.print(f"  readers    {_readers(found.readers)}")
    if found.narrowed_to is not None:
        out.print(f"  narrowed   to {_readers(found.narrowed_to)}, by its front matter")
    fields = found.standing.as_fields(found.now_us)
    out.print(f"  standing   {fields['standing']}")
    if fields["status"]:
        out.print(f"  status     {fields['status']}, {_source(fields)}")
    if fields["effective_from"] or fields["effective_until"]:
        since, until = fields["effective_from"] or "ever", fields["effective_until"] or "ever"
        out.print(f"  in force   from {since} until {until}")
    for section in found.sections:
        readers = "the same" if section.readers is None else _readers(section.readers)
        out.print(f"  section    {headings(section.heading)}: {readers}")


def _source(fields: dict[str, str | None]) -> str:
    by, at = fields["status_by"], fields["status_at"]
    return f"by {visible(by or 'nobody named')}" + (f" at {at}" if at else "")


def _readers(readers: tuple[str, ...] | None) -> str:
    return ", ".join(readers or ()) or "the owner alone"


@access.command()
@click.argument("principal")
@click.option("--as-of", type=int, metavar="GENERATION", help="Of an earlier generation.")
@effective_option
@common_options
def what(common: Common, principal: str, as_of: int | None, effective: str | None) -> int:
    """List the documents that PRINCIPAL may read."""
    with common.index() as index:
        found = index.access.what(principal, as_of=as_of, effective=effective)
    if common.as_json:
        print_json({"ok": True, **found.as_fields()})
        return 0
    out = console()
    number = counted(len(found.documents), "document")
    out.print(
        f"{visible(found.principal)} may read {number} of generation {found.generation}.",
        style="bold",
    )
    for document, in_part in found.documents:
        out.print(f"  {document}" + (", in part" if in_part else ""))
    return 0


@access.command()
@common_options
def log(common: Common) -> int:
    """List the policies that were applied, newest first."""
    with common.index() as index:
        index.require()
        rows = index.access.log()[::-1]
    if common.as_json:
        print_json({"ok": True, "policies": [row.as_fields() for row in rows]})
        return 0
    out = console()
    if not rows:
        out.print("No policy was applied yet: the owner alone may read.")
    for row in rows:
        rules = row.text.count("[[rules]]")
        when = local_time(row.applied_at)
        out.print(f"{row.version:>4}  {when}  {visible(row.author)}  {counted(rules, 'rule')}")
    return 0


@access.command()
@common_options
def audit(common: Common) -> int:
    """List who searched and opened what, newest first; kept where `audit` is configured."""
    with common.index() as index:
        index.require()
        entries = index.access.readings()[::-1]
    if common.as_json:
        print_json({"ok": True, "readings": [entry.as_fields() for entry in entries]})
        return 0
    out = console()
    if not entries:
        out.print("Nothing was logged.")
    for entry in entries:
        who = visible(entry.principal)
        query = f" {visible(entry.query)!r}" if entry.query is not None else ""
        out.print(f"{local_time(entry.at)}  {who} ({entry.verified_by}) {entry.action}{query}")
        for citation in entry.citations:
            out.print(f"    {citation}", style="cyan")
    return 0


COMMANDS = (access,)
