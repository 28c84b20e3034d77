"""Views, each made once: the policy parsed, the filter compiled, the decision taken."""

from collections.abc import Hashable
from datetime import UTC
from typing import cast

from variorum.access.filter import AccessFilter, compile_filter
from variorum.access.policy import Policy
from variorum.access.principals import Principal, local_owner
from variorum.store.granting import parsed_policy
from variorum.store.heads import State
from variorum.store.policies import policy_rows
from variorum.store.recent import Recent
from variorum.store.snapshot import Snapshot
from variorum.store.store import Store
from variorum.store.view import View
from variorum.store.visibility import boundaries, decide


class Views:
    """The views of one store; made anew once the policy or the newest generation moves on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._views: Recent[Hashable, View] = Recent(32)
        self._boundaries: Recent[Hashable, tuple[int, ...]] = Recent(32)
        self._policies: Recent[Hashable, Policy | None] = Recent(32)

    def view(
        self,
        tenant: str,
        name: str,
        principal: Principal | None,
        at_us: int | None,
        as_of: int | None = None,
    ) -> View:
        """A generation of a collection, the newest by default, as a principal (None: the owner) may
        see it.

        The policy in force decides, whatever the generation.

        Raises:
            NotFoundError: the collection was never published, or not that generation.
        """
        state = self._store.state(tenant, name)
        policy = self.policy(state)
        self._store.read_dates_in(state.collection_id, policy.zone if policy else UTC)
        snapshot = self._store.snapshot(tenant, name, as_of, opening=state.opening)
        wanted = self._filter(tenant, state, principal or local_owner(tenant), at_us)
        key = (state, snapshot.generation.number, snapshot.erasure, wanted)
        return self._views.get(key, lambda: self._decided(state, snapshot, wanted))

    def _decided(self, state: State, snapshot: Snapshot, wanted: AccessFilter) -> View:
        with self._store.reading(state.opening) as connection:
            return View(snapshot, decide(connection, snapshot.collection_id, wanted))

    def _filter(
        self, tenant: str, state: State, principal: Principal, at_us: int | None
    ) -> AccessFilter:
        policy = self.policy(state)
        instants = self._boundaries.get(state, lambda: self._find_boundaries(state))
        return compile_filter(tenant, policy, state.policy_version, principal, at_us, instants)

    def _find_boundaries(self, state: State) -> tuple[int, ...]:
        with self._store.reading(state.opening) as connection:
            return boundaries(connection, cast(int, state.collection_id))

    def policy(self, state: State) -> Policy | None:
        """The policy in force, parsed; None where none was ever applied."""
        key = (state.opening, state.collection_id, state.policy_version)
        return self._policies.get(key, lambda: self._read_policy(state))

    def _read_policy(self, state: State) -> Policy | None:
        if not state.policy_version:
            return None
        with self._store.reading(state.opening) as connection:
            rows = policy_rows(connection, cast(int, state.collection_id), state.policy_version)
        return parsed_policy(rows[0].text)

    def clear(self) -> None:
        """Forget every view."""
        self._views.clear()
        self._boundaries.clear()
        self._policies.clear()
