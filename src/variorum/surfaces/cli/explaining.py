"""What `plan --explain` shows to people."""

from collections.abc import Sequence

from variorum.records.reports import Explanation, PlannedDocument
from variorum.surfaces.cli.output import console, counted, print_wrapped


def print_explanations(
    name: str, document: PlannedDocument | None, explanations: Sequence[Explanation]
) -> None:
    """Each input that a document would have embedded, with its reason; neighbours alike as one."""
    out = console()
    out.print("")
    if document is None:
        out.print(f"{name} stays as it is.", style="bold")
        return
    out.print(f"{document.document}", style="bold")
    out.print(
        f"  {document.action}: {counted(document.embed, 'input')} to embed, {document.reuse} reused"
    )
    for group in _alike(explanations):
        tokens = sum(one.tokens for one in group)
        count = "" if len(group) == 1 else f" in {len(group)} inputs"
        reason = group[0].reason.replace("-", " ")
        where = f"characters {group[0].start}–{group[-1].end}"
        out.print(f"  {reason:<20} {counted(tokens, 'token')}{count}, {where}")
        if group[0].detail:
            for line in group[0].detail.split("; "):
                print_wrapped(out, line, "      ")


def _alike(explanations: Sequence[Explanation]) -> list[list[Explanation]]:
    """Explanations that follow each other with the same reason and detail."""
    groups: list[list[Explanation]] = []
    for one in explanations:
        last = groups[-1][-1] if groups else None
        if last is not None and (last.reason, last.detail) == (one.reason, one.detail):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups
