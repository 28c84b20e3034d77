"""What a definition is called, in the words of its own language: `def post`, `func (Ledger) Post`.

A namer gives the title of a node, or None where the node defines nothing that has a name.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

Namer = Callable[["Node", bytes], str | None]

MAX_TITLE: Final = 120
"""Longer titles are cut."""
_MAX_TITLE_BYTES: Final = 4 * MAX_TITLE
_MAX_DECLARATORS: Final = 32
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff]")
_FUNCTIONS: Final = frozenset(
    {"arrow_function", "function_expression", "generator_function", "function"}
)


def words_of(node: "Node | None", source: bytes) -> str:
    """A node's own words on one line, cut at `MAX_TITLE` characters; of no node, ""."""
    if node is None:
        return ""
    start = node.start_byte
    raw = source[start : min(node.end_byte, start + _MAX_TITLE_BYTES)]
    words = " ".join(_CONTROLS.sub("", raw.decode("utf-8", "ignore")).split())
    return words[:MAX_TITLE].rstrip()


def _field(node: "Node", field: str, source: bytes) -> str:
    return words_of(node.child_by_field_name(field), source)


def keyword(word: str) -> Namer:
    """The namer of what is written as a keyword and a name; the nameless is called by its word."""
    return lambda node, source: f"{word} {_field(node, 'name', source)}".rstrip()


def with_body(word: str) -> Namer:
    """As `keyword`, for types that are also written without a body where they are only used."""

    def name(node: "Node", source: bytes) -> str | None:
        if node.child_by_field_name("body") is None:
            return None
        return keyword(word)(node, source)

    return name


def fixed(title: str) -> Namer:
    """The same title for every node."""
    return lambda node, source: title


def called(node: "Node", source: bytes) -> str | None:
    """`post()`: a method of a language that marks methods by no keyword."""
    name = _field(node, "name", source)
    return f"{name}()" if name else None


def python_def(node: "Node", source: bytes) -> str | None:
    """`def post` or `async def post`."""
    name = _field(node, "name", source)
    first = node.child(0) if node.child_count else None
    word = "async def" if first is not None and first.type == "async" else "def"
    return f"{word} {name}" if name else None


def go_method(node: "Node", source: bytes) -> str | None:
    """`func (Ledger) Post`: the receiver's type without its name and pointer mark."""
    receiver = node.child_by_field_name("receiver")
    declared = receiver.named_child(0) if receiver and receiver.named_child_count else None
    kind = words_of(declared.child_by_field_name("type") if declared else None, source)
    return f"func ({kind.lstrip('*')}) {_field(node, 'name', source)}".rstrip()


def rust_impl(node: "Node", source: bytes) -> str | None:
    """`impl Ledger` or `impl Display for Ledger`."""
    trait, kind = _field(node, "trait", source), _field(node, "type", source)
    return f"impl {trait} for {kind}" if trait else f"impl {kind}"


def _declared(node: "Node", source: bytes) -> str:
    """The name inside nested declarators, such as `*name(int)`."""
    inner: Node | None = node
    for _ in range(_MAX_DECLARATORS):
        following = inner.child_by_field_name("declarator") if inner else None
        if following is None and inner is not None and inner.type == "reference_declarator":
            following = inner.named_child(0) if inner.named_child_count else None
        if following is None:
            return words_of(inner, source) if inner is not node else ""
        inner = following
    return ""


def c_function(node: "Node", source: bytes) -> str | None:
    """`post()`, or `Ledger::post()` where it is defined outside its class."""
    name = _declared(node, source)
    return f"{name}()" if name else None


def c_typedef(node: "Node", source: bytes) -> str | None:
    """`typedef Entry`, for a definition with a body."""
    kind = node.child_by_field_name("type")
    if kind is None or kind.child_by_field_name("body") is None:
        return None
    return f"typedef {_declared(node, source)}".rstrip()


def assigned(target: str, value: str) -> Namer:
    """The namer of a function or class that is the value of a name: `function post`."""

    def name(node: "Node", source: bytes) -> str | None:
        given = node.child_by_field_name(value)
        if given is None or given.type not in (_FUNCTIONS | {"class"}):
            return None
        word = "class" if given.type == "class" else "function"
        return f"{word} {_field(node, target, source)}".rstrip()

    return name
