"""Any ONNX model in a folder, run by ONNX Runtime: mean or CLS pooling, or the graph's own."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from variorum.embedding.local.folder import required, sha256_of_files
from variorum.embedding.local.pooled import PooledEmbedder
from variorum.records.errors import UnsupportedError

POOLINGS = ("mean", "cls", "none")
_GRAPH_BYTES = 64 << 20
"""A larger file holds its weights itself: the format keeps graphs and outer weights apart."""


class OnnxEmbedder(PooledEmbedder):
    """`pooling` is `mean` or `cls` over the graph's hidden states, or `none`: the graph pools."""

    kind = "onnx"

    def rules(self) -> Mapping[str, str]:
        """Pooling and runtime; the precision is the weights' own."""
        return {"pooling": self.pooling, "runtime": "onnxruntime, one input a run"}

    def dimensions(self) -> int:
        """The width of a hidden state by the folder, else that of the output by the graph."""
        stated = None if self.pooling == "none" else self.folder.dimensions
        width = stated or self._output.shape[-1]
        known = width if isinstance(width, int) else None
        return int(required(known, "hidden_size (config.json)", self.folder.path))

    def weights_sha256(self) -> str:
        """Over the graph and the files that it refers to."""
        return sha256_of_files([self._path, *_outer_weights(self._path)])

    def load(self) -> None:
        """Load the model."""
        assert self._session

    def run(self, text: str, ids: Sequence[int]) -> NDArray[np.float32]:
        """One run of the graph over one input."""
        row = np.array([ids], dtype=np.int64)
        given = {"input_ids": row, "attention_mask": np.ones_like(row)}
        given["token_type_ids"] = np.zeros_like(row)
        wanted = {one.name: given[one.name] for one in self._session.get_inputs()}
        states = self._session.run([self._output.name], wanted)[0][0]
        return _pooled(np.asarray(states, dtype=np.float32), self.pooling)

    @cached_property
    def _session(self) -> Any:
        return open_session(self._path)

    @cached_property
    def _output(self) -> Any:
        """The first output of the rank that the pooling takes."""
        rank = 2 if self.pooling == "none" else 3
        found = next((one for one in self._session.get_outputs() if len(one.shape) == rank), None)
        if found is None:
            raise UnsupportedError(
                "the ONNX graph has no output that the pooling can take",
                kind="runtime-refuses-model",
                subject=str(self._path),
                expected=f"an output of rank {rank} for pooling={self.pooling}",
                found=", ".join(f"{one.name}{one.shape}" for one in self._session.get_outputs()),
                remedy="use pooling=none where the graph pools, mean or cls where it does not",
            )
        return found


def _pooled(states: NDArray[np.float32], pooling: str) -> NDArray[np.float32]:
    if pooling == "none":
        return states
    pooled: NDArray[np.float32] = states[0] if pooling == "cls" else states.mean(axis=0)
    return pooled


def _outer_weights(path: Path) -> list[Path]:
    """The files beside a graph that hold its weights."""
    if path.stat().st_size > _GRAPH_BYTES:
        return []
    import onnx
    from onnx.external_data_helper import ExternalDataInfo, uses_external_data

    graph = onnx.load(str(path), load_external_data=False).graph
    outer = (one for one in graph.initializer if uses_external_data(one))
    return [path.parent / name for name in {ExternalDataInfo(one).location for one in outer}]


def open_session(path: Path) -> Any:
    """A graph, ready to run on one thread.

    Raises:
        UnsupportedError: ONNX Runtime refuses it.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread a run: the cores are kept busy by several runs, and sums have one order.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no common class but this one
        raise UnsupportedError(
            "ONNX Runtime cannot run the model",
            kind="runtime-refuses-model",
            subject=str(path),
            expected="an ONNX graph for CPUs",
            found=f"onnxruntime {onnxruntime.__version__}: {error}",
            remedy="export the model anew, or install a later onnxruntime",
        ) from error
