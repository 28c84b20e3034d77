"""Steadlith over the same documents, through the functions that its commands call."""

import shutil
from importlib.util import find_spec
from pathlib import Path

_CONFIG = """
[chunker]
strategy = "cdc-rabin"

[embedding]
provider = "hash"
model = "steadlith-hash-256-v1"
dimensions = 256

[store]
cache = ".steadlith/cache.sqlite3"

[index]
backend = "sqlite"
database = ".steadlith/index.sqlite3"

[sources]
include = ["docs/**/*.md"]
exclude = []
"""


def is_installed() -> bool:
    return find_spec("steadlith") is not None


class Steadlith:
    """An index of `folder`/docs at its defaults, with its offline embedder of 256 dimensions."""

    def __init__(self, folder: Path) -> None:
        from steadlith.config import load_config

        shutil.rmtree(folder / ".steadlith", ignore_errors=True)
        file = folder / "steadlith.toml"
        file.write_text(_CONFIG)
        self._config = load_config(file)

    def index(self) -> int:
        """Plan and apply, as `steadlith index --allow-delete` does; how many chunks are active."""
        from steadlith.index.service import apply_prepared, prepare_index

        return int(apply_prepared(prepare_index(self._config)).active_chunks)

    def query(self, text: str, k: int = 10) -> int:
        from steadlith.index.service import query_index

        return len(query_index(self._config, text, limit=k))
