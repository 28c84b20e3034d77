"""Tokens: who is believed, and every way in which one is not."""

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from variorum.access.tokens import TokenRules, TokenVerifier
from variorum.records.errors import InputError, UnavailableError, UnverifiedError

RSA_KEYS = [rsa.generate_private_key(65537, 2048) for _ in range(2)]
EC_KEY = ec.generate_private_key(ec.SECP256R1())
ISSUER, AUDIENCE = "https://issuer.example", "variorum"


def public(kid: str, key: Any) -> dict[str, Any]:
    algorithm = ECAlgorithm if key is EC_KEY else RSAAlgorithm
    described = algorithm.to_jwk(key.public_key(), as_dict=True)
    return {**described, "kid": kid, "use": "sig", "alg": "ES256" if key is EC_KEY else "RS256"}


def publish(file: Path, keys: Mapping[str, Any]) -> None:
    file.write_text(json.dumps({"keys": [public(kid, key) for kid, key in keys.items()]}))
    later = time.time_ns() + len(keys) * 1_000_000
    os.utime(file, ns=(later, later))


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    file = tmp_path / "jwks.json"
    publish(file, {"one": RSA_KEYS[0], "curve": EC_KEY})
    return file


@pytest.fixture
def verifier(keys: Path) -> TokenVerifier:
    return TokenVerifier(TokenRules(keys, ISSUER, AUDIENCE))


def claims(**more: object) -> dict[str, object]:
    now = int(time.time())
    made = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "tenant": "acme", "exp": now + 300}
    made |= {"groups": ["staff", "hr"], "iat": now} | more
    return {key: value for key, value in made.items() if value is not None}


def token(
    payload: Mapping[str, object] | None = None,
    key: Any = RSA_KEYS[0],
    kid: str = "one",
    algorithm: str = "RS256",
) -> str:
    return jwt.encode(dict(payload or claims()), key, algorithm, headers={"kid": kid})


def test_a_sound_token_is_its_principal(verifier: TokenVerifier) -> None:
    for one in (token(), token(None, EC_KEY, "curve", "ES256")):
        principal = verifier.principal(one)
        assert (principal.tenant, principal.user) == ("acme", "ann")
        assert principal.groups == {"staff", "hr"}
        assert principal.verified_by == f"jwt {ISSUER}"
        assert not principal.is_owner


def secret() -> bytes:
    return (
        RSA_KEYS[0]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def signed_by_the_public_key() -> str:
    """The classic forgery: the public key taken for a shared secret."""
    header = {"alg": "HS256", "typ": "JWT", "kid": "one"}
    from jwt.utils import base64url_encode

    body = b".".join(base64url_encode(json.dumps(one).encode()) for one in (header, claims()))
    import hashlib
    import hmac

    signature = base64url_encode(hmac.new(secret(), body, hashlib.sha256).digest())
    return (body + b"." + signature).decode()


FORGED: dict[str, Callable[[], str]] = {
    "no token": lambda: "not a token",
    "empty": lambda: "",
    "unsigned": lambda: jwt.encode(claims(), None, "none", headers={"kid": "one"}),
    "public key as a secret": signed_by_the_public_key,
    "another's key": lambda: token(key=RSA_KEYS[1]),
    "unknown key": lambda: token(kid="two"),
    "key of another algorithm": lambda: token(None, EC_KEY, "one", "ES256"),
    "an algorithm that is not pinned": lambda: token(algorithm="RS512"),
    "expired": lambda: token(claims(exp=int(time.time()) - 61)),
    "without an end": lambda: token(claims(exp=None)),
    "not yet": lambda: token(claims(nbf=int(time.time()) + 120)),
    "another issuer": lambda: token(claims(iss="https://other.example")),
    "another audience": lambda: token(claims(aud="another")),
    "no audience": lambda: token(claims(aud=None)),
    "no user": lambda: token(claims(sub=None)),
    "no tenant": lambda: token(claims(tenant=None)),
    "groups as text": lambda: token(claims(groups="staff")),
    "a group that is no text": lambda: token(claims(groups=[1])),
    "a group with a comma": lambda: token(claims(groups=["staff,group:hr"])),
    "a blank user": lambda: token(claims(sub=" ")),
    "changed after signing": lambda: token()[:-8] + "AAAAAAAA",
}


@pytest.mark.parametrize("name", sorted(FORGED))
def test_a_token_that_is_not_sound_is_nobody(verifier: TokenVerifier, name: str) -> None:
    with pytest.raises(UnverifiedError) as refused:
        verifier.principal(FORGED[name]())
    assert refused.value.kind == "bad-token"
    assert "ann" not in json.dumps(refused.value.as_fields())


def test_clocks_may_differ_by_the_leeway(verifier: TokenVerifier) -> None:
    now = int(time.time())
    assert verifier.principal(token(claims(exp=now - 30))).user == "ann"
    assert verifier.principal(token(claims(nbf=now + 30))).user == "ann"


def test_keys_rotate_without_a_restart(keys: Path, verifier: TokenVerifier) -> None:
    old, new = token(), token(key=RSA_KEYS[1], kid="two")
    assert verifier.principal(old).user == "ann"
    publish(keys, {"one": RSA_KEYS[0], "two": RSA_KEYS[1], "curve": EC_KEY})
    assert verifier.principal(old).user == verifier.principal(new).user == "ann"
    publish(keys, {"two": RSA_KEYS[1]})
    assert verifier.principal(new).user == "ann"
    with pytest.raises(UnverifiedError):
        verifier.principal(old)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"keys": [{}]}', '{"keys": [{"kid": "a"}]}'])
def test_keys_that_cannot_be_read_let_nobody_in(keys: Path, content: str) -> None:
    keys.write_text(content)
    with pytest.raises(UnavailableError):
        TokenVerifier(TokenRules(keys, ISSUER, AUDIENCE)).principal(token())


@pytest.mark.parametrize("algorithms", [(), ("HS256",), ("none",), ("RS256", "HS512")])
def test_secrets_and_unsigned_tokens_cannot_be_configured(
    keys: Path, algorithms: tuple[str, ...]
) -> None:
    with pytest.raises(InputError):
        TokenVerifier(TokenRules(keys, ISSUER, AUDIENCE, algorithms))


def test_an_issuer_of_one_tenant_decides_the_tenant(keys: Path) -> None:
    verifier = TokenVerifier(TokenRules(keys, ISSUER, AUDIENCE, tenant="globex"))
    assert verifier.principal(token(claims(tenant="acme"))).tenant == "globex"
