"""`lab`: measure chunkers on revisions, on a repository's own history, and on questions."""

import click

from variorum.surfaces.cli import lab_recall


@click.group()
def lab() -> None:
    """Measure what chunkers cost at every edit, and what they find."""


for command in (*lab_recall.COMMANDS,):
    lab.add_command(command)

COMMANDS = (lab,)
