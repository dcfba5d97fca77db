"""Models in onnxruntime: scores, maps, and descriptions that do not fit."""

import math
import sys
from hashlib import sha256

import numpy as np
import pytest
from onnx import TensorProto, helper

from capsieve.errors import FileError, MissingExtraError, ParameterError, WorkerError
from capsieve.learned.runtime import (
    CPU_BATCH,
    ModelInput,
    Runner,
    model_input,
    polyp_probability,
    runner,
)
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

IMAGE = {"image": ["n", 3, SIZE, SIZE]}


def pictures(count, seed=0):
    shape = (count, SIZE, SIZE, 3)
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def ready(made, how):
    return Runner(made.SerializeToString(), how, name="tiny.onnx")


def scores(model, images):
    return np.array([each.score for each in model.run([ModelInput(one, None) for one in images])])


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, float)))


def means(images):
    return images.astype(float).mean(axis=(1, 2, 3))


def test_the_score_follows_from_the_formula_of_the_graph():
    images = pictures(3)
    found = scores(ready(brightness_model(), spec()), images)
    np.testing.assert_allclose(found, sigmoid((means(images) - 50) / 10), rtol=1e-5)


def test_images_and_features_together_with_a_map():
    images = pictures(2)
    values = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)
    found = ready(two_input_model(), two_input_spec()).run(
        [ModelInput(*each) for each in zip(images, values, strict=True)]
    )
    expected = sigmoid(values @ [2.0, -0.5] + means(images) / 100)
    np.testing.assert_allclose([each.score for each in found], expected, rtol=1e-4)
    for answer, image in zip(found, images, strict=True):
        assert answer.map is not None
        np.testing.assert_allclose(answer.map, image.astype(float).mean(axis=2), rtol=1e-4)


@pytest.mark.parametrize("batch", ["n", None, 1])
def test_batches_give_the_scores_of_single_frames(batch):
    images = pictures(20 * CPU_BATCH + 3)
    model = ready(brightness_model(batch=batch), spec())
    alone = np.concatenate([scores(model, each[None]) for each in images])
    np.testing.assert_allclose(scores(model, images), alone, rtol=1e-5)


def test_the_input_is_pixel_times_scale_minus_mean_over_std():
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
        helper.make_node("ReduceMean", ["floats"], ["probability"], axes=[1, 2, 3], keepdims=0),
    ]
    made = made_model(nodes, IMAGE, {"probability": ["n"]}, kind=TensorProto.UINT8)
    how = spec(output=Output(name="probability", kind="logit"))
    images = pictures(2) // 100
    np.testing.assert_allclose(scores(ready(made, how), images), sigmoid(means(images)), rtol=1e-5)
    with pytest.raises(FileError, match="takes bytes"):
        ready(made, how.model_copy(update={"image": image_spec(scale=0.5)}))


@pytest.mark.parametrize(
    ("frame_score", "expected"),
    [("max", lambda p: p.max()), ("mean", np.mean), ("area", lambda p: (p > 0.7).mean())],
)
def test_a_mask_is_the_map_and_gives_the_score(frame_score, expected):
    how = spec(output=Output(name="mask", kind="mask", frame_score=frame_score, level=0.7))
    image = pictures(1)[0]
    (found,) = ready(red_segmenter(), how).run([ModelInput(image, None)])
    cells = image[..., 0].reshape(SIZE // 4, 4, SIZE // 4, 4).mean(axis=(1, 3)) / 255
    assert found.map is not None
    np.testing.assert_allclose(found.map, cells, rtol=1e-5)
    assert found.score == pytest.approx(expected(cells), rel=1e-5)


def output(kind, **more):
    return Output(name="y", kind=kind, **more)


def test_a_logit_gives_its_sigmoid():
    found = polyp_probability(np.array([[-800.0], [-1.0], [0.0], [3.0], [800.0]]), output("logit"))
    np.testing.assert_allclose(
        found, [0.0, 1 / (1 + math.e), 0.5, 1 / (1 + math.exp(-3)), 1.0], atol=1e-12
    )


@pytest.mark.parametrize("kind", [output("softmax", class_index=2), None])
def test_a_softmax_gives_the_share_of_its_class(kind):
    numbers = np.random.default_rng(0).normal(0, 3, (6, 5, 4))
    kind = kind or output("mask", pixels="softmax", class_index=2)
    expected = np.exp(numbers[..., 2]) / np.exp(numbers).sum(axis=-1)
    np.testing.assert_allclose(polyp_probability(numbers, kind), expected)


def test_a_probability_is_the_score():
    numbers = np.array([[0.2, 0.8], [1.0, 0.0]])
    found = polyp_probability(numbers, output("probability", class_index=1))
    np.testing.assert_array_equal(found, [0.8, 0.0])


def test_calibration_is_a_line_on_the_logit():
    logits = np.array([[-2.0], [0.0], [3.0]])
    expected = sigmoid(0.5 * logits[:, 0] - 1)
    for kind, numbers in (("logit", logits), ("probability", sigmoid(logits))):
        found = polyp_probability(numbers, output(kind, calibration=(0.5, -1.0)))
        np.testing.assert_allclose(found, expected)
    found = polyp_probability(logits, output("logit", calibration=(1.0, 0.0)))
    np.testing.assert_allclose(found, sigmoid(logits[:, 0]))


def test_the_entry_for_pixels_has_no_effect_without_a_mask():
    found = polyp_probability(np.array([[1.5]]), output("logit", pixels="softmax"))
    assert found == pytest.approx(sigmoid(1.5))


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        (np.zeros((1, 3)), output("logit")),
        (np.zeros((1, 3)), output("logit", class_index=3)),
        (np.zeros((1, 1)), output("softmax", class_index=0)),
        (np.array([[3.5]]), output("probability")),
    ],
)
def test_numbers_that_do_not_fit_the_description_are_refused(numbers, kind):
    with pytest.raises(ParameterError, match=r"output\."):
        polyp_probability(numbers, kind)


def test_masks_with_classes_in_either_order_of_axes():
    image = pictures(1)
    for layout, axes in (("nchw", IMAGE["image"]), ("nhwc", ["n", SIZE, SIZE, 3])):
        nodes = [helper.make_node("Div", ["image", "white"], ["mask"])]
        made = made_model(nodes, {"image": axes}, {"mask": axes}, {"white": np.float32(255)})
        how = spec(
            image=image_spec(layout=layout), output=Output(name="mask", kind="mask", class_index=1)
        )
        (found,) = ready(made, how).run([ModelInput(image[0], None)])
        assert found.map is not None
        np.testing.assert_allclose(found.map, image[0, ..., 1] / 255, rtol=1e-5)


def features(*columns: str, version: int | None = None):
    how = two_input_spec()
    assert how.values is not None
    changes = {"names": columns or how.values.names, "version": version or how.values.version}
    return how.model_copy(update={"values": how.values.model_copy(update=changes)})


def class_model():
    """It gives the class of a frame without a probability."""
    made = brightness_model()
    made.graph.node.append(helper.make_node("Cast", ["logit"], ["class"], to=TensorProto.INT64))
    info = helper.make_tensor_value_info("class", TensorProto.INT64, ["n", 1])
    made.graph.output[0].CopyFrom(info)
    return made


@pytest.mark.parametrize(
    ("made", "how", "words"),
    [
        (brightness_model(), spec(image=image_spec(input="x")), r"no 'x'; it has 'image'"),
        (brightness_model(), spec(image=image_spec(size=64)), r"n x 3 x 32 x 32.*check"),
        (brightness_model(), spec(image=image_spec(layout="nhwc")), r"layout"),
        (brightness_model(), spec(image=image_spec(colour="gray")), r"colour"),
        (brightness_model(shape=(3, SIZE, 48)), spec(), r"n x 3 x 32 x 48"),
        (brightness_model(batch=4), spec(), r"4 x 3 x 32 x 32"),
        (class_model(), spec(output=Output(name="class", kind="logit")), r"int64"),
        (brightness_model(), spec(output=Output(name="y", kind="logit")), r"output\.name.*'logit'"),
        (brightness_model(), spec(output=Output(name="logit", kind="mask")), r"a mask is frames x"),
        (
            brightness_model(),
            spec(output=Output(name="logit", kind="logit", class_index=1)),
            r"output\.class_index",
        ),
        (
            brightness_model(),
            spec(output=Output(name="logit", kind="probability")),
            r"output\.kind.*not a probability",
        ),
        (red_segmenter(), spec(output=Output(name="mask", kind="logit")), r"is frames x classes"),
        (
            brightness_model(),
            spec(output=Output(name="logit", kind="logit", map="heat")),
            r"output\.map: the graph has no 'heat'",
        ),
        (
            brightness_model(),
            spec(output=Output(name="logit", kind="logit", map="logit")),
            r"a map is frames x rows x columns",
        ),
        (two_input_model(), spec(), r"an input 'values' that is not described"),
        (two_input_model((1.0, 2.0, 3.0)), two_input_spec(), r"n x 3"),
        (two_input_model(), features("bump.taste", "b"), r"no feature 'bump.taste'"),
        (two_input_model(), features(version=99), r"version 99"),
    ],
)
def test_a_description_that_does_not_fit_is_refused_at_load(made, how, words):
    with pytest.raises(FileError, match=words) as caught:
        ready(made, how)
    assert str(caught.value).startswith("tiny.onnx")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", ["operator", "ir", "opset"])
def test_a_graph_that_onnxruntime_cannot_load_is_refused(change):
    made = brightness_model()
    if change == "operator":
        made.graph.node[0].op_type = "Nonsense"
    elif change == "ir":
        made.ir_version = 9999
    else:
        made.opset_import[0].version = 9999
    with pytest.raises(FileError, match=r"tiny.onnx cannot be loaded: ") as caught:
        ready(made, spec())
    assert "ONNXRuntimeError" not in str(caught.value)


def test_an_open_image_size_that_does_not_run_is_refused_at_load():
    nodes = [
        helper.make_node("ReduceMean", ["image"], ["line"], axes=[1, 2], keepdims=0),
        helper.make_node("MatMul", ["line", "weights"], ["logit"]),
    ]
    weights = {"weights": np.ones((SIZE, 1), np.float32)}
    made = made_model(nodes, {"image": ["n", 3, "h", "w"]}, {"logit": ["n", 1]}, weights)
    ready(made, spec())
    with pytest.raises(FileError, match=r"n x 3 x h x w: check size") as caught:
        ready(made, spec(image=image_spec(size=SIZE + 1)))
    assert "onnxruntime_src" not in str(caught.value)


def reshaped(shape):
    nodes = [
        helper.make_node("ReduceMean", ["image"], ["mean"], axes=[2, 3], keepdims=0),
        helper.make_node("ReduceMean", ["mean"], ["one"], axes=[1]),
        helper.make_node("Reshape", ["mean" if shape[0] == -1 else "one", "shape"], ["logit"]),
    ]
    weights = {"shape": np.array(shape, np.int64)}
    return made_model(nodes, IMAGE, {"logit": [None, 1]}, weights)


def test_a_graph_that_only_takes_one_frame_runs_frame_by_frame():
    images = pictures(CPU_BATCH + 3) // 100
    found = scores(ready(reshaped((1, 1)), spec()), images)
    np.testing.assert_allclose(found, sigmoid(means(images)), rtol=1e-5)


def test_one_answer_for_a_batch_is_not_used_for_its_frames():
    nodes = [helper.make_node("ReduceMean", ["image"], ["logit"], axes=[0, 1, 2, 3])]
    made = made_model(nodes, IMAGE, {"logit": [None, 1, 1, 1]})
    images = pictures(3) // 100
    np.testing.assert_allclose(
        scores(ready(made, spec()), images), sigmoid(means(images)), rtol=1e-5
    )


def test_several_answers_for_one_frame_are_refused():
    with pytest.raises(FileError, match=r"\(3, 1\) for 1 frame;"):
        ready(reshaped((-1, 1)), spec())


def test_a_bad_frame_costs_only_its_own_score_and_batch(monkeypatch):
    model = ready(brightness_model(), spec())
    session, sizes = model._session, list[int]()

    class FailsOnBlack:
        def run(self, wanted, feed):
            sizes.append(len(feed["image"]))
            if not feed["image"].any(axis=(1, 2, 3)).all():
                raise RuntimeError("division by zero")
            return session.run(wanted, feed)

    monkeypatch.setattr(model, "_session", FailsOnBlack())
    images = pictures(3 * CPU_BATCH)
    images[CPU_BATCH + 1] = 0
    found = model.run([ModelInput(each, None) for each in images])
    failed = [number for number, each in enumerate(found) if math.isnan(each.score)]
    assert failed == [CPU_BATCH + 1]
    assert "division by zero" in found[CPU_BATCH + 1].problem
    assert sizes == [CPU_BATCH, CPU_BATCH, *[1] * CPU_BATCH, CPU_BATCH]


def test_a_batch_that_fails_is_reported_and_the_next_one_is_a_batch_again(monkeypatch, caplog):
    model = ready(brightness_model(), spec())
    session, sizes = model._session, list[int]()

    class FailsOnBlack:
        def run(self, wanted, feed):
            sizes.append(len(feed["image"]))
            if not feed["image"].any(axis=(1, 2, 3)).all():
                raise RuntimeError("out of memory")
            return session.run(wanted, feed)

    monkeypatch.setattr(model, "_session", FailsOnBlack())
    monkeypatch.setattr(model, "_batch", 3)
    images = pictures(9)
    images[4] = 0
    found = model.run([ModelInput(each, None) for each in images])
    assert [number for number, each in enumerate(found) if math.isnan(each.score)] == [4]
    assert sizes == [3, 3, 1, 1, 1, 3]
    (message,) = caplog.messages
    assert "3 frames at a time" in message
    assert "out of memory" in message


def test_no_number_is_a_problem_of_its_frame():
    nodes = [
        helper.make_node("ReduceMean", ["image"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Log", ["mean"], ["log"]),
        helper.make_node("Sub", ["log", "log"], ["logit"]),
    ]
    images = pictures(3)
    images[1] = 0
    found = ready(made_model(nodes, IMAGE, {"logit": ["n"]}), spec()).run(
        [ModelInput(each, None) for each in images]
    )
    assert [bool(each.problem) for each in found] == [False, True, False]


@pytest.mark.slow
def test_broken_files_never_end_the_process():
    whole = brightness_model().SerializeToString()
    messages: list[str] = []
    for place in range(0, len(whole), 10):
        changed = bytearray(whole)
        changed[place] ^= 1 << place // 10 % 8
        try:
            Runner(bytes(changed), spec())
        except FileError as error:
            messages.append(str(error))
    assert len(messages) > 20
    assert not any("\n" in message for message in messages)


def test_a_model_is_loaded_once_in_a_process(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    digest = sha256(path.read_bytes()).hexdigest()
    assert runner(path, digest, spec()) is runner(path, digest, spec())


def test_a_worker_refuses_another_file(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    with pytest.raises(WorkerError, match=r"another model .*000000000000"):
        runner(path, "0" * 64, spec())


def test_a_worker_without_the_file_says_so(tmp_path):
    with pytest.raises(WorkerError, match="every worker needs the model at the same path"):
        runner(tmp_path / "absent.onnx", "0" * 64, spec())


def test_an_unknown_provider_is_refused():
    with pytest.raises(ParameterError, match=r"provider: .*'abacus'; use .*cpu"):
        Runner(brightness_model().SerializeToString(), spec(), provider="abacus")


def test_without_onnxruntime_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"capsieve\[learned\]"):
        ready(brightness_model(), spec())
