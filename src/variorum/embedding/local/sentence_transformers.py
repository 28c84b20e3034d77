"""A model that the `sentence-transformers` library saved to a folder; an optional extra."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from variorum.embedding.local.embedder import FolderEmbedder
from variorum.embedding.local.folder import sha256_of_files
from variorum.embedding.local.libraries import required_library

_DOCUMENTATION = frozenset({".md", ".png", ".gitattributes"})


class SentenceTransformersEmbedder(FolderEmbedder):
    """Runs on the CPU. Modules of the folder that are code of its own are not run."""

    kind = "sentence-transformers"

    def rules(self) -> Mapping[str, str]:
        """The library; pooling and further layers are files of the folder."""
        return {"runtime": "sentence-transformers on CPU, one input a run"}

    def dimensions(self) -> int:
        """As the library says; loads the model."""
        return int(self._model.get_sentence_embedding_dimension())

    def weights_sha256(self) -> str:
        """Over every file of the folder but documentation."""
        files = (file for file in self.folder.path.rglob("*") if file.is_file())
        return sha256_of_files(f for f in files if (f.suffix or f.name) not in _DOCUMENTATION)

    def load(self) -> None:
        """Load the model."""
        assert self._model

    def run(self, text: str, ids: Sequence[int]) -> NDArray[np.float32]:
        """One call of the library with one input. Prefixes are in the text already."""
        vectors = self._model.encode(
            [text], prompt="", batch_size=1, convert_to_numpy=True, show_progress_bar=False
        )
        row: NDArray[np.float32] = np.asarray(vectors[0], dtype=np.float32)
        return row

    @cached_property
    def _model(self) -> Any:
        return _load(self.folder.path, self.max_tokens)


def _load(path: Path, max_tokens: int) -> Any:
    library = required_library("sentence_transformers", "sentence-transformers")
    model = library.SentenceTransformer(str(path), device="cpu", local_files_only=True)
    model.max_seq_length = max_tokens
    # Counted as plain text, so sent as plain text: a literal `</s>` is characters.
    model.tokenizer.backend_tokenizer.encode_special_tokens = True
    return model
