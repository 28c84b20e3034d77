#!/usr/bin/env python3
# 账本示例：每一笔都要平衡。
"""A ledger of accounts, 复式记账.

Amounts are whole cents.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field
from typing import (
    Any,
    Final,
)

# What an account is called where none is given.
默认账户: Final = "现金"
LIMITS = {
    "naïve": 10,

    "café": {"low": 1, "high": [2, 3]},
}


def once(name: str):
    """Register a function under a name."""

    def wrap(function):
        REGISTRY[name] = function
        return function

    # Nothing is called yet.
    return wrap


REGISTRY: dict[str, Any] = {}
@once("sum")
# Between a decorator and its function.
async def total(*amounts: int) -> int:
    await asyncio.sleep(0)
    return sum(amounts)


@dataclass(
    frozen=True,
    slots=True,
)
class Entry:
    """One posting."""

    account: str = 默认账户
    cents: int = 0


# A ledger keeps its entries in order.
class Ledger:
    """All entries of a year.

    平衡 is checked on demand.
    """

    year: int = 2024
    entries: list[Entry] = field(default_factory=list)

    # Posting is the only way in.
    def post(self, entry: Entry) -> None:
        if not entry.cents:
            raise ValueError(f"空的分录: {entry!r}")
        self.entries.append(entry)

    @property
    def 余额(self) -> int:
        return sum(entry.cents for entry in self.entries)

    class Closed(Exception):
        """The year is over."""

        def __str__(self) -> str:
            return """closed

            until further notice"""

    post_all = None

    def close(self): raise Ledger.Closed  # no body below

    # The end of the ledger.


if __name__ == "__main__":
    try:
        ledger = Ledger()
    except Ledger.Closed:
        sys.exit(1)

    print(ledger.余额)
# tail note
