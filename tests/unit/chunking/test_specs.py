"""Specs read into chunkers and back, and refused where they are wrong."""

import pytest

from variorum.chunking import (
    Anchored,
    ContentDefined,
    Fixed,
    FixedCharacters,
    Recursive,
    Semantic,
    Structural,
    chunker_from_spec,
)
from variorum.records.errors import InputError


@pytest.mark.parametrize(
    "chunker",
    [
        Anchored(),
        Anchored(90, 12),
        ContentDefined(),
        ContentDefined(5, 9, 2, 7, 3, "segmented"),
        Fixed(10, 3),
        FixedCharacters(),
        FixedCharacters(10, 3),
        Recursive(9, "spaced", "guide"),
        Semantic(),
        Semantic(percentile=99.25),
        Semantic(5, k=1.2, min_tokens=9, max_tokens=30),
        Structural(),
        Structural(90, 12, "reject"),
    ],
)
def test_a_chunker_reads_back_from_its_spec(chunker):
    assert chunker_from_spec(chunker.spec) == chunker


def test_every_setting_is_printed_sorted_by_name():
    assert chunker_from_spec("anchored(min_tokens=44)").spec == (
        "anchored(max_tokens=220, min_tokens=44)"
    )
    assert chunker_from_spec(" fixed ( max_tokens = 8 ) ").spec == (
        "fixed(max_tokens=8, overlap_tokens=0)"
    )


def test_numbers_are_printed_in_one_way():
    printed = "semantic(max_tokens=400, min_tokens=64, percentile=90.0, window=3)"
    for spec in ("semantic", "semantic(percentile=90)", "semantic(percentile=90.000)"):
        assert chunker_from_spec(spec).spec == printed
    assert "k=1.0," in chunker_from_spec("semantic(k=1)").spec
    assert "percentile=0.00001," in Semantic(percentile=1e-5).spec
    assert "percentile" not in chunker_from_spec("semantic(k=1)").spec


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_a_number_that_is_none_is_refused(value):
    for settings in ({"percentile": value}, {"k": value}):
        with pytest.raises(InputError):
            Semantic(**settings)


@pytest.mark.parametrize("spec", ["", "sentences", "anchored(", "fixed(max_tokens=1))", "Fixed"])
def test_an_unknown_chunker_is_refused_listing_the_known_ones(spec):
    with pytest.raises(InputError) as caught:
        chunker_from_spec(spec)
    assert caught.value.kind == "unknown-chunker"
    known = "anchored, content_defined, fixed, fixed_characters, recursive, semantic, structural"
    assert known in caught.value.expected


@pytest.mark.parametrize(
    "spec",
    [
        "fixed(size=64, overlap=64)",
        "fixed(max_tokens)",
        "fixed(max_tokens=many)",
        "fixed(max_tokens=1, max_tokens=2)",
        "fixed(max_tokens=1.5)",
        "recursive(terminators=none)",
        "recursive(max_tokens=0)",
        "anchored(max_tokens=79, min_tokens=40)",
        "anchored(min_tokens=0)",
        "semantic(percentile=90, k=1)",
        "semantic(percentile=nan)",
        "semantic(percentile=inf)",
        "semantic(percentile=100)",
        "semantic(percentile=1e1)",
        "semantic(k=0.79)",
        "semantic(k=1.51)",
        "semantic(window=0)",
        "semantic(window=1.0)",
        "semantic(embed=none)",
        "semantic(max_tokens=9, min_tokens=5)",
        "fixed_characters(max_characters=0)",
        "fixed_characters(overlap_characters=1200)",
        "fixed_characters(max_tokens=9)",
        "recursive(rules=mine)",
        "structural(oversize=keep)",
        "structural(max_tokens=127)",
        "structural(min_tokens=0)",
        "content_defined(max_tokens=175)",
        "content_defined(min_tokens=0)",
        "content_defined(window_words=0)",
        "content_defined(primary_mask_bits=64)",
        "content_defined(backup_mask_bits=8)",
        "content_defined(words=none)",
    ],
)
def test_a_bad_setting_is_refused_naming_it_and_what_is_allowed(spec):
    with pytest.raises(InputError) as caught:
        chunker_from_spec(spec)
    assert caught.value.kind == "bad-parameter"
    assert caught.value.subject.split(".")[1] in spec
    assert caught.value.expected
    assert caught.value.found


@pytest.mark.parametrize(
    ("spec", "message", "expected"),
    [
        ("fixed(max_tokens=1e400)", "max_tokens must be", "a whole number of at most 9 digits"),
        (f"fixed(max_tokens={'9' * 5000})", "max_tokens must be", "at most 9 digits"),
        ("fixed(max_tokens=1234567890)", "max_tokens must be", "at most 9 digits"),
        ("fixed(max_tokens=nan)", "max_tokens must be", "a whole number"),
        ("semantic(percentile=1e400)", "percentile must be", "at most 9 digits before"),
        ("semantic(k=9999999999.0)", "k must be", "at most 9 digits before"),
        ("recursive(rules=a b)", "rules must be", "a word"),
        ("recursive(rules=)", "rules must be", "a word"),
        ("fixed(max_tokens=1, max_tokens=2)", "max_tokens is given twice", "once"),
        ("fixed(max_tokens)", "max_tokens is not written", "name=value"),
        ("fixed(size=64)", "no setting 'size'", "max_tokens, overlap_tokens"),
        ("fixed(max_tokens=٥)", "max_tokens must be", "a whole number"),
    ],
)
def test_a_setting_is_refused_for_what_is_wrong_with_it(spec, message, expected):
    with pytest.raises(InputError) as caught:
        chunker_from_spec(spec)
    assert caught.value.kind == "bad-parameter"
    assert message in caught.value.message
    assert expected in caught.value.expected
    assert caught.value.remedy


@pytest.mark.parametrize(
    "chunker",
    [
        Anchored(),
        ContentDefined(),
        Fixed(),
        Fixed(300, 200),
        FixedCharacters(),
        FixedCharacters(1200, 200),
        Recursive(),
        Semantic(),
        Structural(),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 7, 64, 1000])
def test_a_limited_chunker_stays_under_the_limit_where_it_can(chunker, limit):
    limited = chunker.limited(limit)
    assert limited.shape.max_tokens <= max(2, limit)
    assert limited.overlaps == (chunker.overlaps and limit > 1)
