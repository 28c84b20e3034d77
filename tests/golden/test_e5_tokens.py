"""Where the default model's tokens start: layouts in users' indexes depend on it."""

import pytest

from variorum.embedding import embedder_from_spec

pytestmark = pytest.mark.model

TEXT = "Re-indexing  3½ MB:\n重新计算被编辑的段落。 naïve cafe\u0301 </s> \x00?"
STARTS = [
    0,
    2,
    3,
    8,
    13,
    14,
    16,
    18,
    20,
    20,
    22,
    24,
    25,
    27,
    28,
    29,
    30,
    32,
    34,
    35,
    38,
    44,
    44,
    46,
    47,
    49,
    49,
    50,
]
TOKENIZER = "dc19bcad7aa2876aeab9c0d995bfce2c058c898ce47b897c7376586eb74bdcb3"
MODEL = "c9597b0be7b65d24620567c002d8458f96f03a3a5db75ea0b6fe147a729852c4"


def test_tokens_start_where_they_always_did():
    assert embedder_from_spec("e5-small").tokenizer.starts(TEXT) == STARTS


def test_the_fingerprints_change_only_with_tokens_and_vectors():
    embedder = embedder_from_spec("e5-small")
    assert embedder.tokenizer.fingerprint == TOKENIZER
    assert embedder.identity.fingerprint == MODEL
