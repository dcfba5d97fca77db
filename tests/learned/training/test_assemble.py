import numpy as np
import pytest
from onnx import helper

from capsieve.errors import ParameterError
from capsieve.learned.training.assemble import assemble
from capsieve.learned.training.linear_graph import constant, linear_part
from capsieve.learned.training.scaling import Scaling
from capsieve.learned.training.trainer import GraphPart
from learned.training.running import run

CHANCE = np.random.default_rng(0)
VALUES = CHANCE.normal(size=(7, 3)).astype(np.float32)
IMAGE = CHANCE.uniform(0, 255, size=(7, 3, 8, 8)).astype(np.float32)
PLAIN = Scaling(np.zeros(3, dtype=np.float32), np.ones(3, dtype=np.float32), 10.0)


def summing(prefix: str, weights: list[float]) -> GraphPart:
    return linear_part(prefix, PLAIN, np.array(weights), 0.0)


def looking(prefix: str, *, size: int = 8) -> GraphPart:
    """Return a part whose map is a weighted sum of the channels, its logit the map's mean."""
    kernel = np.full((1, 3, 1, 1), 0.01)
    plain = np.ones((size, size))
    axis = helper.make_tensor(f"{prefix}axis", 7, [1], [1])
    nodes = (
        helper.make_node("Conv", ["image", f"{prefix}kernel"], [f"{prefix}all"]),
        helper.make_node("Squeeze", [f"{prefix}all", axis.name], [f"{prefix}flat"]),
        helper.make_node("Mul", [f"{prefix}flat", f"{prefix}plain"], [f"{prefix}map"]),
        helper.make_node("ReduceMean", [f"{prefix}map"], [f"{prefix}mean"], axes=[1, 2]),
        helper.make_node("Flatten", [f"{prefix}mean"], [f"{prefix}logit"], axis=1),
    )
    tensors = (constant(f"{prefix}kernel", kernel), constant(f"{prefix}plain", plain), axis)
    nodes[3].attribute.append(helper.make_attribute("keepdims", 0))
    return GraphPart(f"{prefix}logit", nodes, tensors, f"{prefix}map")


def test_logits_are_added_by_weight() -> None:
    parts = [summing("a_", [1, 2, 3]), summing("b_", [0, 0, 1])]
    found = run(assemble(parts, [0.5, 2.0], -0.3, image_size=None, value_count=3), values=VALUES)
    expected = 0.5 * VALUES @ [1, 2, 3] + 2 * VALUES[:, 2] - 0.3
    np.testing.assert_allclose(found["logit"], expected, atol=1e-5)
    np.testing.assert_allclose(found["probability"], 1 / (1 + np.exp(-expected)), atol=1e-6)
    assert "map" not in found


def test_the_map_is_weighted_as_its_logit() -> None:
    parts = [looking("a_"), summing("b_", [1, 0, 0])]
    model = assemble(parts, [0.5, 1.0], 0.0, image_size=8, value_count=3)
    found = run(model, image=IMAGE, values=VALUES)
    np.testing.assert_allclose(found["map"], 0.005 * IMAGE.sum(axis=1), rtol=1e-5)
    expected = found["map"].mean(axis=(1, 2)) + VALUES[:, 0]
    np.testing.assert_allclose(found["logit"], expected, rtol=1e-4)


def test_maps_of_two_parts_are_added() -> None:
    model = assemble([looking("a_"), looking("b_")], [1, 3], 0.0, image_size=8, value_count=3)
    assert [item.name for item in model.graph.input] == ["image"]
    found = run(model, image=IMAGE)
    np.testing.assert_allclose(found["map"], 0.04 * IMAGE.sum(axis=1), rtol=1e-5)


def test_one_frame_gives_one_number() -> None:
    model = assemble([summing("a_", [1, 1, 1])], [1], 0.0, image_size=None, value_count=3)
    assert run(model, values=VALUES[:1])["probability"].shape == (1,)


def test_half_weights_take_half_the_room_and_stay_close() -> None:
    wide = Scaling(np.zeros(5000, dtype=np.float32), np.ones(5000, dtype=np.float32), 10.0)
    values = CHANCE.normal(size=(4, 5000)).astype(np.float32)
    part = linear_part("a_", wide, CHANCE.normal(size=5000) / 70, 0.0)
    whole, half = (
        assemble([part], [1.0], 0.0, image_size=None, value_count=5000, half=half)
        for half in (False, True)
    )
    assert half.ByteSize() < 0.55 * whole.ByteSize()
    full, halved = (run(model, values=values)["logit"] for model in (whole, half))
    np.testing.assert_allclose(halved, full, atol=2e-3)


def test_weights_that_float16_cannot_hold_stay() -> None:
    wide = Scaling(np.full(2000, 1e6, dtype=np.float32), np.ones(2000, dtype=np.float32), 10.0)
    part = linear_part("a_", wide, np.zeros(2000), 1.5)
    model = assemble([part], [1.0], 0.0, image_size=None, value_count=2000, half=True)
    names = {tensor.name for tensor in model.graph.initializer}
    assert {"a_centre", "a_factor_half"} <= names
    assert run(model, values=np.zeros((1, 2000), dtype=np.float32))["logit"] == [1.5]


def test_onnxruntime_has_nothing_to_warn_of(capfd: pytest.CaptureFixture[str]) -> None:
    parts = [looking("a_"), summing("b_", [1, 0, 0])]
    run(
        assemble(parts, [0.5, 1.0], 0.0, image_size=8, value_count=3, half=True),
        image=IMAGE,
        values=VALUES,
    )
    assert capfd.readouterr().err == ""


def test_parts_of_one_name_are_refused() -> None:
    parts = [summing("a_", [1, 2, 3])] * 2
    with pytest.raises(ParameterError, match="a_logit"):
        assemble(parts, [1, 1], 0.0, image_size=None, value_count=3)


def test_an_image_needs_a_size() -> None:
    with pytest.raises(ParameterError, match="size must be given"):
        assemble([looking("a_")], [1], 0.0, image_size=None, value_count=3)


def test_as_many_weights_as_parts_are_needed() -> None:
    with pytest.raises(ParameterError, match="1 parts and 2 weights"):
        assemble([looking("a_")], [1, 2], 0.0, image_size=8, value_count=3)


def test_one_image_may_come_with_many_rows_of_values() -> None:
    parts = [looking("a_"), summing("b_", [1, 2, 3])]
    model = assemble(parts, [0.5, 1.0], 0.0, image_size=8, value_count=3)
    many = np.repeat(IMAGE[:1], len(VALUES), axis=0)
    once, each = (run(model, image=image, values=VALUES)["logit"] for image in (IMAGE[:1], many))
    assert len(VALUES) > 1
    np.testing.assert_allclose(once, each, rtol=1e-6)
