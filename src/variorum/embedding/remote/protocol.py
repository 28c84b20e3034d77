"""OpenAI's embeddings protocol: what is sent, what an answer means, what a failure means."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from variorum.embedding.answers import BAD_ANSWER
from variorum.embedding.failures import BatchRefusedError, TransientError
from variorum.records.errors import UnavailableError, VariorumError
from variorum.records.protocols import Vectors

_SHOWN_CHARACTERS = 200
_SECONDS = re.compile(r"\d{1,9}(\.\d+)?")
_FOR_GOOD = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_AGAIN_LATER = frozenset({408, 409, 425, 429})


def request_body(model: str, inputs: Sequence[str], dimensions: int | None) -> dict[str, object]:
    """The JSON body of one call."""
    body: dict[str, object] = {"model": model, "input": list(inputs), "encoding_format": "float"}
    return body if dimensions is None else {**body, "dimensions": dimensions}


def read_vectors(body: object, count: int, dimensions: int, subject: str) -> Vectors:
    """The vectors in the order of the inputs, at unit length; NaN where a row is unusable.

    Raises:
        TransientError: not one usable vector for each input, or none usable at all.
    """
    rows = body.get("data") if isinstance(body, dict) else None
    if not isinstance(rows, list) or len(rows) != count:
        found = f"{len(rows)} rows" if isinstance(rows, list) else "no list `data`"
        raise _unusable(subject, f"{count} rows in `data`", found)
    vectors = np.full((count, dimensions), np.nan, dtype=np.float32)
    for place, row in zip(_places(rows, subject), rows, strict=True):
        vectors[place] = _unit_vector(row.get("embedding"), dimensions)
    if count and np.isnan(vectors[:, 0]).all():
        found = _described(rows[0].get("embedding"))
        raise _unusable(subject, f"{dimensions} finite numbers, not all zero", found)
    return vectors


def _places(rows: Sequence[Any], subject: str) -> list[int]:
    """The place of each row: its `index`, or its own place where no row has one."""
    if not all(isinstance(row, dict) for row in rows):
        raise _unusable(subject, "an object for each input", "something else in `data`")
    indexes = [row.get("index") for row in rows]
    if all(index is None for index in indexes):
        return list(range(len(rows)))
    if sorted(map(str, indexes)) != sorted(map(str, range(len(rows)))):
        found = ", ".join(map(str, indexes[:8]))
        raise _unusable(subject, f"each `index` under {len(rows)} once", found)
    return [int(str(index)) for index in indexes]


def _unit_vector(values: object, dimensions: int) -> Vectors | float:
    """The row at unit length, or NaN where it is none."""
    if not isinstance(values, list) or len(values) != dimensions:
        return float("nan")
    try:
        row = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return float("nan")
    length = float(np.linalg.norm(row))
    if not (np.isfinite(length) and length > 0):
        return float("nan")
    unit: Vectors = (row / length).astype(np.float32)
    return unit


def _described(values: object) -> str:
    if not isinstance(values, list):
        return type(values).__name__
    return f"{len(values)} numbers, or ones that are not finite, or zeros"


def _unusable(subject: str, expected: str, found: str) -> TransientError:
    return TransientError(
        f"the embedder's answer is unusable: {found} instead of {expected}",
        kind=BAD_ANSWER,
        subject=subject,
        expected=expected,
        found=found,
    )


def failure(
    status: int, body: object, retry_after: str, subject: str, now: datetime
) -> VariorumError:
    """What an answer with another status than 200 means."""
    said = f"status {status}: {_said(body)}"
    if _code(body) in _FOR_GOOD:
        return _for_good("quota-spent", "the provider's quota is spent", subject, said)
    if status in _AGAIN_LATER or status >= 500:
        wait_s = retry_after_s(retry_after, now)
        kind, message = "provider-error", "the provider failed"
        if status == 429:
            kind, message = "rate-limited", "the provider's rate limit is reached"
        return TransientError(message, kind=kind, subject=subject, found=said, retry_after_s=wait_s)
    if status in (401, 403):
        return _for_good("key-refused", "the provider refuses the key", subject, said)
    if status in (404, 405) or 300 <= status < 400:
        return _for_good("no-such-endpoint", "there is no such model or address", subject, said)
    return BatchRefusedError(
        "the provider refuses the inputs",
        kind="batch-refused",
        subject=subject,
        expected="inputs that the model takes",
        found=said,
        remedy="see the provider's message",
    )


def retry_after_s(header: str, now: datetime) -> float | None:
    """Seconds that a `Retry-After` header asks for, given as seconds or as a date."""
    if _SECONDS.fullmatch(header.strip()):
        return float(header)
    try:
        when = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


def _for_good(kind: str, message: str, subject: str, found: str) -> UnavailableError:
    remedies = {
        "quota-spent": "raise the quota with the provider, then run again: vectors are kept",
        "key-refused": "check the key in the variable that the spec's key_env names",
        "no-such-endpoint": "check url and model in the spec",
    }
    return UnavailableError(
        message,
        kind=kind,
        subject=subject,
        expected="an answer",
        found=found,
        remedy=remedies[kind],
    )


def _error(body: object) -> dict[str, object]:
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _code(body: object) -> str:
    return str(_error(body).get("code") or "")


def _said(body: object) -> str:
    said = " ".join(str(_error(body).get("message") or body or "nothing").split())
    return said if len(said) <= _SHOWN_CHARACTERS else said[: _SHOWN_CHARACTERS - 1] + "…"
