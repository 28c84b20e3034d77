"""Which model a spec names, such as `e5-small` or `onnx(path=models/bge-m3, pooling=cls)`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from variorum.embedding.batches import BatchLimits
from variorum.embedding.e5.embedder import E5Embedder
from variorum.embedding.hashing import HashingEmbedder
from variorum.embedding.local.fastembed import FastEmbedEmbedder
from variorum.embedding.local.onnx import POOLINGS, OnnxEmbedder
from variorum.embedding.local.sentence_transformers import SentenceTransformersEmbedder
from variorum.embedding.remote.address import OPENAI, OPENAI_KEY, sound_url
from variorum.embedding.remote.embedder import RemoteEmbedder, RemoteModel
from variorum.embedding.remote.pace import Pace, PaceLimits
from variorum.embedding.spec import (
    Parameters,
    Value,
    Whole,
    Words,
    bad_parameter,
    parse_spec,
    read_settings,
)
from variorum.records.errors import InputError
from variorum.records.protocols import Embedder

DEFAULT_MODEL = "e5-small"
"""The spec of the model used where none is named."""

_Build = Callable[[str, Path, Any], Embedder]

_FOLDER: Parameters = {
    "path": Words(),
    "max_tokens": Whole(8, 1_000_000),
    "passage_prefix": Words(),
    "query_prefix": Words(),
    "threads": Whole(1, 1024),
}
_ADDRESS: Parameters = {
    "model": Words(),
    "url": Words(),
    "dimensions": Whole(1, 65_536),
    "max_tokens": Whole(8, 1_000_000),
    "tokenizer": Words(),
    "query_model": Words(),
    "passage_prefix": Words(),
    "query_prefix": Words(),
    "declared": Words(),
    "key_env": Words(),
    "added_tokens": Whole(0, 1000),
    "sends_dimensions": Words(("yes", "no")),
    "timeout_s": Whole(1, 3600),
    "max_inputs": Whole(1, 2048),
    "max_batch_tokens": Whole(1, 10_000_000),
    "max_in_flight": Whole(1, 64),
    "requests_per_minute": Whole(2, 1_000_000),
    "tokens_per_minute": Whole(1, 999_999_999),
    "attempts": Whole(1, 20),
}


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of model: how one is built, and the settings it takes and needs."""

    build: _Build
    parameters: Parameters
    required: tuple[str, ...] = ()


def embedder_from_spec(spec: str = DEFAULT_MODEL, base: Path = Path()) -> Embedder:
    """The embedder that `spec` names: a kind of model, with settings in brackets.

    Relative paths are taken from `base`. Nothing is loaded, converted or sent before the embedder's
    first use.

    Raises:
        InputError: no such model (`unknown-model`), or a setting that it does not take, that is out
            of range, or that is missing (`bad-parameter`).
    """
    parsed = parse_spec(spec)
    if parsed is None or parsed[0] not in MODELS:
        raise _unknown_model(spec)
    kind = MODELS[parsed[0]]
    values = read_settings(spec, parsed[1], kind.parameters)
    for name in kind.required:
        if not values.get(name):
            raise bad_parameter(spec, "", f"{name}={kind.parameters[name].shape}")
    return kind.build(spec, base, values)


def _e5(_spec: str, _base: Path, _values: Mapping[str, Value]) -> Embedder:
    return E5Embedder()


def _hashing(_spec: str, _base: Path, values: Mapping[str, Any]) -> Embedder:
    return HashingEmbedder(**values)


def _folder(model: Callable[..., Embedder]) -> _Build:
    def build(_spec: str, base: Path, values: dict[str, Any]) -> Embedder:
        path = (base / Path(values.pop("path")).expanduser()).absolute()
        return model(path, **values)

    return build


def _remote(spec: str, base: Path, values: dict[str, Any]) -> Embedder:
    url = str(values.pop("url", OPENAI))
    values.setdefault("key_env", OPENAI_KEY if url.rstrip("/") == OPENAI else "")
    values["url"] = sound_url(spec, url, values["key_env"])
    values["sends_dimensions"] = values.get("sends_dimensions") == "yes"
    most_tokens = values.pop("max_batch_tokens", 100_000)
    per_minute = values.get("tokens_per_minute")
    if per_minute is not None and per_minute < 4 * values["max_tokens"]:
        expected = f"tokens_per_minute of at least {4 * values['max_tokens']}: four inputs' worth"
        raise bad_parameter(spec, f"tokens_per_minute={per_minute}", expected)
    pace = {
        name: values.pop(name)
        for name in ("requests_per_minute", "tokens_per_minute", "attempts")
        if name in values
    }
    in_flight = values.pop("max_in_flight", 4)
    limits = BatchLimits(
        max_inputs=values.pop("max_inputs", 64),
        # No batch over what the pace lets through at once.
        max_tokens=min(most_tokens, per_minute // 4 if per_minute else most_tokens),
        max_in_flight=in_flight,
    )
    paced = Pace(PaceLimits(max_in_flight=in_flight, **pace))
    return RemoteEmbedder(RemoteModel(**values), paced, limits, base)


MODELS: Mapping[str, _Kind] = {
    "e5-small": _Kind(_e5, {}),
    "hashing": _Kind(_hashing, {"dimensions": Whole(8, 4096), "max_tokens": Whole(8, 65_536)}),
    "onnx": _Kind(
        _folder(OnnxEmbedder), {**_FOLDER, "file": Words(), "pooling": Words(POOLINGS)}, ("path",)
    ),
    "sentence-transformers": _Kind(_folder(SentenceTransformersEmbedder), _FOLDER, ("path",)),
    "fastembed": _Kind(
        _folder(FastEmbedEmbedder),
        {**_FOLDER, "file": Words(), "pooling": Words(("mean", "cls"))},
        ("path",),
    ),
    "openai": _Kind(_remote, _ADDRESS, ("model", "dimensions", "max_tokens", "tokenizer")),
}


def _unknown_model(spec: str) -> InputError:
    known = ", ".join(MODELS)
    return InputError(
        f"there is no model {spec!r}",
        kind="unknown-model",
        subject=spec,
        expected=f"one of: {known}",
        found=spec,
        remedy=f"name one of {known}, with settings in brackets where it takes some",
    )
