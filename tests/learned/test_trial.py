"""A model of another program is tried with limits of time and memory."""

import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from capsieve.errors import FileError
from capsieve.learned import trial
from capsieve.learned.detector import model_detector
from capsieve.learned.spec import Output
from made_models import SIZE, brightness_model, image_spec, model, spec

pytest.importorskip("onnxruntime", reason="models need the extra learned")

SHAPES = {"image": ["n", 3, SIZE, SIZE]}, {"logit": ["n", 1]}


def endless():
    """Return a graph with a loop whose condition is always true."""
    going, number = (
        helper.make_tensor_value_info(name, kind, [])
        for name, kind in (("going", TensorProto.BOOL), ("number", TensorProto.INT64))
    )
    still = helper.make_tensor_value_info("still", TensorProto.BOOL, [])
    mean_in, mean_out = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("in", "out")
    )
    nodes = [
        helper.make_node("Identity", ["going"], ["still"]),
        helper.make_node("Identity", ["in"], ["out"]),
    ]
    body = helper.make_graph(nodes, "body", [number, going, mean_in], [still, mean_out])
    whole = [
        helper.make_node("ReduceMean", ["image"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Loop", ["", "yes", "mean"], ["same"], body=body),
        helper.make_node("Unsqueeze", ["same", "one"], ["logit"]),
    ]
    return model(whole, *SHAPES, {"yes": np.array(True), "one": np.array([1], np.int64)})


def enormous(numbers):
    """Return a graph that makes so many numbers from a few bytes."""
    zero = numpy_helper.from_array(np.zeros(1, np.float32))
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"], value=zero),
        helper.make_node("ReduceMean", ["zeros"], ["none"], axes=[0], keepdims=1),
        helper.make_node("ReduceMean", ["image"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Add", ["mean", "none"], ["sum"]),
        helper.make_node("Unsqueeze", ["sum", "one"], ["logit"]),
    ]
    weights = {"shape": np.array([numbers], np.int64), "one": np.array([1], np.int64)}
    return model(nodes, *SHAPES, weights)


def written(folder, graph):
    """Write a model with its description, as users do."""
    path = folder / "foreign.onnx"
    onnx.save(graph, path)
    path.with_suffix(".toml").write_text(
        f'threshold = 0.5\n[image]\ninput = "image"\nsize = {SIZE}\ncolour = "rgb"\nscale = 1.0\n'
        '[output]\nname = "logit"\nkind = "logit"\n'
    )
    return path


def test_a_model_that_works_is_loaded(tmp_path):
    detector = model_detector(written(tmp_path, brightness_model()))
    assert 0 < detector.score(np.full((64, 64, 3), 50, np.uint8)).score < 1


@pytest.mark.slow
def test_a_model_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "TIME_S", 8)
    with pytest.raises(FileError, match=r"foreign\.onnx gave no answer"):
        model_detector(written(tmp_path, endless()))


@pytest.mark.slow
def test_a_model_that_needs_more_memory_than_allowed_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"foreign\.onnx cannot be run .* 4 GB"):
        model_detector(written(tmp_path, enormous(2_000_000_000)))


def test_other_errors_are_those_of_this_process(tmp_path):
    path = written(tmp_path, brightness_model())
    with path.with_suffix(".toml").open("a") as file:
        file.write('map = "absent"\n')
    with pytest.raises(FileError, match=r"output\.map"):
        model_detector(path)


def test_a_model_is_tried_once(tmp_path, monkeypatch):
    path = written(tmp_path, brightness_model())
    first = model_detector(path)
    monkeypatch.setattr(sys, "executable", "/absent")
    assert model_detector(path).identity == first.identity


def test_the_trial_takes_models_with_several_descriptions(tmp_path):
    whole = spec(image=image_spec(crop="frame"), output=Output(name="logit", kind="logit"))
    path = written(tmp_path, brightness_model())
    trial.try_model(path, model_detector(path).sha256, whole)
