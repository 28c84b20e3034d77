"""`search`: hits for a reader, or a context for a model."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from variorum.records.arguments import bad_parameter
from variorum.records.context import EXPANSIONS, FORMATS, Context
from variorum.retrieval.context import DEFAULT_BUDGET, DEFAULT_CANDIDATES
from variorum.retrieval.legs import MODES
from variorum.surfaces.cli.answers import print_answer
from variorum.surfaces.cli.options import (
    Common,
    common_options,
    effective_option,
    principal_option,
)
from variorum.surfaces.cli.output import console, counted, print_exactly, print_json

_HITS = 10
_OF_A_CONTEXT = ("budget", "format", "expand", "tokenizer")


@click.command()
@click.argument("query")
@click.option(
    "-k",
    type=int,
    metavar="N",
    help=f"How many passages [default: {_HITS}; of a context {DEFAULT_CANDIDATES}].",
)
@click.option("--as-of", type=int, metavar="GENERATION", help="Search an earlier generation.")
@click.option("--path", metavar="GLOB", help="Only documents whose path matches, as in .gitignore.")
@click.option("--type", "content_type", metavar="T", help="Only this type, such as markdown.")
@click.option(
    "--where", multiple=True, metavar="KEY=VALUE", help="Only this metadata; also <, <=, > and >=."
)
@click.option("--language", metavar="TAG", help="Only documents in this language, such as zh.")
@click.option("--changed-since", metavar="DATE", help="Only what stands as it does since DATE.")
@click.option(
    "--mode", type=click.Choice(MODES), help="By meaning, by words, or both [default: hybrid]."
)
@click.option(
    "--weight", multiple=True, metavar="LEG=W", help="Weight of dense or lexical in hybrid."
)
@click.option("--explain", is_flag=True, help="Say what each leg and each word gave a hit.")
@click.option("--context", "as_context", is_flag=True, help="What a model would be given.")
@click.option(
    "--budget", type=int, metavar="TOKENS", help=f"Of a context [default: {DEFAULT_BUDGET}]."
)
@click.option(
    "--format", type=click.Choice(FORMATS), help="How a context is written [default: prompt]."
)
@click.option(
    "--expand",
    type=click.Choice(EXPANSIONS),
    help="What comes with a passage of a context [default: neighbours].",
)
@click.option(
    "--tokenizer", metavar="NAME", help="What counts a context [default: the model's own]."
)
@effective_option
@principal_option
@common_options
def search(
    common: Common,
    query: str,
    k: int | None,
    where: tuple[str, ...],
    weight: tuple[str, ...],
    explain: bool,
    as_context: bool,
    **named: Any,
) -> int:
    """Find the passages that answer QUERY best.

    By meaning and by words. With --context, print what a model would be given to answer it.
    """
    asked = {**named, "where": where or None, "weights": _weights(weight)}
    of_a_context = {name: asked.pop(name) for name in _OF_A_CONTEXT}
    given = {name: value for name, value in of_a_context.items() if value is not None}
    if as_context:
        return _context(common, query, explain, given if k is None else {**given, "k": k}, asked)
    for name in given:
        raise bad_parameter(f"--{name}", "given with --context", "a search for hits")
    with common.index() as index:
        answer = index.search(query, _HITS if k is None else k, explain=explain, **asked)
    if common.as_json:
        print_json({"ok": True, **answer.as_fields()})
    else:
        print_answer(answer, explain=explain)
    return 0


def _context(
    common: Common,
    query: str,
    explain: bool,
    given: Mapping[str, Any],
    asked: Mapping[str, Any],
) -> int:
    with common.index() as index:
        found = index.context(query, **given, **asked)
    if common.as_json:
        print_json({"ok": True, **found.as_fields()})
        return 0
    print_exactly(found.text)
    _print_account(found, explain=explain)
    return 0


def _print_account(found: Context, *, explain: bool) -> None:
    out = console(stderr=True)
    if found.fallback:
        out.print(f"{found.fallback}.", style="yellow")
    documents = counted(len({one.document for one in found.passages}), "document")
    passages = counted(len(found.passages), "passage")
    out.print(
        f"{found.tokens:,} of {found.budget:,} tokens: {passages} of {documents}, "
        f"{counted(len(found.left_out), 'hit')} left out",
        style="bold",
    )
    for one in found.left_out if explain else ():
        why = (
            "its text is there already" if one.tokens is None else f"{one.tokens:,} tokens with it"
        )
        out.print(f"  {one.rank:>3}  {one.citation}: {why}")


def _weights(given: Sequence[str]) -> dict[str, float]:
    found = {}
    for text in given:
        leg, _, number = text.partition("=")
        try:
            found[leg] = float(number)
        except ValueError:
            raise bad_parameter("--weight", "LEG=W, such as lexical=0.5", text) from None
    return found


COMMANDS = (search,)
