"""Specs read into chunkers and back, and refused where they are wrong."""

import pytest

from variorum.chunking import Anchored, Fixed, Recursive, chunker_from_spec
from variorum.records.errors import InputError


@pytest.mark.parametrize(
    "chunker", [Anchored(), Anchored(90, 12), Fixed(10, 3), Recursive(9, "spaced", "guide")]
)
def test_a_chunker_reads_back_from_its_spec(chunker):
    assert chunker_from_spec(chunker.spec) == chunker


def test_every_setting_is_printed_sorted_by_name():
    assert chunker_from_spec("anchored(min_tokens=48)").spec == (
        "anchored(max_tokens=160, min_tokens=48)"
    )
    assert chunker_from_spec(" fixed ( max_tokens = 8 ) ").spec == (
        "fixed(max_tokens=8, overlap_tokens=0)"
    )


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
    ],
)
def test_a_bad_setting_is_refused_naming_it_and_what_is_allowed(spec):
    with pytest.raises(InputError) as caught:
        chunker_from_spec(spec)
    assert caught.value.kind == "bad-parameter"
    assert caught.value.subject.split(".")[1] in spec
    assert caught.value.expected
    assert caught.value.found


@pytest.mark.parametrize("chunker", [Anchored(), Fixed(), Fixed(300, 200), Recursive()])
@pytest.mark.parametrize("limit", [1, 2, 7, 64, 1000])
def test_a_limited_chunker_stays_under_the_limit_where_it_can(chunker, limit):
    limited = chunker.limited(limit)
    assert limited.shape.max_tokens <= max(2, limit)
    assert limited.overlaps == (chunker.overlaps and limit > 1)
