"""What a model's folder says of the model: its tokenizer, limit, pooling and prefixes."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from variorum.records.errors import InputError, NotFoundError, UnavailableError

_UNLIMITED = 1_000_000
_ROBERTA = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})
"""Kinds of models whose first positions are taken by padding."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder in the layout of the hub: its configuration may lie beside an `onnx` folder."""

    path: Path

    def find(self, *names: str) -> Path | None:
        """The first of the files that is there, under the folder or its `onnx` folder."""
        places = (base / name for name in names for base in (self.path, self.path / "onnx"))
        return next((place for place in places if place.is_file()), None)

    def require(self, *names: str) -> Path:
        """The first of the files that is there.

        Raises:
            NotFoundError: none of them, or no folder at all.
        """
        found = self.find(*names)
        if found is None:
            raise NotFoundError(
                f"the model's folder holds no {names[0]}",
                kind="no-model-file",
                subject=str(self.path),
                expected=" or ".join(names),
                found="a folder without it" if self.path.is_dir() else "no folder",
                remedy="name the folder that the model was saved to",
            )
        return found

    def settings(self, name: str) -> dict[str, Any]:
        """A JSON file of the folder; empty where it is not there."""
        found = self.find(name)
        try:
            read = json.loads(found.read_text(encoding="utf-8")) if found else {}
        except (OSError, ValueError) as error:
            raise UnavailableError(
                f"{name} of the model's folder cannot be read",
                kind="bad-model-file",
                subject=str(found),
                expected="a JSON object",
                found=str(error),
                remedy="take the file that belongs to the model",
            ) from error
        return read if isinstance(read, dict) else {}

    @property
    def max_tokens(self) -> int | None:
        """The limit that the folder states, special tokens included."""
        config = self.settings("config.json")
        taken = config.get("pad_token_id", 0) + 1 if config.get("model_type") in _ROBERTA else 0
        stated = [
            self.settings("sentence_bert_config.json").get("max_seq_length"),
            self.settings("tokenizer_config.json").get("model_max_length"),
            config.get("max_position_embeddings", 0) - taken,
        ]
        numbers = (one for one in stated if isinstance(one, int | float))
        return min((int(one) for one in numbers if 0 < one < _UNLIMITED), default=None)

    @property
    def pooling(self) -> str | None:
        """`mean` or `cls`, where the folder states it."""
        stated = self.settings("1_Pooling/config.json")
        if stated.get("pooling_mode_cls_token"):
            return "cls"
        return "mean" if stated.get("pooling_mode_mean_tokens") else None

    def prefix(self, *names: str) -> str:
        """The text that stands before an input, under the first of the names that is known."""
        prompts = self.settings("config_sentence_transformers.json").get("prompts") or {}
        return next((str(prompts[name]) for name in names if prompts.get(name)), "")

    @property
    def dimensions(self) -> int | None:
        """The width of a hidden state, where the folder states it."""
        stated = self.settings("config.json").get("hidden_size")
        return stated if isinstance(stated, int) else None


def required(value: int | str | None, name: str, folder: Path) -> Any:
    """A setting that neither the spec nor the folder may leave open.

    Raises:
        InputError: both do.
    """
    if value is None:
        raise InputError(
            f"the model's folder does not say its {name}",
            kind="bad-parameter",
            subject=str(folder),
            expected=f"{name} in the spec",
            found="neither there nor in the folder",
            remedy=f"add {name}=… to the spec, as the model's card states it",
        )
    return value


def sha256_of_files(files: Iterable[Path]) -> str:
    """One hash over the contents of several files. Linear in their size.

    Raises:
        UnavailableError: one cannot be read.
    """
    digest = hashlib.sha256()
    for file in sorted(files):
        try:
            with file.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError as error:
            raise UnavailableError(
                f"{file.name} of the model's folder cannot be read",
                kind="bad-model-file",
                subject=str(file),
                expected="a readable file",
                found=error.strerror or str(error),
                remedy="check its permissions",
            ) from error
    return digest.hexdigest()
