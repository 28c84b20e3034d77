"""What a plan would cost in time and money."""

from itertools import islice
from time import perf_counter

from variorum.embedding.jobs import embed_in_order
from variorum.store.generations import GenerationRow
from variorum.sync.planning import Plan

_PROBE_INPUTS = 4


def estimate(
    plan: Plan, generations: list[GenerationRow], usd_per_million_tokens: float | None
) -> dict[str, float]:
    """`embed_s`, from the last sync's rate or a probe of a few inputs, and `usd` given a price."""
    tokens = plan.report.tokens.embed
    priced: dict[str, float] = {}
    if usd_per_million_tokens is not None:
        priced["usd"] = round(tokens * usd_per_million_tokens / 1e6, 6)
    if not tokens:
        return {**priced, "embed_s": 0.0}
    rate = _past_rate(plan, generations) or _probed_rate(plan)
    return {**priced, "embed_s": round(tokens / rate, 2)} if rate else priced


def _past_rate(plan: Plan, generations: list[GenerationRow]) -> float | None:
    fingerprint = plan.target.settings.embedder.identity.fingerprint
    for row in reversed(generations):
        tokens = row.report.get("tokens")
        seconds = row.report.get("embed_s")
        same = row.model_fingerprint == fingerprint
        if same and isinstance(tokens, dict) and isinstance(seconds, float) and seconds > 0.2:
            return float(tokens["embed"]) / seconds
    return None


def _probed_rate(plan: Plan) -> float | None:
    """Tokens a second over the plan's first inputs. Their vectors are not kept."""
    probe = list(islice(plan.staging.inputs_to_embed(page_size=_PROBE_INPUTS), _PROBE_INPUTS))
    pairs = [(staged, staged.text) for staged in probe]
    list(embed_in_order(plan.target.settings.embedder, iter(pairs[:1])))
    started = perf_counter()
    list(embed_in_order(plan.target.settings.embedder, iter(pairs)))
    seconds = perf_counter() - started
    return sum(staged.tokens for staged in probe) / seconds if seconds > 0 else None
