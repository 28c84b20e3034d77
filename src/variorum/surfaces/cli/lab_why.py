"""`lab why`: which stage of the index lost a passage."""

import click

from variorum.lab.why import Diagnosis, Limits, diagnose
from variorum.records.names import Citation
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, print_json

_MARKS = {"passed": "ok", "lost": "LOST", "not-checked": "–", "not-reached": ""}


@click.command()
@click.argument("question")
@click.option("--expect", required=True, metavar="CITATION", help="The passage that is expected.")
@click.option("--as-of", type=int, metavar="GENERATION", help="Ask an earlier generation.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=Limits().budget,
    show_default=True,
    metavar="TOKENS",
    help="Tokens that are returned.",
)
@click.option(
    "-k",
    "candidates",
    type=click.IntRange(1, 1000),
    default=Limits().candidates,
    show_default=True,
    metavar="N",
    help="Ranks that are looked at.",
)
@click.option("--principal", "asker", metavar="WHO", help="Whose rights are checked.")
@common_options
def why(
    common: Common,
    question: str,
    expect: str,
    as_of: int | None,
    budget: int,
    candidates: int,
    asker: str | None,
) -> int:
    """Say which stage kept the passage of a CITATION from answering QUESTION.

    The stages are parsing, version, permission, split, ranking and packing.
    """
    citation = Citation.parse(expect)
    limits = Limits(candidates, budget)
    with common.index() as index:
        view = index.view(as_of, effective="any")
        allowed = None if asker is None else set(index.for_principal(asker).view(as_of).documents)
        found = diagnose(view, index.embedder, question, citation, limits, allowed)
    if common.as_json:
        print_json(
            {"ok": True, "question": question, "expected": str(citation), **found.as_fields()}
        )
    else:
        _print(found, citation)
    return 0


def _print(found: Diagnosis, citation: Citation) -> None:
    out = console()
    lost = found.lost_at
    verdict = "is returned" if lost is None else f"is lost at {lost}"
    out.print(f"{citation} {verdict}, in generation {found.generation}.", style="bold")
    for one in found.stages:
        style = "red" if one.state == "lost" else None
        out.print(f"  {one.stage:<10}  {_MARKS[one.state]:<4}  {one.found}".rstrip(), style=style)


COMMANDS = (why,)
