"""`lab`: measure chunkers on revisions, on a repository's own history, and on questions."""

import click

from variorum.surfaces.cli import lab_recall, lab_recompute, lab_why


@click.group()
def lab() -> None:
    """Measure what chunkers cost at every edit, and what they find."""


for _command in (*lab_recompute.COMMANDS, *lab_recall.COMMANDS, *lab_why.COMMANDS):
    lab.add_command(_command)

COMMANDS = (lab,)
