"""A model in a folder, run by the `fastembed` library; an optional extra."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from variorum.embedding.local.folder import required, sha256_of_files
from variorum.embedding.local.libraries import required_library
from variorum.embedding.local.pooled import PooledEmbedder


class FastEmbedEmbedder(PooledEmbedder):
    """The library's pooling and normalisation over an ONNX file of the folder."""

    kind = "fastembed"

    def rules(self) -> Mapping[str, str]:
        """Pooling and library."""
        return {"pooling": self.pooling, "runtime": "fastembed on CPU, one input a run"}

    def dimensions(self) -> int:
        """As the folder's config.json states it."""
        width = self.folder.dimensions
        return int(required(width, "hidden_size (config.json)", self.folder.path))

    def weights_sha256(self) -> str:
        """Over the ONNX files of the folder."""
        return sha256_of_files(self._path.parent.glob("*.onnx*"))

    def load(self) -> None:
        """Load the model."""
        assert self._model

    def run(self, text: str, ids: Sequence[int]) -> NDArray[np.float32]:
        """One call of the library with one input."""
        row: NDArray[np.float32] = np.asarray(next(iter(self._model.embed([text]))), np.float32)
        return row

    @cached_property
    def _model(self) -> Any:
        path = self.folder.path.resolve()
        return _load(path, self._path.resolve().relative_to(path), self.pooling, self.dimensions())


def _load(path: Path, file: Path, pooling: str, dimensions: int) -> Any:
    library = required_library("fastembed", "fastembed")
    common = required_library("fastembed.common.model_description", "fastembed")
    name = f"variorum/{path.name}-{pooling}"
    known = {one["model"] for one in library.TextEmbedding.list_supported_models()}
    if name not in known:
        library.TextEmbedding.add_custom_model(
            model=name,
            pooling=getattr(common.PoolingType, pooling.upper()),
            normalization=True,
            sources=common.ModelSource(hf=name),
            dim=dimensions,
            model_file=str(file),
        )
    loaded = library.TextEmbedding(
        name, specific_model_path=str(path), threads=1, providers=["CPUExecutionProvider"]
    )
    tokenizer = loaded.model.tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return loaded
