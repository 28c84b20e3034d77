"""Addresses of providers: no secrets in them, and none sent where others can read along."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from variorum.embedding.spec import bad_parameter

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"


def sound_url(spec: str, url: str, key_env: str) -> str:
    """The address without a final slash.

    Raises:
        InputError: it holds a password or a query, is not HTTP, or would carry a key unencrypted
            to another machine.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise bad_parameter(spec, url, "url=https://HOST/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        masked = f"{parts.scheme}://{parts.hostname}/…"
        expected = "an address alone: keys come from the environment, by key_env"
        raise bad_parameter(_without(spec, url, masked), masked, expected)
    if key_env and parts.scheme == "http" and not _is_this_machine(parts.hostname):
        raise bad_parameter(spec, url, "https where a key is sent to another machine")
    return url.rstrip("/")


def _without(spec: str, url: str, masked: str) -> str:
    return spec.replace(url, masked)


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
