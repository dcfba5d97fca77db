"""Tiny ONNX models whose answers are known in closed form."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from capsieve.learned import features
from capsieve.learned.card import DataSet, Hashes, ModelCard, ModelMetric
from capsieve.learned.model_file import write_model
from capsieve.learned.spec import ImageInput, ModelSpec, Output, ValuesInput

SIZE = 32
NAMES = features.NAMES[3:5]

CARD = ModelCard(
    name="tiny",
    kind="cnn",
    created="2026-01-02",
    capsieve="0.1",
    seed=3,
    data=(
        DataSet(
            name="phantom",
            licence="BSD-3-Clause",
            citation="nobody",
            frames=120,
            groups=6,
            polyps=4,
            labels={"polyp": 20, "normal": 100},
        ),
    ),
    grouped_by="exams",
    group_count=6,
    metrics=(
        ModelMetric(source="phantom", what="AUC", value=0.91, low=0.85, high=0.95, count=120),
        ModelMetric(source="phantom", what="sensitivity per polyp"),
    ),
    settings={"rate": 0.1, "steps": 800, "balanced": True, "weights": "none"},
    intended_use="Tests.",
    prevalence=0.1,
    hashes=Hashes(labels="ab" * 32, frames="cd" * 32),
    reference="frames of the phantom",
    quantiles={"brightness": (40.0, 160.0), "texture": (2.0, 9.0)},
    usual_values={"bump.texture": (2.0, 9.0), "spots.dark-share": (0.0, 0.3)},
)


def image_spec(**changes: Any) -> ImageInput:
    return ImageInput(**({"input": "image", "size": SIZE, "colour": "rgb", "scale": 1.0} | changes))


def spec(**changes: Any) -> ModelSpec:
    common = {
        "threshold": 0.5,
        "image": image_spec(),
        "output": Output(name="logit", kind="logit"),
    }
    return ModelSpec(**(common | changes))


def model(
    nodes: Sequence[Any],
    inputs: Mapping[str, Sequence[Any]],
    outputs: Mapping[str, Sequence[Any]],
    weights: dict[str, Any] | None = None,
    *,
    kind: int = TensorProto.FLOAT,
) -> onnx.ModelProto:
    arrays = {name: np.asarray(value) for name, value in (weights or {}).items()}
    graph = helper.make_graph(
        list(nodes),
        "tiny",
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs.items()],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in outputs.items()
        ],
        [numpy_helper.from_array(value, name) for name, value in arrays.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


def brightness_model(*, batch: Any = "n", shape: Sequence[Any] = (3, SIZE, SIZE)) -> Any:
    """The logit is (mean of all pixels - 50) / 10."""
    nodes = [
        helper.make_node("ReduceMean", ["image"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Sub", ["mean", "fifty"], ["above"]),
        helper.make_node("Div", ["above", "ten"], ["flat"]),
        helper.make_node("Unsqueeze", ["flat", "one"], ["logit"]),
    ]
    weights = {
        "fifty": np.float32(50),
        "ten": np.float32(10),
        "one": np.array([1], np.int64),
    }
    return model(nodes, {"image": [batch, *shape]}, {"logit": [batch, 1]}, weights)


def red_segmenter() -> Any:
    """The mask is red / 255 at every fourth pixel: N x 1 x 8 x 8."""
    nodes = [
        helper.make_node("Slice", ["image", "zero", "one", "one"], ["red"]),
        helper.make_node("AveragePool", ["red"], ["small"], kernel_shape=[4, 4], strides=[4, 4]),
        helper.make_node("Div", ["small", "white"], ["mask"]),
    ]
    weights = {
        "zero": np.array([0], np.int64),
        "one": np.array([1], np.int64),
        "white": np.float32(255),
    }
    small = SIZE // 4
    shapes = {"image": ["n", 3, SIZE, SIZE]}, {"mask": ["n", 1, small, small]}
    return model(nodes, *shapes, weights)


def two_input_model(coefficients: Sequence[float] = (2.0, -0.5)) -> Any:
    """The logit is the values times their coefficients, plus mean(image) / 100; with a map."""
    nodes = [
        helper.make_node("MatMul", ["values", "weights"], ["from_values"]),
        helper.make_node("ReduceMean", ["image"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Unsqueeze", ["mean", "one"], ["column"]),
        helper.make_node("Div", ["column", "hundred"], ["from_image"]),
        helper.make_node("Add", ["from_values", "from_image"], ["logit"]),
        helper.make_node("ReduceMean", ["image"], ["map"], axes=[1], keepdims=0),
    ]
    weights = {
        "weights": np.array(coefficients, np.float32)[:, None],
        "one": np.array([1], np.int64),
        "hundred": np.float32(100),
    }
    return model(
        nodes,
        {"image": ["n", 3, SIZE, SIZE], "values": ["n", len(coefficients)]},
        {"logit": ["n", 1], "map": ["n", SIZE, SIZE]},
        weights,
    )


def two_input_spec() -> ModelSpec:
    values = ValuesInput(input="values", names=NAMES, version=features.VERSION)
    return spec(values=values, output=Output(name="logit", kind="logit", map="map"))


def own_file(path: Path, made: Any = None, how: ModelSpec | None = None) -> Path:
    """Write a model file of capsieve's."""
    write_model(path, made or brightness_model(), how or spec(), CARD)
    return path


def foreign_file(path: Path, made: Any, toml: str) -> Path:
    """Write an ONNX file, and a TOML file beside it."""
    path.write_bytes(made.SerializeToString())
    path.with_suffix(".toml").write_text(toml)
    return path
