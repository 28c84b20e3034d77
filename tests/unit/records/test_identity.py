"""What makes two inputs, recipes and errors the same, and what does not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from variorum.records import errors
from variorum.records.layout import Recipe, input_key
from variorum.records.text import Revision, Span, Text

RECIPE = Recipe("anchored()", True, 0, "t", "m", "p")


@given(st.tuples(st.text(), st.text(), st.text()), st.tuples(st.text(), st.text(), st.text()))
def test_inputs_share_a_key_only_where_scope_model_and_text_are_equal(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    keys = [input_key(scope, model, "passage", text) for scope, model, text in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


def test_the_parts_of_a_key_cannot_run_into_each_other() -> None:
    assert input_key("ab", "c", "passage", "x") != input_key("a", "bc", "passage", "x")
    assert input_key("a", "b", "passage", "x") != input_key("a", "b", "query", "x")


@pytest.mark.parametrize(
    "change",
    [
        {"chunker": "fixed()"},
        {"planner": False},
        {"heading_depth": 1},
        {"tokenizer": "u"},
        {"model": "n"},
        {"algorithm": "q"},
    ],
)
def test_every_setting_is_part_of_a_recipe_s_fingerprint(change: dict[str, object]) -> None:
    assert replace(RECIPE, **change).fingerprint != RECIPE.fingerprint  # type: ignore[arg-type]
    assert replace(RECIPE).fingerprint == RECIPE.fingerprint


def test_a_revision_is_named_by_its_bytes_alone() -> None:
    assert Revision(b"x", "text/plain").sha256 == Revision(b"x", "text/markdown").sha256
    assert Revision(b"x", "text/plain").sha256 != Revision(b"y", "text/plain").sha256


@pytest.mark.parametrize(
    ("content", "lines"),
    [("", 1), ("a", 1), ("a\n", 2), ("a\r\nb", 2), ("a\rb\nc", 3), ("\n\n", 3), ("\u2028", 1)],
)
def test_lines_end_at_lf_cr_lf_and_cr_alone(content: str, lines: int) -> None:
    text = Text(content)
    assert len(text.line_starts) == lines
    assert [text.line_of(start) for start in text.line_starts] == list(range(1, lines + 1))


@given(st.text(max_size=40), st.sampled_from(["utf-8", "utf-16-le", "utf-32-be"]), st.data())
def test_a_span_of_characters_is_found_in_the_bytes(
    content: str, encoding: str, data: st.DataObject
) -> None:
    bom = b"\xef\xbb\xbf" if encoding == "utf-8" else b""
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    text = Text(content, encoding, len(bom))
    where = text.byte_span(Span(start, end))
    encoded = bom + content.encode(encoding)
    assert encoded[where.start : where.end].decode(encoding) == content[start:end]


CLASSES = [
    one
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, errors.VariorumError)
]


def test_every_class_of_error_has_an_exit_code_of_its_own() -> None:
    direct = [one for one in CLASSES if one is not errors.InputRejectedError]
    codes = [one.exit_code for one in direct]
    assert len(set(codes)) == len(codes)
    assert errors.EXIT_HELD not in codes
    assert all(400 <= one.http_status < 600 for one in CLASSES)


def test_an_error_prints_every_field_it_was_given() -> None:
    error = errors.InputError("m", kind="k", subject="s", expected="e", found="f", remedy="r")
    assert str(error) == "m"
    assert error.as_fields() == {
        "ok": False,
        "kind": "k",
        "message": "m",
        "subject": "s",
        "expected": "e",
        "found": "f",
        "remedy": "r",
    }
