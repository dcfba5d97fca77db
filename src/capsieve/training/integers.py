"""Run a network in integers: weights and feature maps of 8 bits, chosen on training frames.

Static quantisation [1]_ by onnxruntime: each channel of a weight and each feature map is a whole
number times a factor. The graph has QuantizeLinear and DequantizeLinear around its operators, which
are part of ONNX, so it runs everywhere; onnxruntime joins them to integer kernels.

References
----------
.. [1] B. Jacob et al., "Quantization and training of neural networks for efficient
   integer-arithmetic-only inference", CVPR 2018, arXiv:1712.05877.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import ModelProto

CALIBRATION_FRAMES = 192
"""Frames on which the ranges of feature maps are measured; more do not change them."""


def in_integers(
    model: "ModelProto", images: Iterable[NDArray[np.float32]], *, reduce_range: bool = True
) -> "ModelProto":
    """Return a graph with weights and feature maps of 8 bits.

    The convolution that gives the map, and what follows it, stay in floating point: they take no
    time, and few different scores would be left.

    Parameters
    ----------
    model
        A graph from :func:`capsieve.training.network.export`.
    images
        Inputs of the graph, 1 x 3 x S x S, of training frames.
    reduce_range
        Weights of 7 bits, except in filters of single channels. Sums of two products then fit 16
        bits: processors without VNNI instructions add the products of matrices in pairs.
    """
    import onnx
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    plain = _without_casts(model)
    with TemporaryDirectory() as folder, _quiet():
        path = Path(folder) / "integers.onnx"
        quantize_static(
            plain,
            path,
            _reader(plain.graph.input[0].name, images),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=reduce_range,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=_last_nodes(plain),
            extra_options={"TensorQuantOverrides": _depthwise_weights(plain)},
        )
        made = onnx.load(path)
    del made.metadata_props[:], made.graph.value_info[:]
    made.producer_name, made.producer_version = model.producer_name, model.producer_version
    return made


def _without_casts(model: "ModelProto") -> "ModelProto":
    """Return a copy with weights in single precision.

    Weights in half precision are behind Cast nodes, and onnxruntime does not quantise these.
    """
    from onnx import numpy_helper

    plain = type(model)()
    plain.CopyFrom(model)
    graph = plain.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    casts = [node for node in graph.node if node.op_type == "Cast" and node.input[0] in weights]
    for node in casts:
        array = numpy_helper.to_array(weights[node.input[0]]).astype(np.float32)
        graph.initializer.remove(weights[node.input[0]])
        graph.initializer.append(numpy_helper.from_array(array, node.output[0]))
        graph.node.remove(node)
    return plain


def _last_nodes(model: "ModelProto") -> list[str]:
    """Return the names of the last convolution and of the nodes behind it; all nodes get names."""
    nodes = model.graph.node
    for number, node in enumerate(nodes):
        node.name = node.name or f"node-{number}"
    last = max(number for number, node in enumerate(nodes) if node.op_type == "Conv")
    return [node.name for node in nodes[last:]]


def _depthwise_weights(model: "ModelProto") -> dict[str, list[dict[str, Any]]]:
    """Return the weights that filter each channel alone, with 8 bits in any case."""
    return {
        node.input[1]: [{"axis": 0, "reduce_range": False}]
        for node in model.graph.node
        if any(each.name == "group" and each.i > 1 for each in node.attribute)
    }


def _reader(name: str, images: Iterable[NDArray[np.float32]]) -> Any:
    from onnxruntime.quantization import CalibrationDataReader

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            self._images = iter(images)

        def get_next(self) -> dict[str, NDArray[np.float32]] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
            image = next(self._images, None)
            return None if image is None else {name: image}

    return Reader()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence advice of the quantiser, which it logs as warnings."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
