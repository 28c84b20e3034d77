"""A reranker behind an address, of the shape that most servers have: `POST …/rerank`."""

from collections.abc import Sequence
from functools import cached_property
from math import isfinite

from variorum.embedding.remote.client import EmbeddingsClient
from variorum.embedding.remote.secrets import key_from_environment
from variorum.records.errors import UnavailableError


class RerankEndpoint:
    """Asks once, and believes no answer that does not score each passage. Safe for threads."""

    def __init__(self, url: str, model: str, key_env: str = "", timeout_s: float = 10.0) -> None:
        self.name = model
        self._url = f"{url}/rerank"
        self._key_env = key_env
        self._timeout_s = timeout_s

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers the query, in order: higher is better.

        Raises:
            UnavailableError: it cannot answer now, or its answer is unusable.
        """
        body: dict[str, object] = {"model": self.name, "query": query, "documents": list(passages)}
        answer = self._client.post({**body, "top_n": len(passages), "return_documents": False})
        found = dict(_scored(answer))
        if sorted(found) != list(range(len(passages))):
            raise self._unusable(f"{len(found)} scores of {len(passages)} passages")
        return [found[place] for place in range(len(passages))]

    @cached_property
    def _client(self) -> EmbeddingsClient:
        return EmbeddingsClient(self._url, key_from_environment(self._key_env), self._timeout_s)

    def _unusable(self, found: str) -> UnavailableError:
        return UnavailableError(
            "the reranker's answer is unusable",
            kind="bad-rerank-answer",
            subject=self._url,
            expected="a list `results` with an `index` and a `relevance_score` for each passage",
            found=found,
            remedy="check url and model of the reranker's spec",
        )


def _scored(answer: object) -> list[tuple[int, float]]:
    """(place, score) of each row that has both."""
    rows = answer.get("results") if isinstance(answer, dict) else None
    found = []
    for row in rows if isinstance(rows, list) else ():
        named = row if isinstance(row, dict) else {}
        place, score = named.get("index"), named.get("relevance_score", named.get("score"))
        is_place = isinstance(place, int) and not isinstance(place, bool)
        if is_place and isinstance(score, int | float) and isfinite(score):
            found.append((int(str(place)), float(score)))
    return found
