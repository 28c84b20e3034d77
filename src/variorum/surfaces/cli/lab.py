"""`lab`: measure chunkers on revisions, on a repository's own history, and on questions."""

import click


@click.group()
def lab() -> None:
    """Measure what chunkers cost at every edit, and what they find."""


COMMANDS = (lab,)
