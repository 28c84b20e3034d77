"""Which reranker a spec names, such as `endpoint(url=https://…/v1, model=…)`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from variorum.embedding.remote.address import sound_url
from variorum.embedding.rerank.cross_encoder import CrossEncoder
from variorum.embedding.rerank.endpoint import RerankEndpoint
from variorum.embedding.spec import Parameters, Whole, Words, bad_parameter, parse_spec
from variorum.embedding.spec import read_settings as read
from variorum.records.errors import InputError
from variorum.records.protocols import Reranker

RERANKERS: Mapping[str, Parameters] = {
    "endpoint": {
        "url": Words(),
        "model": Words(),
        "key_env": Words(),
        "timeout_s": Whole(1, 3600),
    },
    "onnx": {"path": Words(), "file": Words(), "max_tokens": Whole(8, 1_000_000)},
}
_REQUIRED = {"endpoint": ("url", "model"), "onnx": ("path",)}


def reranker_from_spec(spec: str, base: Path = Path()) -> Reranker:
    """The reranker that `spec` names; relative paths are taken from `base`.

    Nothing is loaded or sent before its first use.

    Raises:
        InputError: no such reranker (`unknown-reranker`), or a setting that it does not take or
            lacks (`bad-parameter`).
    """
    parsed = parse_spec(spec)
    if parsed is None or parsed[0] not in RERANKERS:
        raise _unknown(spec)
    kind = parsed[0]
    values: dict[str, Any] = dict(read(spec, parsed[1], RERANKERS[kind]))
    for name in _REQUIRED[kind]:
        if not values.get(name):
            raise bad_parameter(spec, "", f"{name}=TEXT")
    if kind == "endpoint":
        values["url"] = sound_url(spec, values["url"], values.get("key_env", ""))
        return RerankEndpoint(**values)
    return CrossEncoder((base / Path(values.pop("path")).expanduser()).absolute(), **values)


def _unknown(spec: str) -> InputError:
    known = ", ".join(RERANKERS)
    return InputError(
        f"there is no reranker {spec!r}",
        kind="unknown-reranker",
        subject=spec,
        expected=f"one of: {known}",
        found=spec,
        remedy=f"name one of {known}, with settings in brackets",
    )
