"""The encoder as an ONNX graph: 4-bit word embeddings, 8-bit linear layers, one input a run.

Input `ids`: int64[n], special tokens included. Output `vector`: float32[1, 384], the mean over all
tokens, scaled to unit length. No mask: without companions there is no padding.

Weights of linear layers take 7 of their 8 bits. CPUs without VNNI instructions add two products in
16 bits, which full 8-bit weights overflow; from 4-bit originals the seventh bit costs nothing
measurable. Activations are quantised per run, so an input's vector would depend on its companions:
that is why a run has one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from variorum.embedding.e5.package import BLOCK, HEADS, HIDDEN, LAYERS, POSITIONS, WeightFile

_EPSILON = 1e-12
_LARGEST_WEIGHT = 63
_OPSET = 20
_IR_VERSION = 9
_FUSED = "com.microsoft"


class GraphBuilder:
    """Collects nodes and constants; every method returns the name of what it adds."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, name: str, value: NDArray[Any] | np.generic) -> str:
        """Add an initialiser."""
        from onnx import numpy_helper

        array = np.asarray(value)
        shaped = np.ascontiguousarray(array).reshape(array.shape)
        self._constants.append(numpy_helper.from_array(shaped, name))
        return name

    def node(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add an ONNX node with one output."""
        return self.split(operator, inputs, [output], **attributes)[0]

    def fused(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add a node that ONNX Runtime defines itself."""
        return self.split(operator, inputs, [output], domain=_FUSED, **attributes)[0]

    def split(
        self, operator: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any
    ) -> Sequence[str]:
        """Add a node with several outputs."""
        from onnx import helper

        self._nodes.append(helper.make_node(operator, inputs, outputs, **attributes))
        return outputs

    def serialise(self) -> bytes:
        """The finished model."""
        from onnx import TensorProto, helper

        graph = helper.make_graph(
            self._nodes,
            "e5-small",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, HIDDEN])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        content: bytes = model.SerializeToString()
        return content


def build_graph(weights: WeightFile) -> bytes:
    """The whole encoder, as the bytes of an ONNX file."""
    graph = GraphBuilder()
    states = _embeddings(graph, weights)
    for layer in range(LAYERS):
        states = _layer(graph, weights, f"l{layer}.", states)
    mean = graph.node(
        "ReduceMean", [states, graph.constant("axis", np.array([1]))], "mean", keepdims=0
    )
    graph.node("LpNormalization", [mean], "vector", axis=1, p=2)
    return graph.serialise()


def _embeddings(graph: GraphBuilder, weights: WeightFile) -> str:
    words = _word_embeddings(graph, weights)
    first_type = weights.floats("emb.type")[:HIDDEN]
    table = weights.floats("emb.pos").reshape(1, POSITIONS, HIDDEN) + first_type
    graph.constant("position.table", table)
    graph.node("Shape", ["ids"], "tokens")
    graph.constant("from", np.array([0]))
    graph.constant("over", np.array([1]))
    positions = graph.node("Slice", ["position.table", "from", "tokens", "over"], "position.rows")
    return _add_and_normalise(graph, weights, "emb.ln", words, positions)


def _word_embeddings(graph: GraphBuilder, weights: WeightFile) -> str:
    """Rows of the 4-bit table, unpacked as they are looked up: float32[1, n, 384]."""
    scales, nibbles = weights.blocks("emb.word", HIDDEN)
    graph.constant("word.table", nibbles.reshape(len(nibbles), HIDDEN // 2))
    graph.constant("word.scales", scales)
    graph.node("Gather", ["word.table", "ids"], "word.packed")
    graph.constant("nibble", np.uint8(15))
    graph.constant("four", np.uint8(4))
    graph.node("BitwiseAnd", ["word.packed", "nibble"], "word.low")
    graph.node("BitShift", ["word.packed", "four"], "word.high", direction="RIGHT")
    graph.constant("halves", np.array([-1, HIDDEN // BLOCK, BLOCK // 2]))
    graph.node("Reshape", ["word.low", "halves"], "word.first")
    graph.node("Reshape", ["word.high", "halves"], "word.second")
    graph.node("Concat", ["word.first", "word.second"], "word.unsigned", axis=2)
    _cast_to_float(graph, "word.unsigned", "word.shifted")
    graph.constant("eight", np.float32(8))
    graph.node("Sub", ["word.shifted", "eight"], "word.unscaled")
    graph.node("Gather", ["word.scales", "ids"], "word.halfscale")
    _cast_to_float(graph, "word.halfscale", "word.scale")
    graph.constant("column", np.array([-1, HIDDEN // BLOCK, 1]))
    graph.node("Reshape", ["word.scale", "column"], "word.factor")
    graph.node("Mul", ["word.unscaled", "word.factor"], "word.blocks")
    graph.constant("rows", np.array([1, -1, HIDDEN]))
    return graph.node("Reshape", ["word.blocks", "rows"], "word.rows")


def _cast_to_float(graph: GraphBuilder, source: str, output: str) -> str:
    from onnx import TensorProto

    return graph.node("Cast", [source], output, to=TensorProto.FLOAT)


def _layer(graph: GraphBuilder, weights: WeightFile, prefix: str, states: str) -> str:
    joint = _linear(graph, weights, [f"{prefix}{part}" for part in "qkv"], states, HIDDEN)
    parts = [f"{prefix}{part}.part" for part in ("query", "key", "value")]
    graph.split("Split", [joint], parts, axis=2, num_outputs=3)
    attended = graph.fused("MultiHeadAttention", parts, f"{prefix}attended", num_heads=HEADS)
    mixed = _linear(graph, weights, [f"{prefix}ao"], attended, HIDDEN)
    states = _add_and_normalise(graph, weights, f"{prefix}aln", mixed, states)
    widened = _linear(graph, weights, [f"{prefix}fi"], states, HIDDEN)
    activated = graph.fused("Gelu", [widened], f"{prefix}activated")
    narrowed = _linear(graph, weights, [f"{prefix}fo"], activated, 4 * HIDDEN)
    return _add_and_normalise(graph, weights, f"{prefix}oln", narrowed, states)


def _linear(
    graph: GraphBuilder, weights: WeightFile, names: Sequence[str], states: str, width: int
) -> str:
    """One product with the matrices of `names` side by side; a scale for each output column."""
    label = "+".join(names)
    matrix = np.concatenate([weights.matrix(f"{name}.w", width) for name in names])
    scales = (np.abs(matrix).max(axis=1) / _LARGEST_WEIGHT).astype(np.float32)
    rounded = np.rint(matrix / scales[:, None]).astype(np.int8)
    inputs = [
        states,
        graph.constant(f"{label}.weights", rounded.T),
        graph.constant(f"{label}.scales", scales),
        "",
        graph.constant(f"{label}.bias", np.concatenate([weights.floats(f"{n}.b") for n in names])),
    ]
    return graph.fused("DynamicQuantizeMatMul", inputs, f"{label}.product")


def _add_and_normalise(
    graph: GraphBuilder, weights: WeightFile, name: str, states: str, residual: str
) -> str:
    scale = graph.constant(f"{name}.scale", weights.floats(f"{name}.w"))
    shift = graph.constant(f"{name}.shift", weights.floats(f"{name}.b"))
    inputs = [states, residual, scale, shift]
    return graph.fused("SkipLayerNormalization", inputs, f"{name}.states", epsilon=_EPSILON)
