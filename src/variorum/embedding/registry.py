"""Which model a spec names, such as `e5-small` or `hashing(dimensions=256)`."""

import re
from collections.abc import Callable, Mapping

from variorum.embedding.e5.embedder import E5Embedder
from variorum.embedding.hashing import HashingEmbedder
from variorum.records.errors import InputError
from variorum.records.protocols import Embedder

DEFAULT_MODEL = "e5-small"
"""The spec of the model used where none is named."""

_SPEC = re.compile(r"\s*(?P<name>[a-z0-9-]+)\s*(?:\((?P<parameters>[^()]*)\))?\s*")
_PARAMETER = re.compile(r"\s*(?P<field>[a-z_]+)\s*=\s*(?P<value>-?\d{1,9})\s*")

_Ranges = Mapping[str, range]
_MODELS: Mapping[str, tuple[Callable[..., Embedder], _Ranges]] = {
    "e5-small": (E5Embedder, {}),
    "hashing": (
        HashingEmbedder,
        {"dimensions": range(8, 4097), "max_tokens": range(8, 65537)},
    ),
}


def embedder_from_spec(spec: str = DEFAULT_MODEL) -> Embedder:
    """The embedder that `spec` names: a model's name, with whole-number parameters in brackets.

    Nothing is loaded or converted before the embedder's first use.

    Raises:
        InputError: no such model (`unknown-model`), or a parameter that it does not take or that is
            out of range (`bad-parameter`).
    """
    match = _SPEC.fullmatch(spec)
    if match is None or match["name"] not in _MODELS:
        raise _unknown_model(spec)
    build, ranges = _MODELS[match["name"]]
    return build(**_parameters(spec, match["parameters"] or "", ranges))


def _parameters(spec: str, printed: str, ranges: _Ranges) -> dict[str, int]:
    values: dict[str, int] = {}
    for item in printed.split(",") if printed.strip() else []:
        match = _PARAMETER.fullmatch(item)
        if match is None or match["field"] not in ranges or match["field"] in values:
            taken = ", ".join(f"{field}=WHOLE_NUMBER" for field in ranges) or "no parameters"
            raise _bad_parameter(spec, item.strip(), f"{taken}, each once")
        field, value = match["field"], int(match["value"])
        if value not in ranges[field]:
            allowed = f"{field} from {ranges[field].start} to {ranges[field].stop - 1}"
            raise _bad_parameter(spec, f"{field}={value}", allowed)
        values[field] = value
    return values


def _unknown_model(spec: str) -> InputError:
    known = ", ".join(_MODELS)
    return InputError(
        f"there is no model {spec!r}",
        kind="unknown-model",
        subject=spec,
        expected=f"one of: {known}",
        found=spec,
        remedy=f"name one of {known}; hashing takes (dimensions=256, max_tokens=512)",
    )


def _bad_parameter(spec: str, found: str, expected: str) -> InputError:
    return InputError(
        f"{found!r} is not a parameter of the model {spec!r}",
        kind="bad-parameter",
        subject=spec,
        expected=expected,
        found=found,
        remedy=f"use {expected}",
    )
