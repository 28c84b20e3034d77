"""What every call keeps: it is of one store, and a failure has the store looked at first."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from variorum.records.errors import VariorumError
from variorum.store.store import Store


class _HasStore(Protocol):
    @property
    def _store(self) -> Store: ...


Index = TypeVar("Index", bound=_HasStore)
P = ParamSpec("P")
R = TypeVar("R")


def telling_damage(call: Callable[Concatenate[Index, P], R]) -> Callable[Concatenate[Index, P], R]:
    """The same call, on one store from its beginning to its end, which raises `DamagedError` where
    it trips over what is not as written.

    Only a failure without a meaning of its own has the store looked through: linear in it.
    """

    @wraps(call)
    def told(index: Index, /, *arguments: P.args, **named: P.kwargs) -> R:
        try:
            with index._store.one_opening():
                return call(index, *arguments, **named)
        except VariorumError:
            raise
        except Exception as error:
            damage = index._store.damage()
            if damage is None:
                raise
            raise damage from error

    return told
