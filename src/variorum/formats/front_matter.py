"""Front matter: the author's metadata at the top of a document, as YAML or TOML.

It opens on the first line with `---` (YAML, closed by `---` or `...`) or `+++` (TOML, closed by
`+++`), and its second line is not blank. What is set off like that but holds no key is ordinary
Markdown: two thematic breaks around a paragraph stay what they are.
"""

import datetime
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

Scalar = str | int | float | bool

MAX_CHARACTERS: Final = 65_536
"""Longer front matter is not looked for."""
CLAIMS: Final = "variorum"
"""The key under which a document narrows its own readers and dates."""
_CLAIM_LINE: Final = re.compile(rf"^[ \t\[\"']*{CLAIMS}\b", re.MULTILINE | re.IGNORECASE)
# A key may be spelt with escapes, which only double quotes and their backslashes make.
_MAY_CLAIM: Final = re.compile(rf"{CLAIMS}|\\", re.IGNORECASE)
_MAX_DEPTH: Final = 20
_MAX_INTEGER: Final = 2**63 - 1
_LINE_END: Final = r"(?:\r\n|\r|\n)"
_OPENING: Final = re.compile(rf"(?P<fence>---|\+\+\+)[ \t]*{_LINE_END}(?![ \t]*(?:[\r\n]|\Z))")
_CLOSING: Final = {
    "---": re.compile(rf"(?:\A|(?<=[\r\n]))(?:---|\.\.\.)[ \t]*(?:{_LINE_END}|\Z)"),
    "+++": re.compile(rf"(?:\A|(?<=[\r\n]))\+\+\+[ \t]*(?:{_LINE_END}|\Z)"),
}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Where front matter ends (whole lines, 0 where there is none) and what it says.

    `claims` holds its table `variorum` as it was read, where it has one; `claims_fault` says why
    one that it may have could not be read.
    """

    end: int = 0
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    problem: str = ""
    claims: Mapping[str, object] = field(default_factory=dict)
    claims_fault: str = ""


class _Loader(yaml.SafeLoader):
    """YAML without aliases, which grow exponentially, and without duplicate keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(keys)) != len(keys):
            raise yaml.YAMLError("a key is given twice")
        return super().construct_mapping(node, deep)


def _scalar(value: object) -> Scalar | None:
    """The value as stored, or None where it is no scalar (an absent value included)."""
    if isinstance(value, str):
        value.encode()  # a lone surrogate, which YAML can escape, cannot be stored
        return value
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _MAX_INTEGER else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return None


def _flatten(name: str, value: object, depth: int = 0) -> Iterator[tuple[str, Scalar]]:
    """Scalars under dotted names; a list of scalars is joined with ", "."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"nested over {_MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flatten(f"{name}.{key}" if name else str(key), item, depth + 1)
    elif isinstance(value, list | set | tuple):
        scalars = [_scalar(item) for item in value]
        if all(scalar is not None for scalar in scalars):
            yield name, ", ".join(str(scalar) for scalar in scalars)
        else:
            for index, item in enumerate(value):
                yield from _flatten(f"{name}.{index}", item, depth + 1)
    else:
        scalar = _scalar(value)
        if scalar is not None:
            yield name, scalar


def _load(fence: str, source: str) -> object:
    if fence == "+++":
        return tomllib.loads(re.sub(r"\r\n?", "\n", source))
    return yaml.load(source, _Loader)


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def read_front_matter(characters: str) -> FrontMatter:
    """The front matter at the start of a text; total on any string.

    Malformed front matter keeps its extent, gives no metadata, and `problem` says why. Values are
    flattened: nested tables to dotted names, lists of scalars to one string joined with ", ", dates
    to ISO 8601; absent values are left out.
    """
    opening = _OPENING.match(characters)
    if opening is None:
        return FrontMatter()
    fence = opening["fence"]
    # `pos` and `endpos` of a compiled pattern do not move \A, so the window is cut out.
    window = characters[opening.end() : opening.end() + MAX_CHARACTERS]
    closing = _CLOSING[fence].search(window)
    if closing is None:
        return FrontMatter(claims_fault="not closed" if _CLAIM_LINE.search(window) else "")
    end = opening.end() + closing.end()
    source = window[: closing.start()]
    try:
        value = _load(fence, source)
        if not isinstance(value, dict) or not value:
            return FrontMatter(claims_fault="no table" if _CLAIM_LINE.search(source) else "")
        metadata = dict(_flatten("", {key: value[key] for key in value if key != CLAIMS}))
        "".join(metadata).encode()  # keys are stored too
        return FrontMatter(end, metadata, "", *_claims(value))
    # The YAML library raises KeyError, AttributeError and others on odd tags, besides its own.
    except Exception as error:
        why = f"front matter not read: {_first_line(error)}"
        return FrontMatter(end, problem=why, claims_fault=why if _MAY_CLAIM.search(source) else "")


def _claims(value: Mapping[Any, object]) -> tuple[dict[str, object], str]:
    """The claims, and the fault of a key that is nearly theirs."""
    for key in value:
        if key != CLAIMS and isinstance(key, str) and key.strip().casefold() == CLAIMS:
            return {}, f"{key!r} is not {CLAIMS!r}"
    return ({CLAIMS: value[CLAIMS]} if CLAIMS in value else {}), ""
