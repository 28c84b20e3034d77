"""The command line as a flat list: a command of a group is named by the words that call it."""

import click


def leaves(group: click.Group, before: str = "") -> dict[str, click.Command]:
    """Every command that does something, by its words: `sync`, `lab recompute`."""
    found: dict[str, click.Command] = {}
    for name, command in sorted(group.commands.items()):
        words = f"{before}{name}"
        if isinstance(command, click.Group):
            found |= leaves(command, f"{words} ")
        else:
            found[words] = command
    return found


def named(commands: dict[str, click.Command], words: list[str]) -> tuple[str, list[str]]:
    """The command that a line's words call, and what follows its name.

    Raises:
        KeyError: no command is called so.
    """
    for length in range(len(words), 0, -1):
        name = " ".join(words[:length])
        if name in commands:
            return name, words[length:]
    raise KeyError(" ".join(words))
