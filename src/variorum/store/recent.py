"""Values that are made once and kept while they are asked for."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The values made last, at most `size`, by their keys. Safe for many threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._held: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of `key`, made where it is not held; two threads may both make it."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        made = make()
        with self._lock:
            value = self._held.setdefault(key, made)
            while len(self._held) > self._size:
                self._held.popitem(last=False)
            return value

    def clear(self) -> None:
        """Forget every value."""
        with self._lock:
            self._held.clear()
