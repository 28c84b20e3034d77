"""What a user's own object does wrong, as an error of ours that names it."""

from collections.abc import Iterator
from contextlib import contextmanager

from variorum.records.errors import BugError, UnavailableError, VariorumError

_MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    NotImplementedError,
    TypeError,
    ValueError,
)
"""What only a mistake in an object's code raises; anything else is of the world around it."""


@contextmanager
def blamed(name: str, role: str = "embedder") -> Iterator[None]:
    """Raise what happens inside as an error of ours; `role` is what the object called `name` is.

    Raises:
        BugError: a mistake in the object's code.
        UnavailableError: it cannot answer now.
    """
    try:
        yield
    except VariorumError:
        raise
    except Exception as error:
        is_mistake = isinstance(error, _MISTAKES)
        make = BugError if is_mistake else UnavailableError
        raise make(
            f"the {role} {name!r} failed",
            kind=f"{role}-broke-contract" if is_mistake else f"{role}-failed",
            subject=name,
            expected="an answer, or an error of variorum.records.errors",
            found=f"{type(error).__name__}: {error}",
            remedy=f"report it to the {role}'s author"
            if is_mistake
            else f"mend what the {role} needs, then run the command again",
        ) from error
