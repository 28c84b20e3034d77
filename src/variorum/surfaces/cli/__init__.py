"""The `variorum` command."""

import signal
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Ctrl-C is noted while the program loads, and answered as at any other time once it has.
    """
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, _frame: pressed.append(number))
    from variorum.surfaces.cli.app import start

    signal.signal(signal.SIGINT, before)
    start(arguments, interrupted=bool(pressed))
