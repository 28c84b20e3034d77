"""Packed lists: what went in comes out, for any ids and counts."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from variorum.records.errors import DamagedError
from variorum.store.postings import packed_lists, unpacked
from variorum.store.schema import posting
from variorum.store.seals import seal_of
from variorum.store.term_audit import seal_of_list
from variorum.store.unindexing import without_inputs

occurrences = st.dictionaries(
    st.sampled_from(["a", "b", "水位", "max_tokens"]), st.integers(1, 1 << 40), max_size=4
)
segments = st.dictionaries(st.integers(1, 1 << 45), occurrences, min_size=1, max_size=12)


@given(inputs=segments)
def test_packed_lists_give_back_every_input_and_count(inputs: dict[int, dict[str, int]]) -> None:
    segment = min(inputs)
    wanted: dict[bytes, dict[int, int]] = defaultdict(dict)
    for identifier, counts in inputs.items():
        for term, count in counts.items():
            wanted[term.encode()][identifier] = count
    found = packed_lists(segment, sorted(inputs.items()))
    assert [term for term, _ in found] == sorted(wanted)
    for term, data in found:
        one = unpacked(segment, data)
        assert list(one.input_ids) == sorted(wanted[term])
        assert dict(zip(one.input_ids.tolist(), one.counts.tolist(), strict=True)) == wanted[term]


@given(inputs=segments, data=st.data())
def test_a_list_without_some_inputs_is_that_of_the_others(
    inputs: dict[int, dict[str, int]], data: st.DataObject
) -> None:
    segment = min(inputs)
    gone = data.draw(st.sets(st.sampled_from(sorted(inputs))))
    rest = [(one, counts) for one, counts in sorted(inputs.items()) if one not in gone]
    lists = packed_lists(segment, sorted(inputs.items()))
    taken = np.array(sorted(gone), np.int64)
    left = [(term, without_inputs(segment, packed, taken)) for term, packed in lists]
    assert [one for one in left if one[1] is not None] == packed_lists(segment, rest)


def test_neighbours_with_small_counts_take_two_bytes_each() -> None:
    inputs = [(identifier, {"a": 1}) for identifier in range(1000, 1100)]
    ((_, data),) = packed_lists(1000, inputs)
    assert len(data) == 200


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x01\x81", b"\x80\x80"])
def test_what_is_no_list_is_damage(data: bytes) -> None:
    with pytest.raises(DamagedError):
        unpacked(1, data)


@given(st.binary(max_size=30), st.integers(0, 1 << 40), st.binary(max_size=30))
def test_a_lists_seal_is_that_of_any_row(term: bytes, segment: int, data: bytes) -> None:
    row = {"term": term, "segment": segment, "data": data}
    assert seal_of_list(term, segment, data) == seal_of(posting, row)
