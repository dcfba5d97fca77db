"""Models in onnxruntime, and descriptions that do not fit them."""

import sys
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from onnx import TensorProto, helper

from capsieve.errors import FileError, MissingExtraError
from capsieve.learned.runtime import BATCH, Runner, model_input, runner
from capsieve.learned.spec import Output
from made_models import (
    SIZE,
    brightness_model,
    image_spec,
    own_file,
    red_segmenter,
    spec,
    two_input_model,
    two_input_spec,
)
from made_models import model as made_model


def pictures(count, seed=0):
    shape = (count, SIZE, SIZE, 3)
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def ready(made, how):
    return Runner(made.SerializeToString(), how, name="tiny.onnx")


def test_a_model_says_what_its_formula_says():
    images = pictures(3)
    found = ready(brightness_model(), spec()).run(images, None)
    expected = (images.astype(float).mean(axis=(1, 2, 3)) - 50) / 10
    np.testing.assert_allclose(found.logits, expected, rtol=1e-4)
    np.testing.assert_allclose(found.scores, 1 / (1 + np.exp(-expected)), rtol=1e-5)
    assert found.maps is None


def test_pictures_and_values_go_in_together():
    images = pictures(2)
    values = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)
    found = ready(two_input_model(), two_input_spec()).run(images, values)
    brightness = images.astype(float).mean(axis=(1, 2, 3)) / 100
    np.testing.assert_allclose(found.logits, values @ [2.0, -0.5] + brightness, rtol=1e-4)
    assert found.maps is not None
    np.testing.assert_allclose(found.maps, images.astype(float).mean(axis=3), rtol=1e-4)


@pytest.mark.parametrize("batch", ["n", None, 1])
def test_any_number_of_frames_gives_the_same_as_one_by_one(batch):
    images = pictures(2 * BATCH + 3)
    model = ready(brightness_model(batch=batch), spec())
    alone = np.concatenate([model.run(each[None], None).scores for each in images])
    np.testing.assert_allclose(model.run(images, None).scores, alone, rtol=1e-5)


def test_scaling_is_pixel_times_scale_minus_mean_over_std():
    image = pictures(1)
    mean, std = (0.4, 0.5, 0.6), (0.1, 0.2, 0.3)
    found = model_input(image, image_spec(scale=1 / 255, mean=mean, std=std))
    for channel in range(3):
        expected = (image[0, :, :, channel] / 255 - mean[channel]) / std[channel]
        np.testing.assert_allclose(found[0, channel], expected, atol=1e-5)


def test_the_order_of_colours_and_axes():
    image = pictures(1)
    bgr = model_input(image, image_spec(colour="bgr", layout="nhwc"))
    np.testing.assert_array_equal(bgr, image[..., ::-1])
    gray = model_input(image, image_spec(colour="gray"))
    assert gray.shape == (1, 1, SIZE, SIZE)
    np.testing.assert_allclose(gray[0, 0], image[0] @ [0.299, 0.587, 0.114], rtol=1e-5)


def test_a_graph_may_take_bytes():
    nodes = [
        helper.make_node("Cast", ["image"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["floats"], ["logit"], axes=[1, 2, 3], keepdims=0),
    ]
    shapes = {"image": ["n", 3, SIZE, SIZE]}, {"logit": ["n"]}
    made = made_model(nodes, *shapes, kind=TensorProto.UINT8)
    images = pictures(2)
    found = ready(made, spec()).run(images, None)
    np.testing.assert_allclose(found.logits, images.mean(axis=(1, 2, 3)), rtol=1e-5)
    with pytest.raises(FileError, match="takes bytes"):
        ready(made, spec(image=image_spec(scale=0.5)))


def test_a_segmenters_mask_is_its_map():
    how = spec(output=Output(name="mask", kind="mask"))
    images = pictures(2)
    found = ready(red_segmenter(), how).run(images, None)
    cells = images[..., 0].reshape(2, SIZE // 4, 4, SIZE // 4, 4).mean(axis=(2, 4)) / 255
    assert found.maps is not None
    np.testing.assert_allclose(found.maps, cells, rtol=1e-5)
    np.testing.assert_allclose(found.scores, cells.max(axis=(1, 2)), rtol=1e-5)


def names(*columns: str, version: int | None = None):
    how = two_input_spec()
    assert how.values is not None
    changed = replace(how.values, names=columns or how.values.names)
    return replace(how, values=changed if version is None else replace(changed, version=version))


def class_model():
    """It tells which class a frame is of, and not how sure that is."""
    made = brightness_model()
    made.graph.node.append(helper.make_node("Cast", ["logit"], ["class"], to=TensorProto.INT64))
    made.graph.output[0].CopyFrom(
        helper.make_tensor_value_info("class", TensorProto.INT64, ["n", 1])
    )
    return made


def flat_model():
    nodes = [helper.make_node("Identity", ["image"], ["logit"])]
    return made_model(nodes, {"image": ["n", 3, SIZE]}, {"logit": ["n", 3, SIZE]})


@pytest.mark.parametrize(
    ("made", "how", "words"),
    [
        (brightness_model(), spec(image=image_spec(input="x")), r"no input 'x'; it has 'image'"),
        (brightness_model(), spec(image=image_spec(size=64)), r"image.size: it says 64, but the"),
        (brightness_model(), spec(image=image_spec(layout="nhwc")), r"image.layout and image.col"),
        (brightness_model(), spec(image=image_spec(colour="gray")), r"image.layout and image.col"),
        (flat_model(), spec(), r"n x 3 x 32; a picture has four axes"),
        (
            class_model(),
            spec(output=Output(name="class", kind="logit")),
            r"gives tensor\(int64\); name one that gives a table of fract",
        ),
        (brightness_model(shape=(3, SIZE, 48)), spec(), r"capsieve gives square pictures only"),
        (brightness_model(batch=4), spec(), r"4 frames at once, no more and no fewer"),
        (
            brightness_model(),
            spec(output=Output(name="y", kind="logit")),
            r"output.name: the graph has no output 'y'; it has 'logit'",
        ),
        (
            brightness_model(),
            spec(output=Output(name="logit", kind="mask")),
            r"a mask is frames x rows x columns",
        ),
        (
            brightness_model(),
            spec(output=Output(name="logit", kind="logit", class_index=1)),
            r"it says 1, but the output 'logit' has a single class",
        ),
        (
            red_segmenter(),
            spec(output=Output(name="mask", kind="logit")),
            r'a "logit" is frames x classes, but the output \'mask\' is n x 1 x 8 x 8',
        ),
        (
            brightness_model(),
            spec(output=Output(name="logit", kind="logit", map="heat")),
            r"output.map: the graph has no output 'heat'",
        ),
        (
            brightness_model(),
            spec(output=Output(name="logit", kind="logit", map="logit")),
            r"a map is frames x rows x columns",
        ),
        (two_input_model(), spec(), r"has an input 'values' that the description does not fill"),
        (
            two_input_model((1.0, 2.0, 3.0)),
            two_input_spec(),
            r"2 features, but the graph takes",
        ),
        (two_input_model(), names("bump.taste", "b"), r"there is no feature 'bump.taste'"),
        (two_input_model(), names(version=99), r"features of version 99, and this capsieve has"),
    ],
)
def test_a_description_that_does_not_fit_is_told(made, how, words):
    with pytest.raises(FileError, match=words) as caught:
        ready(made, how)
    assert str(caught.value).startswith("tiny.onnx")
    assert "\n" not in str(caught.value)


def test_what_onnxruntime_cannot_load_is_one_sentence():
    made = brightness_model()
    made.graph.node[0].op_type = "Nonsense"
    with pytest.raises(FileError, match=r"tiny.onnx cannot be loaded: .*Nonsense") as caught:
        ready(made, spec())
    assert "ONNXRuntimeError" not in str(caught.value)


def test_a_graph_that_fails_on_a_frame_is_one_sentence():
    nodes = [helper.make_node("Reshape", ["image", "shape"], ["logit"])]
    weights = {"shape": np.array([7, 7], np.int64)}
    made = made_model(nodes, {"image": ["n", 3, SIZE, SIZE]}, {"logit": ["n", 1]}, weights)
    with pytest.raises(FileError, match=r"tiny\.onnx"):
        ready(made, spec()).run(pictures(1), None)


def one_frame_model():
    """A graph that promises any batch, but whose last step has room for one frame."""
    nodes = [
        helper.make_node("ReduceMean", ["image"], ["mean"], axes=[1, 2, 3]),
        helper.make_node("Reshape", ["mean", "shape"], ["logit"]),
    ]
    weights = {"shape": np.array([1, 1], np.int64)}
    return made_model(nodes, {"image": ["n", 3, SIZE, SIZE]}, {"logit": [None, 1]}, weights)


def test_a_graph_with_room_for_one_frame_runs_frame_by_frame():
    images = pictures(BATCH + 3)
    model = ready(one_frame_model(), spec())
    for _ in range(2):  # the second time it knows
        found = model.run(images, None)
        np.testing.assert_allclose(found.logits, images.mean(axis=(1, 2, 3)), rtol=1e-5)


def test_one_answer_for_several_frames_is_no_answer_for_each():
    nodes = [helper.make_node("ReduceMean", ["image"], ["logit"], axes=[0, 1, 2, 3])]
    made = made_model(nodes, {"image": ["n", 3, SIZE, SIZE]}, {"logit": [None, 1, 1, 1]})
    images = pictures(3)
    found = ready(made, spec()).run(images, None)
    np.testing.assert_allclose(found.logits, images.mean(axis=(1, 2, 3)), rtol=1e-5)


def test_several_answers_for_one_frame_are_told():
    nodes = [helper.make_node("ReduceMean", ["image"], ["all"], axes=[2, 3], keepdims=0)]
    nodes += [helper.make_node("Reshape", ["all", "shape"], ["logit"])]
    weights = {"shape": np.array([-1, 1], np.int64)}
    made = made_model(nodes, {"image": ["n", 3, SIZE, SIZE]}, {"logit": [None, 1]}, weights)
    with pytest.raises(FileError, match="gave 3 answers for 1 frame"):
        ready(made, spec()).run(pictures(3), None)


def test_a_size_that_the_graph_leaves_open_may_still_not_run():
    nodes = [
        helper.make_node("ReduceMean", ["image"], ["line"], axes=[1, 2], keepdims=0),
        helper.make_node("MatMul", ["line", "weights"], ["logit"]),
    ]
    weights = {"weights": np.ones((SIZE, 1), np.float32)}
    made = made_model(nodes, {"image": ["n", 3, "h", "w"]}, {"logit": ["n", 1]}, weights)
    ready(made, spec()).try_out()
    model = ready(made, spec(image=image_spec(size=SIZE + 1)))
    with pytest.raises(FileError, match=r"leaves image.size open, but may not run with 33") as told:
        model.try_out()
    assert "onnxruntime_src" not in str(told.value)


@pytest.mark.parametrize("change", ["ir", "opset"])
def test_a_file_newer_than_onnxruntime_is_told(change):
    made = brightness_model()
    if change == "ir":
        made.ir_version = 9999
    else:
        made.opset_import[0].version = 9999
    with pytest.raises(FileError, match=r"newer ONNX than this onnxruntime .* older opset"):
        ready(made, spec())


def test_broken_foreign_files_never_end_the_process():
    whole = brightness_model().SerializeToString()
    told: list[str] = []
    for place in range(0, len(whole), 10):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        try:
            Runner(bytes(changed), spec()).run(pictures(1), None)
        except FileError as error:
            told.append(str(error))
    assert len(told) > 20
    assert not any("\n" in words for words in told)


def test_a_model_is_loaded_once_in_a_process(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    digest = sha256(path.read_bytes()).hexdigest()
    assert runner(path, digest, spec()) is runner(path, digest, spec())


def test_a_worker_with_another_file_is_told(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    with pytest.raises(FileError, match="another model than the one that was loaded"):
        runner(path, "0" * 64, spec())


def test_a_worker_without_the_file_is_told(tmp_path):
    with pytest.raises(FileError, match="every worker needs the model at the same path"):
        runner(tmp_path / "absent.onnx", "0" * 64, spec())


def test_without_onnxruntime_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"capsieve\[learned\]"):
        ready(brightness_model(), spec())
