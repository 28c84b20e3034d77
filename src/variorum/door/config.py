"""variorum.toml: sources, collections, model and chunker, read once and checked in full."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from variorum.access.policy import POLICY_FILE
from variorum.access.tokens import ALGORITHMS, LEEWAY_S, TokenRules
from variorum.chunking import chunker_from_spec
from variorum.chunking.chunker import Chunker
from variorum.chunking.planner import refuse_overlap
from variorum.ledger.thresholds import Thresholds
from variorum.records.arguments import place, price, words
from variorum.records.derivations import Unit
from variorum.records.errors import InputError, NotFoundError
from variorum.records.names import SOURCE_NAME_RULE, is_source_name
from variorum.sources.git_place import GitPlace
from variorum.sources.globs import Globs

FILE_NAME = "variorum.toml"
DEFAULT_CHUNKER = "anchored"
DEFAULT_MODEL = "e5-small"
DEFAULT_COLLECTION = "default"
DEFAULT_TENANT = "local"
AUDITS = ("off", "on", "queries")


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """A configured source. `root` is absolute; `recorded_root` is what the store remembers.

    Of a repository, `root` is its folder, `revision` what is listed, `path` a folder in it.
    """

    name: str
    kind: str
    root: Path
    recorded_root: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_bytes: int = 10_000_000
    ignore_files: bool = True
    revision: str = "HEAD"
    path: str = ""


@dataclass(frozen=True, slots=True)
class CollectionConfig:
    """What one tenant publishes together, and how it is cut and embedded."""

    name: str
    tenant: str
    sources: tuple[str, ...]
    chunker: str = DEFAULT_CHUNKER
    planner: bool = True
    heading_depth: int = 0
    model: str = DEFAULT_MODEL
    reranker: str = ""
    usd_per_million_tokens: float | None = None
    policy: Path = Path(POLICY_FILE)
    audit: str = "off"

    def sound_chunker(self) -> Chunker:
        """The chunker, where these settings can go together.

        Raises:
            InputError: there is no such chunker, or its chunks overlap under the reuse planner.
        """
        chunker = chunker_from_spec(self.chunker)
        if self.planner and chunker.overlaps:
            refuse_overlap(chunker)
        return chunker


@dataclass(frozen=True, slots=True)
class Config:
    """Everything a run is configured with. `path` is None where there is no file."""

    path: Path | None
    store: Path
    precision: str
    sources: Mapping[str, SourceConfig] = field(default_factory=dict)
    collections: Mapping[str, CollectionConfig] = field(default_factory=dict)
    thresholds: Thresholds = field(default_factory=Thresholds)
    derive: Mapping[str, tuple[str, Unit]] = field(default_factory=dict)
    identity: TokenRules | None = None
    ann: bool = True

    def of_tenant(self, tenant: str) -> "Config":
        """The same with the collections of one tenant alone: others are not to be told of."""
        mine = {name: one for name, one in self.collections.items() if one.tenant == tenant}
        return replace(self, collections=mine)

    def collection(self, name: str | None) -> CollectionConfig:
        """The named collection, or the only one.

        Raises:
            InputError: no such collection, or several and none was named.
        """
        if name is None and len(self.collections) == 1:
            return next(iter(self.collections.values()))
        if name in self.collections:
            return self.collections[name]  # type: ignore[index]
        known = ", ".join(sorted(self.collections))
        raise InputError(
            f"no collection named {name!r}" if name else "several collections: name one",
            kind="unknown-collection",
            subject=name or "",
            expected=f"one of: {known}",
            found=name or "none named",
            remedy="pass --collection NAME",
        )


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the file, read key by key; what is left over at the end is an error."""

    path: Path
    name: str
    values: dict[str, Any]

    def take(self, key: str, kind: type | tuple[type, ...], default: Any) -> Any:
        """The value of `key`, checked for its type."""
        if key not in self.values:
            return default
        value = self.values.pop(key)
        wrong_bool = isinstance(value, bool) and kind is not bool
        if wrong_bool or not isinstance(value, kind):
            names = kind if isinstance(kind, tuple) else (kind,)
            expected = " or ".join(_TYPE_NAMES[name] for name in names)
            raise self.error(key, f"must be {expected}", expected, repr(value))
        return value

    def text(self, key: str, default: str | None) -> Any:
        """A string with something in it, without NUL; the default where it is not given."""
        value = self.take(key, str, default)
        try:
            return value if value is None else words(key, value)
        except InputError as error:
            raise self.error(
                key, f"must be {error.expected}", error.expected, error.found
            ) from None

    def globs(self, key: str, *, none_is_all: bool = False) -> tuple[str, ...]:
        """A list of glob patterns, as `strings` reads it."""
        patterns = self.strings(key, none_is_all=none_is_all)
        try:
            Globs(patterns)
        except InputError as error:
            found = f"{error.subject!r}: {error.found}"
            raise self.error(key, "holds no usable glob", error.expected, found) from None
        return patterns

    def strings(self, key: str, *, none_is_all: bool = False) -> tuple[str, ...]:
        """A list of strings; empty where it is not given.

        With `none_is_all`, what is not given stands for all, and an empty list is refused.
        """
        is_given = key in self.values
        values = self.take(key, list, [])
        if is_given and none_is_all and not values:
            raise self.error(key, "is an empty list", _OR_NONE, "[]")
        if not all(isinstance(value, str) for value in values):
            raise self.error(key, "must be a list of strings", "a list of strings", repr(values))
        return tuple(values)

    def finish(self) -> None:
        """Refuse keys that nothing asked for."""
        for key, value in self.values.items():
            raise self.error(key, "is not a setting", "only the settings of the reference", value)

    def error(self, key: str, what: str, expected: str, found: object) -> InputError:
        """The error about one key."""
        where = f"{self.name}.{key}" if self.name else key
        return InputError(
            f"{self.path.name}: {where} {what}",
            kind="bad-config",
            subject=where,
            expected=expected,
            found=str(found),
            remedy=f"edit {self.path}; `variorum init --print` shows a commented example",
        )


_TYPE_NAMES: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def find_config(folder: Path, named: str | Path | None) -> Path | None:
    """The configuration named, else that of `folder`; None where neither is there.

    Raises:
        InputError: the name is no path.
    """
    if named is not None:
        return Path(place("config", named))
    file = folder / FILE_NAME
    return file if file.is_file() else None


def load_config(file: Path | None, store: Path | None) -> Config:
    """The configuration in `file`, or the defaults where it is None. `store` overrides the file's.

    Raises:
        InputError: a setting is unknown, of the wrong type, or names what is not there.
        NotFoundError: `file` does not exist.
    """
    if file is None:
        folder = store or Path(".variorum")
        return Config(None, folder, "float32", {}, {DEFAULT_COLLECTION: _plain(folder)})
    top = _Table(file, "", _read(file))
    base = file.resolve().parent
    section = _Table(file, "store", top.take("store", dict, {}))
    configured = base / section.text("path", ".variorum")
    precision = section.take("vectors", str, "float32")
    if precision not in ("float32", "float16"):
        raise section.error("vectors", "is unknown", "float32 or float16", precision)
    ann = section.take("ann", bool, True)
    section.finish()
    defaults = _defaults(file, top)
    sources = {
        name: _source(_Table(file, f"sources.{name}", dict(values)), name, base)
        for name, values in _tables(top, "sources").items()
    }
    collections = {
        name: _collection(
            _Table(file, f"collections.{name}", dict(values)), name, defaults, sources
        )
        for name, values in _tables(top, "collections").items()
    }
    thresholds = _thresholds(_Table(file, "ledger", top.take("ledger", dict, {})))
    derive = dict(
        _derivation(_Table(file, f"derive.{name}", dict(values)), name)
        for name, values in _tables(top, "derive").items()
    )
    named = top.take("identity", dict, None)
    identity = None if named is None else _identity(_Table(file, "identity", dict(named)))
    top.finish()
    if not collections:
        collections = {DEFAULT_COLLECTION: replace(defaults, sources=tuple(sources))}
    folder = store or configured
    return Config(file, folder, precision, sources, collections, thresholds, derive, identity, ann)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no configuration at {file}",
            kind="no-config",
            subject=str(file),
            expected="a variorum.toml",
            found="nothing",
            remedy="run `variorum init`, or name the file with --config",
        ) from error
    except (ValueError, RecursionError) as error:  # also digits or brackets without end
        raise InputError(
            f"{file.name} is not valid TOML: {error}",
            kind="bad-config",
            subject=str(file),
            expected="TOML in UTF-8",
            found=str(error),
            remedy="mend the line that the message names",
        ) from error
    except OSError as error:
        raise InputError(
            f"{file} cannot be read: {error.strerror}",
            kind="bad-config",
            subject=str(file),
            expected="a readable file",
            found=error.strerror or str(error),
            remedy="check its permissions",
        ) from error


def _tables(top: _Table, key: str) -> dict[str, dict[str, Any]]:
    tables = top.take(key, dict, {})
    for name, values in tables.items():
        if not isinstance(values, dict):
            raise top.error(f"{key}.{name}", "must be a table", f"[{key}.{name}]", repr(values))
        if not is_source_name(name):
            raise top.error(f"{key}.{name}", "is not a usable name", SOURCE_NAME_RULE, name)
    return dict(tables)


def _plain(store: Path) -> CollectionConfig:
    policy = store.absolute().parent / POLICY_FILE
    return CollectionConfig(DEFAULT_COLLECTION, DEFAULT_TENANT, (), policy=policy)


def _defaults(file: Path, top: _Table) -> CollectionConfig:
    model = _Table(file, "model", top.take("model", dict, {}))
    chunking = _Table(file, "chunking", top.take("chunking", dict, {}))
    defaults = CollectionConfig(
        DEFAULT_COLLECTION,
        DEFAULT_TENANT,
        (),
        chunker=chunking.text("chunker", DEFAULT_CHUNKER),
        planner=chunking.take("planner", bool, True),
        heading_depth=_depth(chunking, 0),
        model=model.text("spec", DEFAULT_MODEL),
        reranker=model.text("reranker", None) or "",
        usd_per_million_tokens=_price(model),
        policy=file.resolve().parent / POLICY_FILE,
    )
    model.finish()
    chunking.finish()
    return defaults


def _price(table: _Table) -> float | None:
    value = table.take("usd_per_million_tokens", (int, float), None)
    try:
        return None if value is None else price("the price", value)
    except InputError as error:
        what = "is out of range"
        raise table.error("usd_per_million_tokens", what, error.expected, value) from None


def _thresholds(table: _Table) -> Thresholds:
    """The lines of the ledger: each setting of the kind of its default, and not below 0."""
    values: dict[str, Any] = {}
    for one in fields(Thresholds):
        default = getattr(Thresholds(), one.name)
        whole = isinstance(default, int)
        value = table.take(one.name, int if whole else (int, float), default)
        if value < 0:
            raise table.error(one.name, "is out of range", "0 or more", value)
        values[one.name] = value
    table.finish()
    return Thresholds(**values)


def _depth(table: _Table, default: int) -> int:
    depth: int = table.take("heading_depth", int, default)
    if not 0 <= depth <= 6:
        raise table.error("heading_depth", "is out of range", "0 to 6", depth)
    return depth


_OR_NONE = "at least one entry, or no such setting, which stands for all"


def _at_home(table: _Table, given: str) -> Path:
    try:
        return Path(given).expanduser()
    except RuntimeError as error:
        raise table.error("root", "names the home of nobody", "a known user", given) from error


def _source(table: _Table, name: str, base: Path) -> SourceConfig:
    kind = table.take("kind", str, "folder")
    if kind not in ("folder", "jsonl", "git"):
        raise table.error("kind", "is unknown", "folder, jsonl or git", kind)
    given = table.text("root", None)
    if given is None:
        raise table.error("root", "is missing", "a folder or a file", "nothing")
    max_bytes = table.take("max_bytes", int, 10_000_000)
    if max_bytes < 1:
        raise table.error("max_bytes", "is out of range", "1 or more", max_bytes)
    source = SourceConfig(
        name=name,
        kind=kind,
        root=(base / _at_home(table, given)).absolute(),
        recorded_root=given,
        max_bytes=max_bytes,
    )
    if kind != "jsonl":
        include = table.globs("include", none_is_all=True)
        source = replace(source, include=include, exclude=table.globs("exclude"))
    if kind == "folder":
        source = replace(source, ignore_files=table.take("ignore_files", bool, True))
    if kind == "git":
        path = table.take("path", str, "").strip("/")
        revision = table.text("revision", "HEAD")
        recorded = GitPlace(given, revision, path).recorded
        source = replace(source, recorded_root=recorded, revision=revision, path=path)
    table.finish()
    return source


def _collection(
    table: _Table, name: str, defaults: CollectionConfig, sources: Mapping[str, SourceConfig]
) -> CollectionConfig:
    named = table.strings("sources", none_is_all=True) or tuple(sources)
    for source in named:
        if source not in sources:
            expected = f"one of: {', '.join(sources) or '(no source is configured)'}"
            raise table.error("sources", "names an unknown source", expected, source)
        if named.count(source) > 1:
            raise table.error("sources", "names a source twice", "each source once", source)
    audit = table.take("audit", str, "off")
    if audit not in AUDITS:
        raise table.error("audit", "is unknown", " or ".join(AUDITS), audit)
    collection = CollectionConfig(
        name=name,
        tenant=table.text("tenant", defaults.tenant),
        sources=named,
        chunker=table.text("chunker", defaults.chunker),
        planner=table.take("planner", bool, defaults.planner),
        heading_depth=_depth(table, defaults.heading_depth),
        model=table.text("model", defaults.model),
        reranker=table.text("reranker", None) or defaults.reranker,
        usd_per_million_tokens=defaults.usd_per_million_tokens,
        policy=table.path.resolve().parent / table.take("policy", str, defaults.policy.name),
        audit=audit,
    )
    table.finish()
    return collection


def _derivation(table: _Table, name: str) -> tuple[str, tuple[str, Unit]]:
    """A function: `name@version`; where it stands as `module:function`, and what it is given."""
    unit: Unit = table.take("of", str, "chunk")
    if unit not in get_args(Unit):
        raise table.error("of", "is unknown", " or ".join(get_args(Unit)), unit)
    function, version = table.text("function", None), table.text("version", None)
    for key, value, expected in (
        ("function", function, "a string such as package.module:function"),
        ("version", version, "a string, another one for each change of the function"),
    ):
        if value is None:
            raise table.error(key, "is missing", expected, "nothing")
    table.finish()
    return f"{name}@{version}", (function, unit)


def _identity(table: _Table) -> TokenRules:
    """Which tokens are believed."""
    needed = {
        "jwks": table.take("jwks", str, ""),
        "issuer": table.take("issuer", str, ""),
        "audience": table.take("audience", str, ""),
    }
    for key, value in needed.items():
        if not value:
            raise table.error(key, "is missing", "a string", "nothing")
    algorithms = table.strings("algorithms") or ("RS256", "ES256")
    if unknown := set(algorithms) - set(ALGORITHMS):
        expected = f"some of: {', '.join(ALGORITHMS)}"
        raise table.error("algorithms", "is unknown", expected, ", ".join(sorted(unknown)))
    leeway_s = table.take("leeway_s", int, LEEWAY_S)
    if not 0 <= leeway_s <= 600:
        raise table.error("leeway_s", "is out of range", "0 to 600", leeway_s)
    rules = TokenRules(
        table.path.resolve().parent / needed["jwks"],
        needed["issuer"],
        needed["audience"],
        algorithms,
        leeway_s,
        user_claim=table.take("user_claim", str, "sub"),
        groups_claim=table.take("groups_claim", str, "groups"),
        tenant_claim=table.take("tenant_claim", str, "tenant"),
        tenant=table.take("tenant", str, None),
    )
    table.finish()
    return rules
