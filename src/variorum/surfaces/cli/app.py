"""The command's frame: every failure becomes a message or a JSON object, and an exit code."""

import os
import sys
from collections.abc import Sequence

import click

from variorum.records.errors import BugError, InputError, VariorumError
from variorum.surfaces.cli import access, chunking, demo, reading, setting_up, syncing
from variorum.surfaces.cli.output import print_error

INTERRUPTED = 130


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 2 fix the input, 3 published but some documents are held, "
    "4 not found, 5 conflict: confirm or plan again, 6 busy: wait, 7 unavailable: mend and try "
    "again, 8 damaged: see `variorum verify`, 9 unsupported, 10 the owner's alone, 11 "
    "not verified, 70 a bug, 130 interrupted.",
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
    *reading.COMMANDS,
    *access.COMMANDS,
    *chunking.COMMANDS,
    *demo.COMMANDS,
):
    variorum.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code; never raises, never shows a traceback."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    try:
        result = variorum.main(args=arguments, prog_name="variorum", standalone_mode=False)
    except VariorumError as error:
        return _failed(error, as_json=as_json)
    except click.Abort:
        return _interrupted(as_json=as_json)
    except click.ClickException as error:
        return _failed(_usage_error(error), as_json=as_json)
    except KeyboardInterrupt:
        return _interrupted(as_json=as_json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("VARIORUM_DEBUG"):
            raise
        return _failed(_bug(error), as_json=as_json)
    return result if isinstance(result, int) else 0


def _failed(error: VariorumError, *, as_json: bool) -> int:
    print_error(error, as_json=as_json)
    return error.exit_code


def _interrupted(*, as_json: bool) -> int:
    message = "interrupted: nothing was published, finished vectors are kept"
    error = VariorumError(message, kind="interrupted", remedy="run the command again to go on")
    print_error(error, as_json=as_json)
    return INTERRUPTED


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
