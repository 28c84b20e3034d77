"""Small git repositories for tests, made by git itself under settings of their own."""

import os
import subprocess
from pathlib import Path

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(folder: Path, *arguments: str, day: int = 1) -> str:
    """Run git in a folder; what it prints."""
    date = f"2024-01-{day:02d}T12:00:00Z"
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**_ENVIRONMENT, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def commit_all(folder: Path, day: int = 1) -> str:
    """Commit everything that the folder holds, and return the commit; the first call makes it."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", f"day {day}", day=day)
    return git(folder, "rev-parse", "HEAD")
