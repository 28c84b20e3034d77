"""Printed names of documents and citations are read back as they were."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from variorum.records.errors import InputError
from variorum.records.names import Citation, DocumentName, is_source_name

letters = st.characters(categories=["L", "M", "Nd"], include_characters="_.-")
sources = st.text(letters, min_size=1, max_size=10).filter(is_source_name)
odd_names = st.text(" [](){}@:%'\"\\\n文é", min_size=1, max_size=12).map(str.encode)
paths = (
    st.binary(min_size=1, max_size=40)
    | odd_names
    | st.text(min_size=1, max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
names = st.builds(DocumentName, sources, paths)
revisions = st.from_regex(r"[0-9a-f]{8,64}", fullmatch=True)
spans = st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).map(sorted)


@given(names)
def test_a_name_of_any_bytes_is_read_back(name: DocumentName) -> None:
    assert DocumentName.parse(str(name)) == name


@given(names)
def test_a_printed_name_is_one_printable_token(name: DocumentName) -> None:
    printed = str(name)
    assert printed.isprintable()
    assert not any(character.isspace() for character in printed)
    assert not set(name.printed_path) & set("@[]:\"'`\\")


@given(names, revisions, spans)
def test_a_citation_is_read_back(name: DocumentName, revision: str, span: list[int]) -> None:
    citation = Citation(name, revision, *span)
    assert Citation.parse(str(citation)) == citation
    assert Citation.parse(f"  {citation}\n") == citation
    assert len({citation, Citation.parse(str(citation))}) == 1


@given(names, st.binary(min_size=32, max_size=32), spans)
def test_a_citation_made_from_a_whole_hash_is_read_back(
    name: DocumentName, sha256: bytes, span: list[int]
) -> None:
    citation = Citation.of(name, sha256.hex(), *span)
    assert Citation.parse(str(citation)) == citation


def test_a_citation_of_more_digits_keeps_them() -> None:
    printed = f"docs:a.md@{'ab' * 32}[3:9]"
    assert str(Citation.parse(printed)) == printed


def test_a_printed_citation_carries_sixteen_digits_of_its_revision() -> None:
    citation = Citation.of(DocumentName("docs", "a/é 1.md".encode()), "ab" * 32, 3, 9)
    assert citation.revision == "ab" * 8
    assert str(citation) == f"docs:a/é%201.md@{'ab' * 8}[3:9]"


def test_a_name_in_any_language_reads_as_itself() -> None:
    assert str(DocumentName("s", "规则/ルール.md".encode())) == "s:规则/ルール.md"
    assert str(DocumentName("s", b"\xff\x00%")) == "s:%FF%00%25"


@given(names, names)
def test_names_are_ordered_by_source_then_bytes(one: DocumentName, other: DocumentName) -> None:
    assert (one < other) == ((one.source, one.path) < (other.source, other.path))


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "docs",
        "docs:",
        ":a.md",
        "-docs:a.md",
        "do cs:a.md",
        "docs:%",
        "docs:%4",
        "docs:a%4",
        "docs:%zz",
        "docs:%+4",
        "docs:% 4",
        "docs:a b",
        "docs:a\n",
        "docs:a[1]",
        "docs:a@b",
        "docs:a:b",
        "docs:\ud800",
    ],
)
def test_what_is_not_a_name_is_refused(printed: str) -> None:
    with pytest.raises(InputError) as refused:
        DocumentName.parse(printed)
    assert refused.value.kind == "bad-document-name"
    assert refused.value.found == printed or not printed


REVISION = "0123456789abcdef"


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "docs:a.md",
        f"docs:a.md@{REVISION}",
        f"docs:a.md@{REVISION}[1]",
        f"docs:a.md@{REVISION}[2:1]",
        f"docs:a.md@{REVISION}[-1:1]",
        f"docs:a.md@{REVISION}[1:٣]",
        f"docs:a.md@{REVISION}[1:{'9' * 5000}]",
        f"docs:a.md@{REVISION.upper()}[1:2]",
        "docs:a.md@0123456[1:2]",
        f"docs:a.md@{'0' * 65}[1:2]",
        f"docs:a b.md@{REVISION}[1:2]",
        f"docs:a.md@{REVISION}[1:2] and more",
        f"docs:%zz@{REVISION}[1:2]",
    ],
)
def test_what_is_not_a_citation_is_refused(printed: str) -> None:
    with pytest.raises(InputError) as refused:
        Citation.parse(printed)
    assert refused.value.kind in {"bad-citation", "bad-document-name"}


@given(st.text(max_size=60))
def test_any_string_is_a_name_or_refused(printed: str) -> None:
    for parse in (DocumentName.parse, Citation.parse):
        with suppress(InputError):
            assert str(parse(printed)).isprintable()


@given(st.text(max_size=20))
def test_a_source_name_is_printable_and_holds_no_sign_of_the_grammar(text: str) -> None:
    if is_source_name(text):
        assert text.isprintable()
        assert not set(text) & set("@[]:\"'`\\%/ ")
        assert DocumentName.parse(f"{text}:a") == DocumentName(text, b"a")


def test_names_of_sources_in_many_scripts() -> None:
    for name in ("docs", "指南", "हिन्दी", "Ελλάδα", "a.b_c-d", "2026"):
        assert is_source_name(name)
    for name in ("", ".docs", "-a", "a b", "a:b", "a/b", "📚", "a\n", "a\0", "\udcff"):
        assert not is_source_name(name)
