"""`lab`: measure chunkers on revisions, on a repository's own history, and on questions."""

import click

from variorum.surfaces.cli import (
    lab_frontier,
    lab_recall,
    lab_recompute,
    lab_replay,
    lab_report,
    lab_studies,
    lab_why,
)


@click.group()
def lab() -> None:
    """Measure what chunkers cost at every edit, and what they find."""


_MODULES = (
    lab_recompute,
    lab_replay,
    lab_recall,
    lab_frontier,
    lab_studies,
    lab_report,
    lab_why,
)
for _command in (one for module in _MODULES for one in module.COMMANDS):
    lab.add_command(_command)

COMMANDS = (lab,)
