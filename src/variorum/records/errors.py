"""What can go wrong, classed by what the caller does next.

Every error names what happened (`message`), to which thing (`subject`), what was `expected` and
`found`, and what to do next (`remedy`). `kind` is a stable kebab-case word for programs.
"""

from typing import ClassVar


class VariorumError(Exception):
    """Root of every error this package raises on purpose."""

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        subject: str = "",
        expected: str = "",
        found: str = "",
        remedy: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.subject = subject
        self.expected = expected
        self.found = found
        self.remedy = remedy

    def as_fields(self) -> dict[str, object]:
        """The error as the JSON object that every `--json` command prints."""
        return {
            "ok": False,
            "kind": self.kind,
            "message": self.message,
            "subject": self.subject,
            "expected": self.expected,
            "found": self.found,
            "remedy": self.remedy,
        }


class InputError(VariorumError):
    """Fix the input: a parameter, a configuration, a query, a file."""

    exit_code = 2
    http_status = 400


class InputRejectedError(InputError):
    """The model refuses one embedding input; `index` is its place in the call."""

    def __init__(self, message: str, *, index: int, expected: str = "", found: str = "") -> None:
        super().__init__(
            message,
            kind="input-rejected",
            subject=f"input {index}",
            expected=expected,
            found=found,
            remedy="split the text further, or choose a model with a higher limit",
        )
        self.index = index


class NotFoundError(VariorumError):
    """The named thing does not exist here."""

    exit_code = 4
    http_status = 404


class ConflictError(VariorumError):
    """The state moved on, or needs an explicit yes: re-plan, or confirm."""

    exit_code = 5
    http_status = 409


class BusyError(VariorumError):
    """Another process holds it: wait and try again."""

    exit_code = 6
    http_status = 423


class UnavailableError(VariorumError):
    """Something outside failed (disk, model, network): mend it and try again."""

    exit_code = 7
    http_status = 503


class DamagedError(VariorumError):
    """What is stored is not what was written: run `variorum verify`."""

    exit_code = 8
    http_status = 500


class UnsupportedError(VariorumError):
    """This version or this installation cannot do it."""

    exit_code = 9
    http_status = 501


class DeniedError(VariorumError):
    """This is the owner's alone: ask whoever runs the index."""

    exit_code = 11
    http_status = 403


class UnverifiedError(VariorumError):
    """Nobody vouches for this identity: sign in again."""

    exit_code = 12
    http_status = 401


class BugError(VariorumError):
    """A promise of the program itself is broken: please report it."""

    exit_code = 70
    http_status = 500


EXIT_HELD = 3
"""Exit code of a run that published, but held some documents at their last good revision."""

EXIT_ALERTS = 10
"""Exit code of `variorum alerts` where one is due."""
