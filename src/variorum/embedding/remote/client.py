"""One call over HTTP, and what became of it."""

import json
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from variorum.embedding.answers import BAD_ANSWER
from variorum.embedding.failures import TransientError
from variorum.embedding.remote.protocol import failure
from variorum.embedding.remote.secrets import Key


class EmbeddingsClient:
    """Posts to one address. Redirects are not followed: they would carry the key elsewhere."""

    def __init__(self, url: str, key: Key, timeout_s: float) -> None:
        self._url = url
        self._key = key
        self._timeout_s = timeout_s
        self._lock = Lock()
        self._http: Any = None

    def post(self, body: dict[str, object]) -> object:
        """The parsed answer of one call.

        Raises:
            TransientError: it timed out, broke off, or the provider failed for now.
            UnavailableError: the provider refuses the key, the address or the call.
        """
        import httpx2

        try:
            response = self._session().post(self._url, json=body)
        except httpx2.TimeoutException as error:
            found = f"none within {self._timeout_s:g} s ({type(error).__name__})"
            raise self._unreachable("provider-timeout", "the provider is slow", found) from None
        except httpx2.HTTPError as error:
            found = self._key.masked(f"{type(error).__name__}: {error}")
            message = "the provider cannot be reached"
            raise self._unreachable("provider-unreachable", message, found) from None
        if response.status_code != 200:
            after = response.headers.get("retry-after", "")
            said = _parsed(self._key.masked(response.text))
            raise failure(response.status_code, said, after, self._url, datetime.now(UTC))
        answer = _parsed(response.text)
        if isinstance(answer, str):
            raise self._unreachable(BAD_ANSWER, "the embedder's answer is unusable", "no JSON")
        return answer

    def _session(self) -> Any:
        import httpx2

        with self._lock:
            if self._http is None:
                self._http = httpx2.Client(headers=self._key.headers, timeout=self._timeout_s)
            return self._http

    def _unreachable(self, kind: str, message: str, found: str) -> TransientError:
        return TransientError(message, kind=kind, subject=self._url, found=found)


def _parsed(text: str) -> object:
    """The JSON value, or the text itself where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text
