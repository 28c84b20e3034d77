"""`plan` and `sync`."""

import sys
from collections.abc import Callable
from typing import Any

import click

from variorum.door.index import PlanView
from variorum.records.arguments import affordable_tokens, amount, price, whole
from variorum.records.errors import EXIT_HELD, InputError
from variorum.surfaces.cli.explaining import print_explanations
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import print_details, print_json, print_report


def _consent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--release", is_flag=True, help="Let sources speak that a restore holds."),
        click.option(
            "--allow-shrink", is_flag=True, help="Remove more than half of a source's documents."
        ),
        click.option("--allow-empty", is_flag=True, help="Remove every document of a source."),
        click.option("--relayout", is_flag=True, help="Cut every document as a fresh index would."),
        click.option(
            "--drop-source",
            "drop_sources",
            multiple=True,
            metavar="NAME",
            help="Remove the documents of a source that is configured no more.",
        ),
    ):
        command = option(command)
    return command


_source = click.argument("source", required=False, metavar="[PATH|SOURCE]")
_changed = click.option(
    "--changed",
    metavar="FILE",
    help="Look only at what this list of paths, git's lines or diff names; - is stdin.",
)
_price = click.option(
    "--usd-per-mtok",
    type=float,
    metavar="USD",
    help="Price of a million tokens [default: as configured].",
)


@click.command()
@_source
@_consent_options
@_changed
@_price
@click.option("-v", "--verbose", is_flag=True, help="Name every document and skipped path.")
@click.option("--explain", metavar="DOC", help="Say why each input of a document is embedded.")
@common_options
def plan(
    common: Common,
    source: str | None,
    verbose: bool,
    explain: str | None,
    changed: str | None,
    usd_per_mtok: float | None,
    **consent: Any,
) -> int:
    """Say what sync would embed, reuse, retire and hold. Writes nothing."""
    with common.index() as index, common.progress() as progress:
        wanted: dict[str, Any] = {
            "reasons": verbose,
            "explain": explain,
            "usd_per_mtok": usd_per_mtok,
            "changed": _list_of_changes(changed),
        }
        common.note_limit(index)
        view = index.plan(source, progress=progress, **wanted, **consent)
    if common.as_json:
        print_json({"ok": True, **_plan_fields(view, verbose=verbose, explain=explain)})
    else:
        print_report(view.report, planned=True, verbose=verbose)
        if verbose:
            print_details(view.report, view.documents)
        if explain is not None:
            print_explanations(explain, view.explained, view.explanations)
    return EXIT_HELD if view.report.held else 0


def _plan_fields(view: PlanView, *, verbose: bool, explain: str | None) -> dict[str, object]:
    fields = view.report.as_fields()
    if verbose:
        fields["detail"] = [document.as_fields() for document in view.documents]
    if explain is not None:
        fields["explained"] = view.explained and view.explained.as_fields()
        fields["explanations"] = [one.as_fields() for one in view.explanations]
    return fields


@click.command()
@_source
@_consent_options
@_changed
@click.option(
    "--max-tokens",
    type=int,
    metavar="N",
    help="Stop before embedding more than this.",
)
@click.option(
    "--max-usd",
    type=float,
    metavar="USD",
    help="Stop before spending more than this; needs a price.",
)
@_price
@common_options
def sync(
    common: Common,
    source: str | None,
    changed: str | None,
    max_tokens: int | None,
    max_usd: float | None,
    usd_per_mtok: float | None,
    **consent: Any,
) -> int:
    """Embed what changed and publish one generation, or none."""
    with common.index() as index, common.progress() as progress:
        usd = index.usd_per_million_tokens
        usd = usd if usd_per_mtok is None else price("--usd-per-mtok", usd_per_mtok)
        limit = _limit(max_tokens, max_usd, usd)
        listed = _list_of_changes(changed)
        common.note_limit(index)
        report = index.sync(source, max_tokens=limit, changed=listed, progress=progress, **consent)
    if common.as_json:
        print_json({"ok": True, **report.as_fields()})
    else:
        print_report(report, planned=False)
    return EXIT_HELD if report.held else 0


def _list_of_changes(changed: str | None) -> str | bytes | None:
    """What `--changed` names; the bytes of stdin for a dash."""
    return sys.stdin.buffer.read() if changed == "-" else changed


def _limit(max_tokens: int | None, max_usd: float | None, usd: float | None) -> int | None:
    limits = [] if max_tokens is None else [whole("--max-tokens", max_tokens, 0)]
    if max_usd is not None:
        amount("--max-usd", max_usd)
        if not usd:
            raise InputError(
                "--max-usd needs a price",
                kind="no-price",
                subject="--max-usd",
                expected="--usd-per-mtok, or usd_per_million_tokens in variorum.toml",
                found="neither",
                remedy="give the model's price for a million tokens",
            )
        limits.append(affordable_tokens(max_usd, usd))
    return min(limits) if limits else None


COMMANDS = (plan, sync)
