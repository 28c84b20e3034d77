"""The terms of a text: whatever a reader would type to find it, whole or in part."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from variorum.analysis import QueryTerm, query_terms, terms
from variorum.analysis.folding import fold
from variorum.analysis.terms import MAX_CHARACTERS

HAN = "水位监测站每天上报数据裏裡里臺湾灣髮發发後后麵面"
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(HAN + "かカ한글ไทย，。 a_B-9./:\\'#+"),
    st.text("aB9_-./:\\@#+'=&~,%$? \n"),
)


def finds(query: str, text: str) -> bool:
    """Whether every term of the query is one of the text's."""
    held = terms(text)
    return bool(query_terms(query)) and all(
        any(one.startswith(term.text) for one in held) if term.is_prefix else term.text in held
        for term in query_terms(query)
    )


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("水位", "河流水位监测站每天上报数据"),
        ("监测站", "河流水位监测站每天上报数据"),
        ("据", "河流水位监测站每天上报数据"),
        ("河", "河流水位监测站每天上报数据"),
        ("花火", "夏祭りの花火大会は中止"),
        ("臺灣", "台湾"),
        ("头发", "頭髮"),
        ("ＡＢＣ１２３", "abc123"),
        ("ｶﾞ", "ガ"),
        ("PIER", "the pier is Open"),
        ("opening", "it opens"),
        ("straße", "STRASSE"),
        ("第12条", "见第１２條之规定"),
        ("#4471", "issue 4471"),
        ('"--dry-run"', "use --dry-run first"),
        ("tide-table", "see tide-table.md"),
        ("x=9", "set x=9 now"),
        ("5%/yr", "grows 5%/yr"),
        ("a/b\\\\c", "at a/b\\\\c"),
        ("isn't", "it isn’t"),
        ("src/variorum/store/file.py", "src/variorum/store/file.py is one"),
        ("max_tokens", "self.max_tokens = 9"),
        ("tokens", "self.max_tokens = 9"),
        ("HTTPServer2", "class HTTPServer2:"),
        ("server", "class HTTPServer2:"),
        ("10000", "10,000 rows"),
        ("2026-01-31", "on 2026-01-31."),
        ("january 2026", "2026 January"),
        ("C++", "in C++ and C#"),
        ("हिन्दी", "यह हिन्दी है"),
    ],
)
def test_what_a_reader_types_is_found(query: str, text: str) -> None:
    assert finds(query, text)


def test_a_part_of_a_path_is_found_by_its_own_parts() -> None:
    held = terms("src/variorum/store/file.py")
    assert {"store", "file.py", "file", "py"} <= {one.text for one in query_terms("store/file.py")}
    assert {"store", "file.py", "file", "py"} <= set(held)


@pytest.mark.parametrize(
    ("query", "text"), [("位水", "水位"), ("max", "maximum"), ("C#", "C++"), ("1", "10")]
)
def test_what_is_not_there_is_not_found(query: str, text: str) -> None:
    assert not finds(query, text)


@pytest.mark.parametrize("query", ["", " ", '( ) * : ^ "', "，。！", "🙂"])
def test_a_query_without_letters_and_digits_has_no_terms(query: str) -> None:
    assert not query_terms(query)


def test_a_compound_gives_itself_its_parts_and_theirs_each_once() -> None:
    assert dict(terms("docs/guide/maxTokens.md")) == {
        "docs/guide/maxtokens.md": 1,
        "doc": 1,
        "guid": 1,
        "maxtokens.md": 1,
        "maxtoken": 1,
        "max": 1,
        "token": 1,
        "md": 1,
    }


def test_a_run_without_spaces_gives_its_pairs_and_its_last_character() -> None:
    assert dict(terms("水位站水位")) == {"水位": 2, "位站": 1, "站水": 1, "位": 1}
    assert dict(query_terms("水位站")) == {QueryTerm("水位", False): 1, QueryTerm("位站", False): 1}
    assert dict(query_terms("水")) == {QueryTerm("水", True): 1}


def test_a_key_is_found_as_a_whole_and_a_long_run_by_its_beginning() -> None:
    assert dict(terms("a1b2c3d4e5")) == {"a1b2c3d4e5": 1}
    assert dict(terms("ab" * 200)) == {("ab" * 200)[:MAX_CHARACTERS]: 1}


@settings(max_examples=300)
@given(text=texts)
def test_any_text_is_found_by_itself(text: str) -> None:
    assert finds(text, text) or not query_terms(text)


@settings(max_examples=300)
@given(
    before=st.text(HAN, max_size=5), part=st.text(HAN, min_size=1, max_size=6), after=st.text(HAN)
)
def test_any_part_of_a_chinese_text_is_found_in_it(before: str, part: str, after: str) -> None:
    assert finds(part, before + part + after)


@settings(max_examples=300)
@given(text=texts)
def test_folding_is_one_form(text: str) -> None:
    once = fold(text)
    assert fold(once) == once
    assert terms(once) == terms(text)


@settings(max_examples=200)
@given(text=st.text(HAN + "aBc9 "))
def test_width_and_case_make_no_difference(text: str) -> None:
    wide = "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)
    assert terms(wide) == terms(text)
    assert sum(terms(text.lower()).values()) <= sum(terms(text).values())
