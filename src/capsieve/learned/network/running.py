"""Run a piece of an ONNX graph over crops of frames, with onnxruntime."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import MissingExtraError
from capsieve.learned.network.graph import IMAGE, OPSET, require_onnx
from capsieve.learned.training.trainer import GraphPart

__all__ = ["Runner", "as_input"]

_IR_VERSION = 8  # the format of files that belongs to opset 17


class Runner:
    """A piece of a graph that reads ``image`` alone, ready to run.

    Parameters
    ----------
    part
        Whose logit, and map where it has one, is computed.
    threads
        Threads of one computation.
    """

    def __init__(self, part: GraphPart, *, threads: int = 1) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtraError(
                'running a network needs the package onnxruntime; pip install "capsieve[train]"'
            ) from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(
            _model(part), options, providers=["CPUExecutionProvider"]
        )
        self._outputs = [name for name in (part.logit, part.map) if name]

    def __call__(self, image: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Return the outputs for N x 3 x S x S values of 0..255: the logit, then the map."""
        return self._session.run(self._outputs, {IMAGE: image})

    def batches(
        self, crops: NDArray[np.uint8], rows: NDArray[np.int64], *, batch: int
    ) -> Iterator[list[NDArray[np.float32]]]:
        """Yield the outputs for chosen crops (M x S x S x 3), so many at a time."""
        for start in range(0, len(rows), batch):
            yield self(as_input(crops[rows[start : start + batch]]))


def as_input(crops: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return N x S x S x 3 bytes as N x 3 x S x S numbers."""
    return np.ascontiguousarray(crops.transpose(0, 3, 1, 2), dtype=np.float32)


def _model(part: GraphPart) -> bytes:
    """Return the piece as a whole model."""
    onnx = require_onnx()
    kind = onnx.TensorProto.FLOAT
    image = onnx.helper.make_tensor_value_info(IMAGE, kind, ["n", 3, "rows", "cols"])
    outputs = [
        onnx.helper.make_tensor_value_info(name, kind, None)
        for name in (part.logit, part.map)
        if name
    ]
    graph = onnx.helper.make_graph(part.nodes, "network", [image], outputs, list(part.weights))
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=_IR_VERSION
    )
    return model.SerializeToString()
