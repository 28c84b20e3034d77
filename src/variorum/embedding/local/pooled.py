"""What a model over an ONNX file of a folder adds: which file, and how its output is pooled."""

from functools import cached_property
from pathlib import Path
from typing import Any

from variorum.embedding.local.embedder import FolderEmbedder
from variorum.embedding.local.folder import required


class PooledEmbedder(FolderEmbedder):
    """An ONNX `file` of the folder, and the `pooling` of its hidden states."""

    def __init__(
        self, path: Path, *, file: str = "", pooling: str | None = None, **settings: Any
    ) -> None:
        super().__init__(path, **settings)
        self._file = file
        self._stated_pooling = pooling

    @cached_property
    def pooling(self) -> str:
        """How one vector is made of a text's hidden states.

        Raises:
            InputError: neither the spec nor the folder states it.
        """
        stated = self._stated_pooling or self.folder.pooling
        return str(required(stated, "pooling", self.folder.path))

    @cached_property
    def _path(self) -> Path:
        return self.folder.require(self._file or "model.onnx")
