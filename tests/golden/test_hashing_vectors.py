"""The bytes that the hashing model has always given: they are in users' indexes."""

import hashlib

from variorum.embedding import HashingEmbedder

INPUTS = [
    "A document keeps its name while its words change.",
    "索引只重新计算被编辑的段落，其余的向量保持不变。",
    "naïve café №5 😀 max_tokens=512",
    "",
]
SHA256 = "d99610f0db2aca7e92f4239f053dfa8d249b29f51dcaba439991714361e6463a"
IDENTITY = "207eccceea8dcc67b29a2a62d7a6581803468653d249ae290d00ec4f01a3513c"


def test_vectors_are_the_recorded_bytes_on_every_machine():
    vectors = HashingEmbedder().embed(INPUTS)
    assert hashlib.sha256(vectors.astype("<f4").tobytes()).hexdigest() == SHA256


def test_the_identity_changes_only_with_the_vectors():
    assert HashingEmbedder().identity.fingerprint == IDENTITY
