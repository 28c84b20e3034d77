"""Keys: from the environment only, sent in one header, never printed."""

import os
from collections.abc import Mapping

from variorum.records.errors import UnavailableError

MASK = "***"


class Key:
    """A key that prints as its mask, wherever it is printed."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    @property
    def headers(self) -> dict[str, str]:
        """The header that carries it; none for no key."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def masked(self, text: str) -> str:
        """The text without the key, should a server have repeated it."""
        return text.replace(self._value, MASK) if self._value else text


def key_from_environment(name: str, environment: Mapping[str, str] = os.environ) -> Key:
    """The key in a variable; no key where no variable is named.

    Raises:
        UnavailableError: the variable is not set, or holds nothing.
    """
    if not name:
        return Key("")
    value = environment.get(name, "").strip()
    if not value:
        raise UnavailableError(
            f"the model's key is not in the environment: {name} is not set",
            kind="no-key",
            subject=name,
            expected=f"the provider's key in {name}",
            found="nothing",
            remedy=f"export {name}=…, or name another variable with key_env in the model's spec",
        )
    return Key(value)
