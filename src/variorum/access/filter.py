"""The one filter: a principal's rights under one policy at one date, compiled once."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from variorum.access.policy import Policy
from variorum.access.principals import Principal


@dataclass(frozen=True, slots=True)
class AccessFilter:
    """What decides every answer. Two that are equal let the same through.

    `readers` are the readers that the principal is, or None for the owner, who may read everything.
    `at_us` is an instant, or None for any date. Every read path takes the filter; none has another.
    """

    tenant: str
    policy_version: int
    readers: frozenset[str] | None
    at_us: int | None


def compile_filter(
    tenant: str,
    policy: Policy | None,
    policy_version: int,
    principal: Principal,
    at_us: int | None,
    boundaries_us: Sequence[int] = (),
) -> AccessFilter:
    """The filter of a principal over what a tenant holds, at an instant.

    `boundaries_us` are the sorted instants at which anything begins or ends: between two of them
    nothing changes, so the instant is taken back to the last one, and equal rights are equal
    filters. Without a policy nobody but the owner is anybody, and nobody is of another tenant.
    """
    at = _at_boundary(at_us, boundaries_us)
    if principal.tenant == tenant and principal.is_owner:
        return AccessFilter(tenant, policy_version, None, at)
    return AccessFilter(tenant, policy_version, _readers(tenant, policy, principal), at)


def _readers(tenant: str, policy: Policy | None, principal: Principal) -> frozenset[str]:
    if policy is None or principal.tenant != tenant:
        return frozenset()
    groups = policy.groups.get(f"user:{principal.user}", frozenset())
    return principal.readers | groups


def _at_boundary(at_us: int | None, boundaries_us: Sequence[int]) -> int | None:
    if at_us is None:
        return None
    if not boundaries_us:
        return 0
    place = bisect_right(boundaries_us, at_us)
    return boundaries_us[place - 1] if place else boundaries_us[0] - 1
