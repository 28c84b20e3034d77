"""A folder with documents and the command line run in it, in this process."""

import contextlib
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from variorum.surfaces.cli.app import run

MODEL = "hashing(dimensions=256)"

LEAVE = """\
---
owner: People
---
# Leave

## Annual leave

Everyone has 25 days of annual leave a year. Up to five days may be kept for the next year.

## Parental leave

Parental leave is 80 working days at full pay.
"""

TRAVEL = """\
# 差旅管理办法

## 住宿标准

一线城市住宿限额为每人每晚四百五十元，其他城市为三百元。

## 交通

高铁二等座可以全额报销。
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        lines = self.out.splitlines()
        assert len(lines) == 1, self.out
        parsed = json.loads(lines[0])
        assert isinstance(parsed, dict)
        return parsed


@dataclass(frozen=True)
class Workplace:
    folder: Path

    def run(self, *arguments: str) -> Result:
        out, err = io.StringIO(), io.StringIO()
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run(list(arguments))
        finally:
            os.chdir(before)
        assert "Traceback" not in out.getvalue() + err.getvalue()
        return Result(code, out.getvalue(), err.getvalue())

    def done(self, *arguments: str) -> Result:
        result = self.run(*arguments)
        assert result.code == 0, result
        return result

    def json(self, *arguments: str) -> dict[str, Any]:
        return self.run(*arguments, "--json").json

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def list_of_doubt(self) -> str:
        """A list of changes on which everything is compared all the same."""
        return str(self.write("changes.txt", "docs\n"))

    def configure(self, more: str = "", model: str = MODEL) -> None:
        self.write(
            "variorum.toml", f'[model]\nspec = "{model}"\n[sources.docs]\nroot = "docs"\n{more}'
        )
