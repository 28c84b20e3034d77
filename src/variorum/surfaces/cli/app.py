"""The command's frame: every failure becomes a message or a JSON object, and an exit code."""

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from variorum.records.errors import BugError, InputError, UnavailableError, VariorumError
from variorum.surfaces.cli import (
    access,
    checking,
    chunking,
    costing,
    demo,
    lab,
    modelling,
    moving,
    reading,
    retaining,
    searching,
    setting_up,
    syncing,
    watching,
)
from variorum.surfaces.cli.output import print_error
from variorum.surfaces.cli.streams import degrade_gracefully, discard

INTERRUPTED = 130


class _InterruptError(Exception):
    """Ctrl-C, in a form that click passes on without a word."""


class _Commands(click.Group):
    """The commands; what click would answer to Ctrl-C itself is left to `run`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which one comes to need them."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _InterruptError from error


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 2 fix the input, 3 published but some documents are held, "
    "4 not found, 5 conflict: confirm or plan again, 6 busy: wait, 7 unavailable: mend and try "
    "again, 8 damaged: see `variorum verify`, 9 unsupported, 10 an alert is due, 11 the owner's "
    "alone, 12 not verified, 70 a bug, 130 interrupted.",
)
@click.version_option(package_name="variorum")
@click.pass_context
def variorum(context: click.Context) -> None:
    """The retrieval index for documents that keep changing."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (
    *setting_up.COMMANDS,
    *syncing.COMMANDS,
    *watching.COMMANDS,
    *searching.COMMANDS,
    *reading.COMMANDS,
    *checking.COMMANDS,
    *access.COMMANDS,
    *costing.COMMANDS,
    *modelling.COMMANDS,
    *moving.COMMANDS,
    *retaining.COMMANDS,
    *chunking.COMMANDS,
    *demo.COMMANDS,
    *lab.COMMANDS,
):
    variorum.add_command(command)


def start(arguments: Sequence[str] | None, *, interrupted: bool) -> None:
    """Run the command line and exit; where it is interrupted already, only say so."""
    degrade_gracefully()
    # Of patterns that a later Python may read otherwise, such as [[]: none of a user's business.
    warnings.simplefilter("ignore", FutureWarning)
    sys.unraisablehook = _unless_interrupted
    given = list(sys.argv[1:] if arguments is None else arguments)
    code = _failed_by_interruption(given) if interrupted else run(given)
    # What is left is to end: a second Ctrl-C must not add a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def _unless_interrupted(unraisable: Any) -> None:
    """Report what nobody can catch, but not a second Ctrl-C while the first one ends the run."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code; never raises, never shows a traceback."""
    try:
        result = variorum.main(args=arguments, prog_name="variorum", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
        return 0
    except (_InterruptError, KeyboardInterrupt, click.Abort):
        return _failed_by_interruption(arguments)
    except Exception as error:
        if os.environ.get("VARIORUM_DEBUG") and not isinstance(error, _EXPECTED):
            raise
        ours = _ours(error)
        return _failed(ours, ours.exit_code, arguments)
    return result if isinstance(result, int) else 0


_EXPECTED = (VariorumError, click.ClickException, OSError)


def _ours(error: Exception) -> VariorumError:
    if isinstance(error, VariorumError):
        return error
    if isinstance(error, click.ClickException):
        return _usage_error(error)
    if isinstance(error, OSError):
        return _refused_by_the_system(error)
    return _bug(error)


def _failed(error: VariorumError, code: int, arguments: Sequence[str]) -> int:
    try:
        print_error(error, as_json=_asks_for_json(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
    except OSError:
        # Stdout takes nothing: the one case in which stderr says it, also under --json.
        discard(sys.stdout)
        print_error(error, as_json=False)
    return code


def _asks_for_json(arguments: Sequence[str]) -> bool:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _failed_by_interruption(arguments: Sequence[str]) -> int:
    message = "interrupted: nothing was published, finished vectors are kept"
    remedy = "run the command again to go on"
    error = VariorumError(message, kind="interrupted", remedy=remedy)
    return _failed(error, INTERRUPTED, arguments)


def _refused_by_the_system(error: OSError) -> VariorumError:
    return UnavailableError(
        f"the system refused an operation: {error.strerror or error}",
        kind="refused-by-the-system",
        subject=os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "",
        expected="files, folders and an output that can be read and written",
        found=f"{type(error).__name__}: {error}",
        remedy="mend what the message names (space, permissions, where the output goes), try again",
    )


def _usage_error(error: click.ClickException) -> VariorumError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "variorum"
    return InputError(
        error.format_message(),
        kind="usage",
        subject=path,
        expected="a command and options as in its help",
        remedy=f"see `{path} --help`",
    )


def _bug(error: Exception) -> VariorumError:
    return BugError(
        "something went wrong that should not be able to",
        kind="bug",
        found=f"{type(error).__name__}: {error}",
        remedy="please report it, with what VARIORUM_DEBUG=1 prints; nothing was lost",
    )
