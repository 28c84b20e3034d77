"""What a provider's failure means to a job: try again, split the batch, or give up."""

from variorum.records.errors import UnavailableError


class TransientError(UnavailableError):
    """The provider may answer the same request later; `retry_after_s` where it says when."""

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        subject: str,
        found: str,
        expected: str = "an answer",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(
            message,
            kind=kind,
            subject=subject,
            expected=expected,
            found=found,
            remedy="run the command again when the provider answers: finished vectors are kept",
        )
        self.retry_after_s = retry_after_s


class BatchRefusedError(UnavailableError):
    """The provider refuses a call of several inputs as a whole, whatever the input at fault."""
