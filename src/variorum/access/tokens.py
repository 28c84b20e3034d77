"""From a signed token to a principal: JSON Web Tokens, verified with rotating public keys."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from variorum.access.principals import Principal
from variorum.access.readers import parse_reader
from variorum.records.errors import (
    InputError,
    UnavailableError,
    UnsupportedError,
    UnverifiedError,
)

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
"""Signatures by a private key. None by a shared secret: whoever can check one could make one."""

LEEWAY_S = 60


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What a token must be. The keys stand in a JWKS file, which may change at any time.

    `algorithms` are the signatures that are taken, whatever a token says of itself. The tenant is
    that of `tenant_claim`, or `tenant` for an issuer of one tenant alone.
    """

    jwks: Path
    issuer: str
    audience: str
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    leeway_s: int = LEEWAY_S
    user_claim: str = "sub"
    groups_claim: str = "groups"
    tenant_claim: str = "tenant"
    tenant: str | None = None


@dataclass(slots=True)
class _Keys:
    """The keys of a JWKS file by their `kid`, read again when the file changes."""

    file: Path
    stamp: tuple[int, int] | None = None
    held: Mapping[str, Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def key(self, jwt: ModuleType, kid: object) -> Any:
        """The key that a token names; None where there is none of that name."""
        with self.lock:
            try:
                found = self.file.stat()
                if self.stamp != (found.st_mtime_ns, found.st_size):
                    self.held = _read_keys(jwt, self.file)
                    self.stamp = (found.st_mtime_ns, found.st_size)
            except (
                OSError,
                ValueError,
                LookupError,
                TypeError,
                AttributeError,
                jwt.PyJWTError,
            ) as error:
                raise UnavailableError(
                    "the keys that tokens are verified with cannot be read",
                    kind="keys-not-readable",
                    subject=str(self.file),
                    expected="a JWKS file: an object with a list of keys, each with a kid",
                    found=f"{type(error).__name__}: {error}",
                    remedy="put the issuer's JWKS there",
                ) from error
            return self.held.get(kid) if isinstance(kid, str) else None


def _read_keys(jwt: ModuleType, file: Path) -> dict[str, Any]:
    listed = json.loads(file.read_text(encoding="utf-8"))["keys"]
    return {one["kid"]: jwt.PyJWK(one) for one in listed if one.get("use", "sig") == "sig"}


class TokenVerifier:
    """Turns tokens into principals by `TokenRules`. Safe for many threads.

    Raises:
        UnsupportedError: PyJWT is not installed.
        InputError: the rules name no algorithm, or one that a shared secret signs.
    """

    def __init__(self, rules: TokenRules) -> None:
        self.rules = rules
        self._jwt = _library()
        self._keys = _Keys(rules.jwks)
        if not rules.algorithms or not set(rules.algorithms) <= set(ALGORITHMS):
            raise InputError(
                "tokens cannot be verified by these algorithms",
                kind="bad-parameter",
                subject="algorithms",
                expected=f"some of: {', '.join(ALGORITHMS)}",
                found=", ".join(rules.algorithms) or "none",
                remedy="name what the issuer signs with",
            )

    def principal(self, token: str) -> Principal:
        """Who a token speaks for.

        The signature, issuer, audience, beginning and end are checked; so is that the key is of the
        algorithm that the token names. Nothing of a token that fails is told of.

        Raises:
            UnverifiedError: the token is not to be believed.
            UnavailableError: the keys cannot be read.
        """
        try:
            header = self._jwt.get_unverified_header(token)
            key = self._keys.key(self._jwt, header.get("kid"))
            if key is None or key.algorithm_name != header.get("alg"):
                raise _unverified("it is signed by no key of the issuer's")
            return self._principal(self._claims(token, key))
        except self._jwt.PyJWTError as error:
            raise _unverified(type(error).__name__) from error

    def _claims(self, token: str, key: Any) -> Mapping[str, Any]:
        rules = self.rules
        claims: Mapping[str, Any] = self._jwt.decode(
            token,
            key.key,
            algorithms=list(rules.algorithms),
            issuer=rules.issuer,
            audience=rules.audience,
            leeway=rules.leeway_s,
            options={"require": ["exp", "iss", "aud", rules.user_claim]},
        )
        return claims

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        rules = self.rules
        user, groups = claims.get(rules.user_claim), claims.get(rules.groups_claim, [])
        tenant = rules.tenant or claims.get(rules.tenant_claim)
        if not isinstance(tenant, str) or not tenant:
            raise _unverified("it names no tenant")
        if not isinstance(groups, list):
            raise _unverified("its groups are no list")
        named = [_name("user", user), *(_name("group", group) for group in groups)]
        return Principal(tenant, named[0], frozenset(named[1:]), f"jwt {rules.issuer}")


def _name(kind: str, value: object) -> str:
    try:
        if isinstance(value, str):
            return parse_reader(f"{kind}:{value}").removeprefix(f"{kind}:")
    except InputError:
        pass
    raise _unverified(f"a {kind} of it could be no reader of a policy")


def _unverified(why: str) -> UnverifiedError:
    return UnverifiedError(
        "the token is not valid",
        kind="bad-token",
        expected="a token that the issuer signed for this audience, in date",
        found=why,
        remedy="sign in again",
    )


def _library() -> ModuleType:
    try:
        import jwt
    except ImportError as error:
        raise UnsupportedError(
            "tokens cannot be verified without PyJWT",
            kind="extra-missing",
            subject="pyjwt",
            expected="the extra variorum[jwt]",
            found="not installed",
            remedy="pip install 'variorum[jwt]'",
        ) from error
    return jwt
