"""Before a failure is called a bug, the store is asked whether it is whole."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from variorum.records.errors import VariorumError
from variorum.store.store import Store


class _HasStore(Protocol):
    @property
    def store(self) -> Store: ...


Index = TypeVar("Index", bound=_HasStore)
P = ParamSpec("P")
R = TypeVar("R")


def telling_damage(call: Callable[Concatenate[Index, P], R]) -> Callable[Concatenate[Index, P], R]:
    """The same call, which raises `DamagedError` where it trips over what is not as written.

    Only a failure without a meaning of its own has the store looked through: linear in it.
    """

    @wraps(call)
    def told(index: Index, /, *arguments: P.args, **named: P.kwargs) -> R:
        try:
            return call(index, *arguments, **named)
        except VariorumError:
            raise
        except Exception as error:
            damage = index.store.damage()
            if damage is None:
                raise
            raise damage from error

    return told
