"""Principals: who is asking, as a verifier found it."""

from dataclasses import dataclass

from variorum.access.readers import EVERYONE, parse_reader
from variorum.records.errors import DeniedError, InputError


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified identity: its tenant, its user and its groups there.

    `verified_by` names the verifier: `local` for whoever runs the process, `local as` for a person
    whom the local owner acts as, else the token's issuer. Only the local owner `is_owner`. Take one
    from a verifier; a request's own words are none.
    """

    tenant: str
    user: str
    groups: frozenset[str]
    verified_by: str
    is_owner: bool = False

    @property
    def readers(self) -> frozenset[str]:
        """Every reader of a policy that this principal is, groups of the policy apart."""
        user = {f"user:{self.user}"} if self.user else set()
        return frozenset({EVERYONE, *user, *(f"group:{name}" for name in self.groups)})

    def __str__(self) -> str:
        if self.is_owner:
            return "owner"
        return ",".join(sorted(self.readers - {EVERYONE}, reverse=True))

    def require_owner(self, what: str) -> None:
        """Refuse what is the owner's alone.

        Raises:
            DeniedError: the principal is not the collection's owner.
        """
        if not self.is_owner:
            raise DeniedError(
                f"only the owner may {what}",
                kind="owner-only",
                subject=what,
                expected="the collection's owner",
                found=str(self),
                remedy="ask whoever runs the index",
            )


def local_owner(tenant: str) -> Principal:
    """Whoever runs the process: the file system has let them read the store already."""
    return Principal(tenant, "", frozenset(), "local", is_owner=True)


def acting_as(tenant: str, text: str) -> Principal:
    """The principal that the local owner acts as: `user:ann,group:staff`, one user at most.

    Raises:
        InputError: `text` holds what is no user or group, or two users.
    """
    readers = [parse_reader(part.strip()) for part in text.split(",")]
    users = [one.removeprefix("user:") for one in readers if one.startswith("user:")]
    groups = frozenset(one.removeprefix("group:") for one in readers if one.startswith("group:"))
    if len(users) > 1 or len(users) + len(groups) != len(set(readers)):
        raise InputError(
            f"{text!r} is not one principal",
            kind="bad-principal",
            subject=text,
            expected="user:NAME, and group:NAME for each group, with commas between",
            found=text,
            remedy="name one user and their groups, such as user:ann,group:staff",
        )
    return Principal(tenant, users[0] if users else "", groups, "local as")
