"""What the node types of each grammar mean for blocks. The grammars come as packages of their own.

A node type that is not named here is read through: its children are looked at in its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final

from variorum.formats.code.names import (
    Namer,
    assigned,
    c_function,
    c_typedef,
    called,
    fixed,
    go_method,
    keyword,
    python_def,
    rust_impl,
    with_body,
)

if TYPE_CHECKING:
    from tree_sitter import Language

_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True)
class Grammar:
    """The meaning of one grammar's node types.

    `definitions` name what they define; `holders` are those of them whose members are read one by
    one (a class, an interface). A `wrapper` starts the definition inside it. `leads` belong to what
    stands below them: comments, attributes, decorators, access marks. The children of `bodies` are
    statements; a `transparent` body, such as `#ifdef`, nests nothing. `openings` open a file.
    """

    name: str
    package: str
    definitions: Mapping[str, Namer]
    bodies: frozenset[str]
    imports: frozenset[str]
    leads: frozenset[str]
    strings: frozenset[str]
    holders: frozenset[str] = _NONE
    wrappers: frozenset[str] = _NONE
    transparent: frozenset[str] = _NONE
    openings: frozenset[str] = _NONE
    entry: str = "language"
    opaque: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "opaque", self.leads | self.strings | self.imports)


PYTHON: Final = Grammar(
    "Python",
    "tree-sitter-python",
    definitions={"class_definition": keyword("class"), "function_definition": python_def},
    holders=frozenset({"class_definition"}),
    wrappers=frozenset({"decorated_definition"}),
    bodies=frozenset({"module", "block"}),
    imports=frozenset({"import_statement", "import_from_statement", "future_import_statement"}),
    leads=frozenset({"comment"}),
    strings=frozenset({"string", "concatenated_string"}),
)

JAVASCRIPT: Final = Grammar(
    "JavaScript",
    "tree-sitter-javascript",
    definitions={
        "class_declaration": keyword("class"),
        "function_declaration": keyword("function"),
        "generator_function_declaration": keyword("function*"),
        "method_definition": called,
        "variable_declarator": assigned("name", "value"),
        "field_definition": assigned("property", "value"),
        "assignment_expression": assigned("left", "right"),
    },
    holders=frozenset({"class_declaration"}),
    wrappers=frozenset(
        {
            "export_statement",
            "lexical_declaration",
            "variable_declaration",
            "expression_statement",
        }
    ),
    bodies=frozenset(
        {
            "program",
            "statement_block",
            "class_body",
            "switch_body",
            "switch_case",
            "switch_default",
        }
    ),
    imports=frozenset({"import_statement"}),
    leads=frozenset({"comment", "html_comment", "hash_bang_line", "decorator"}),
    strings=frozenset({"string", "template_string", "regex"}),
)

TYPESCRIPT: Final = replace(
    JAVASCRIPT,
    name="TypeScript",
    package="tree-sitter-typescript",
    entry="language_typescript",
    definitions={
        **JAVASCRIPT.definitions,
        "abstract_class_declaration": keyword("abstract class"),
        "interface_declaration": keyword("interface"),
        "type_alias_declaration": keyword("type"),
        "enum_declaration": keyword("enum"),
        "internal_module": keyword("namespace"),
        "module": keyword("module"),
        "function_signature": keyword("function"),
        "public_field_definition": assigned("name", "value"),
    },
    holders=JAVASCRIPT.holders
    | {"abstract_class_declaration", "interface_declaration", "internal_module", "module"},
    wrappers=JAVASCRIPT.wrappers | {"ambient_declaration"},
    bodies=JAVASCRIPT.bodies | {"interface_body"},
)

TSX: Final = replace(TYPESCRIPT, name="TSX", entry="language_tsx")

GO: Final = Grammar(
    "Go",
    "tree-sitter-go",
    definitions={
        "function_declaration": keyword("func"),
        "method_declaration": go_method,
        "type_spec": keyword("type"),
        "type_alias": keyword("type"),
    },
    wrappers=frozenset({"type_declaration"}),
    bodies=frozenset(
        {
            "source_file",
            "statement_list",
            "expression_switch_statement",
            "type_switch_statement",
            "select_statement",
        }
    ),
    imports=frozenset({"import_declaration"}),
    openings=frozenset({"package_clause"}),
    leads=frozenset({"comment"}),
    strings=frozenset({"interpreted_string_literal", "raw_string_literal"}),
)

RUST: Final = Grammar(
    "Rust",
    "tree-sitter-rust",
    definitions={
        "function_item": keyword("fn"),
        "struct_item": keyword("struct"),
        "enum_item": keyword("enum"),
        "union_item": keyword("union"),
        "type_item": keyword("type"),
        "macro_definition": keyword("macro_rules!"),
        "trait_item": keyword("trait"),
        "mod_item": with_body("mod"),
        "impl_item": rust_impl,
    },
    holders=frozenset({"trait_item", "mod_item", "impl_item"}),
    bodies=frozenset({"source_file", "block", "declaration_list", "match_block"}),
    imports=frozenset({"use_declaration", "extern_crate_declaration"}),
    openings=frozenset({"inner_attribute_item"}),
    leads=frozenset({"line_comment", "block_comment", "attribute_item"}),
    strings=frozenset({"string_literal", "raw_string_literal"}),
)

JAVA: Final = Grammar(
    "Java",
    "tree-sitter-java",
    definitions={
        "class_declaration": keyword("class"),
        "interface_declaration": keyword("interface"),
        "enum_declaration": keyword("enum"),
        "record_declaration": keyword("record"),
        "annotation_type_declaration": keyword("@interface"),
        "method_declaration": called,
        "constructor_declaration": called,
        "compact_constructor_declaration": called,
        "static_initializer": fixed("static"),
    },
    holders=frozenset(
        {
            "class_declaration",
            "interface_declaration",
            "enum_declaration",
            "record_declaration",
            "annotation_type_declaration",
        }
    ),
    bodies=frozenset(
        {
            "program",
            "block",
            "class_body",
            "interface_body",
            "enum_body",
            "enum_body_declarations",
            "annotation_type_body",
            "constructor_body",
            "switch_block",
            "switch_block_statement_group",
        }
    ),
    imports=frozenset({"import_declaration"}),
    openings=frozenset({"package_declaration"}),
    leads=frozenset({"line_comment", "block_comment"}),
    strings=frozenset({"string_literal"}),
)

C: Final = Grammar(
    "C",
    "tree-sitter-c",
    definitions={
        "function_definition": c_function,
        "struct_specifier": with_body("struct"),
        "union_specifier": with_body("union"),
        "enum_specifier": with_body("enum"),
        "type_definition": c_typedef,
        "preproc_function_def": keyword("#define"),
    },
    bodies=frozenset(
        {
            "translation_unit",
            "compound_statement",
            "case_statement",
            "declaration_list",
            "field_declaration_list",
        }
    ),
    transparent=frozenset({"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif"}),
    imports=frozenset({"preproc_include"}),
    leads=frozenset({"comment"}),
    strings=frozenset({"string_literal", "concatenated_string", "raw_string_literal"}),
)

CPP: Final = replace(
    C,
    name="C++",
    package="tree-sitter-cpp",
    definitions={
        **C.definitions,
        "class_specifier": with_body("class"),
        "namespace_definition": keyword("namespace"),
        "concept_definition": keyword("concept"),
    },
    holders=frozenset({"class_specifier", "struct_specifier", "namespace_definition"}),
    wrappers=frozenset({"template_declaration"}),
    leads=C.leads | {"access_specifier"},
)

BY_CONTENT_TYPE: Final[Mapping[str, tuple[Grammar, ...]]] = {
    "text/x-python": (PYTHON,),
    "text/javascript": (JAVASCRIPT,),
    "text/typescript": (TYPESCRIPT,),
    "text/tsx": (TSX,),
    "text/x-go": (GO,),
    "text/x-rust": (RUST,),
    "text/x-java": (JAVA,),
    # Many a C++ header has the suffix of C.
    "text/x-c": (C, CPP),
    "text/x-c++": (CPP,),
}
"""The grammars to try for a content type, in order."""


def versions_of(content_type: str) -> str:
    """The versions of tree-sitter and of a content type's grammars, of those that are installed."""
    grammars = sorted({grammar.package for grammar in BY_CONTENT_TYPE[content_type]})
    return ", ".join(f"{name} {_version(name)}" for name in ["tree-sitter", *grammars])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


@cache
def language_of(grammar_package: str, entry: str) -> "Language":
    """A compiled grammar.

    Raises:
        ImportError: its package or tree-sitter is not installed.
        ValueError: its package was built for another tree-sitter.
    """
    from tree_sitter import Language

    module = import_module(grammar_package.replace("-", "_"))
    return Language(getattr(module, entry)())
