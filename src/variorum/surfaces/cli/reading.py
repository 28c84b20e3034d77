"""`show`, `log`, `diff`, `restore` and `status`."""

import click

from variorum.door.status import Status
from variorum.surfaces.cli.options import (
    Common,
    common_options,
    effective_option,
    principal_option,
)
from variorum.surfaces.cli.output import (
    console,
    counted,
    local_time,
    percent,
    print_cited,
    print_json,
)


@click.command()
@click.argument("citation")
@effective_option
@principal_option
@common_options
def show(common: Common, citation: str, effective: str | None) -> int:
    """Open CITATION: its exact text, in its section."""
    with common.index() as index:
        cited = index.show(citation, effective=effective)
    if common.as_json:
        print_json({"ok": True, **cited.as_fields()})
    else:
        print_cited(cited)
    return 0


@click.command()
@principal_option
@common_options
def log(common: Common) -> int:
    """List the published generations, newest first."""
    with common.index() as index:
        index.require()
        rows = index.log()[::-1]
    if common.as_json:
        print_json({"ok": True, "generations": [row.as_fields() for row in rows]})
        return 0
    out = console()
    if not rows:
        out.print("Nothing was published yet.")
    for row in rows:
        out.print(f"{row.number:>4}  {local_time(row.created_at)}  {row.kind:<8}", end="")
        gap = "pruned" if row.is_pruned else ""
        if row.kind.startswith("restore") or not row.counts:
            out.print(f"  {gap}" if gap else "")
        else:
            counts = row.counts
            out.print(f"  +{counts['added']} ~{counts['changed']} -{counts['removed']}", end="")
            out.print(f", {counted(row.embedded or 0, 'input')} embedded", end="")
            out.print(f", recompute {percent(row.recompute_fraction)}{gap and f', {gap}'}")
    return 0


@click.command()
@click.argument("old", type=int)
@click.argument("new", type=int)
@effective_option
@principal_option
@common_options
def diff(common: Common, old: int, new: int, effective: str | None) -> int:
    """Say which documents differ between generations OLD and NEW."""
    with common.index() as index:
        difference = index.diff(old, new, effective=effective)
    if common.as_json:
        print_json({"ok": True, **difference.as_fields()})
        return 0
    out = console()
    if not difference.documents:
        out.print(f"Generations {old} and {new} hold the same documents.")
    for one in difference.documents:
        origin = f" (from {one.renamed_from})" if one.renamed_from else ""
        out.print(f"{one.action:<9} {one.document}{origin}")
    return 0


@click.command()
@click.argument("generation", type=int)
@common_options
def restore(common: Common, generation: int) -> int:
    """Publish an old GENERATION again, and hold its sources."""
    with common.index() as index:
        number = index.restore(generation)
    if common.as_json:
        print_json({"ok": True, "restored": generation, "generation": number})
    else:
        out = console()
        out.print(f"Published generation {number}, with the documents of {generation}.")
        out.print("Its sources are held: `variorum sync --release` lets them speak again.")
    return 0


@click.command()
@effective_option
@principal_option
@common_options
def status(common: Common, effective: str | None) -> int:
    """Say what is published, how large it is, and under which settings."""
    with common.index() as index:
        found = index.status(effective=effective)
    if common.as_json:
        print_json({"ok": True, **found.as_fields()})
        return 0
    _print_status(found)
    return 0


def _print_status(found: Status) -> None:
    out = console()
    out.print(f"Generation {found.generation}, {local_time(found.created_at)}", style="bold")
    sizes = ((found.documents, "document"), (found.chunks, "chunk"), (found.inputs, "input"))
    out.print("  holds    " + ", ".join(counted(number, noun) for number, noun in sizes))
    out.print(f"  model    {found.model}")
    planner = "" if found.planner else ", without the reuse planner"
    out.print(f"  chunker  {found.chunker}{planner}")
    for source in found.sources:
        documents = counted(source.documents, "document")
        where = f" at {source.root}" if source.root else ""
        out.print(f"  source   {source.name}: {documents}{where}")
        if source.held_by_restore:
            out.print(
                "           held by a restore until `variorum sync --release`", style="yellow"
            )
        if source.orphaned:
            out.print(
                "           not configured any more; its documents stay until "
                f"`variorum sync --drop-source {source.name}`",
                style="yellow",
            )
    for shared in found.shared_roots:
        out.print(
            f"  twice    {shared.root} is indexed as {' and as '.join(shared.sources)}",
            style="yellow",
        )
    for held in found.held:
        out.print(f"  held     {held.document}: {held.kind}", style="yellow")
    if found.store_bytes is not None:
        out.print(f"  store    {found.store}, {found.store_bytes:,} bytes")
    if found.ann_inputs is not None:
        out.print(f"  nearest  by an approximate index of {found.ann_inputs:,} inputs")


COMMANDS = (show, log, diff, restore, status)
