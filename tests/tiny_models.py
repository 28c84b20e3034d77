"""Models of a few kilobytes in the layouts in which real ones come, made here with random weights.

They know nothing, but their files, graphs and tokenizers are of the kinds that real models have.
"""

import json
import string
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import convert_model_to_external_data
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

WIDTH = 16
LIMIT = 128
CHINESE = "索引只重新计算被编辑的段落其余向量保持不变改动文本全角空格"


def bert_like(folder: Path, seed: int = 1) -> Path:
    """The layout of a sentence-transformers model with an ONNX file beside it: mean pooling."""
    folder.mkdir(parents=True)
    tokenizer = _word_pieces()
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(folder / "config.json", {"model_type": "bert", "hidden_size": WIDTH})
    _write(folder / "sentence_bert_config.json", {"max_seq_length": LIMIT})
    _write(folder / "tokenizer_config.json", {"model_max_length": LIMIT, "pad_token": "[PAD]"})
    _write(folder / "special_tokens_map.json", {"pad_token": "[PAD]", "unk_token": "[UNK]"})
    (folder / "1_Pooling").mkdir()
    _write(folder / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    onnx.save(_graph(tokenizer.get_vocab_size(), seed, types=True), str(folder / "model.onnx"))
    return folder


def cross_encoder_like(folder: Path) -> Path:
    """The layout of a cross-encoder: query and passage in one input, one logit a pair."""
    bert_like(folder)
    model = onnx.load(str(folder / "model.onnx"))
    weights = np.random.default_rng(3).standard_normal((WIDTH, 1)).astype(np.float32)
    types = numpy_helper.from_array(np.array([[0.5], [-1.5]], dtype=np.float32), "types")
    axes = numpy_helper.from_array(np.array([1], dtype=np.int64), "pair_axes")
    model.graph.initializer.extend([numpy_helper.from_array(weights, "head"), types, axes])
    model.graph.node.extend(
        [
            helper.make_node("Gather", ["types", "token_type_ids"], ["signs"]),
            helper.make_node("Mul", ["rows", "signs"], ["signed"]),
            helper.make_node("ReduceMean", ["signed", "pair_axes"], ["pair"], keepdims=0),
            helper.make_node("MatMul", ["pair", "head"], ["logits"]),
        ]
    )
    del model.graph.output[:]
    model.graph.output.extend(
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])]
    )
    onnx.save(model, str(folder / "model.onnx"))
    return folder


def bge_m3_like(folder: Path) -> Path:
    """The layout of BGE-M3: an `onnx` folder, weights outside the graph, CLS pooling."""
    inner = folder / "onnx"
    inner.mkdir(parents=True)
    tokenizer = _sentence_pieces()
    tokenizer.save(str(inner / "tokenizer.json"))
    roberta = {"model_type": "xlm-roberta", "hidden_size": WIDTH, "pad_token_id": 1}
    _write(inner / "config.json", {**roberta, "max_position_embeddings": LIMIT + 2})
    _write(inner / "tokenizer_config.json", {"model_max_length": 8192})
    graph = _graph(tokenizer.get_vocab_size(), 2, outputs=("token_embeddings",))
    convert_model_to_external_data(graph, location="model.onnx_data", size_threshold=1024)
    onnx.save(graph, str(inner / "model.onnx"))
    return folder


def _write(path: Path, settings: dict[str, object]) -> None:
    path.write_text(json.dumps(settings))


def _word_pieces() -> Tokenizer:
    letters = string.ascii_lowercase + string.digits + string.punctuation + CHINESE
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{one}" for one in letters)]
    pieces += ["the", "document", "words", "##ing"]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_truncation(LIMIT)
    tokenizer.enable_padding(length=LIMIT)
    return tokenizer


def _sentence_pieces() -> Tokenizer:
    letters = string.ascii_letters + string.digits + string.punctuation + CHINESE
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0)]
    pieces += [(one, -4.0) for one in letters] + [("▁the", -2.0), ("▁document", -2.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.enable_truncation(LIMIT)
    return tokenizer


def _graph(
    vocabulary: int,
    seed: int,
    outputs: tuple[str, ...] = ("last_hidden_state",),
    types: bool = False,
) -> onnx.ModelProto:
    """A row for each token, less the mean of all: the vector of a text depends on all of it."""
    weights = np.random.default_rng(seed).standard_normal((vocabulary, WIDTH)).astype(np.float32)
    shape = ["batch", "length"]
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    half = numpy_helper.from_array(np.array([0.5], dtype=np.float32), "half")
    table = numpy_helper.from_array(weights, "table")
    axes = numpy_helper.from_array(np.array([1], dtype=np.int64), "axes")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("ReduceMean", ["rows", "axes"], ["mean"], keepdims=1),
        helper.make_node("Mul", ["mean", "half"], ["halved"]),
        helper.make_node("Sub", ["rows", "halved"], [outputs[0]]),
        helper.make_node("ReduceMean", [outputs[0], "axes"], ["sentence_embedding"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
        [
            helper.make_tensor_value_info(outputs[0], TensorProto.FLOAT, [*shape, WIDTH]),
            helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, [None, WIDTH]),
        ],
        [table, half, axes],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
