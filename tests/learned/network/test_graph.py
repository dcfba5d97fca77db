import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.learned.network.graph import PASSAGE, LinearHead, Member, lower_graph, network_graph
from capsieve.learned.network.running import Runner, as_input
from learned.training.running import run

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

Weights = dict[str, NDArray[np.float32]]
HEAD = LinearHead(np.random.default_rng(1).normal(0, 0.02, 1280).astype(np.float32), 0.3)


def image(size: int = 64, *, frames: int = 2) -> NDArray[np.float32]:
    rng = np.random.default_rng(2)
    return as_input(rng.integers(0, 256, (frames, size, size, 3), dtype=np.uint8))


def literal_layer(
    x: NDArray[np.float64], weights: Weights, name: str, stride: int, *, clipped: bool = True
) -> NDArray[np.float64]:
    """Filter, normalise and clip one image (C x H x W), as the layer's definition says it."""
    kernel = weights[f"{name}.weight"].astype(np.float64)
    side = kernel.shape[-1]
    size = x.shape[1]
    steps = -(-size // stride)
    total = max((steps - 1) * stride + side - size, 0)
    pad = (total // 2, total - total // 2)
    padded = np.pad(x, ((0, 0), pad, pad))
    views = np.lib.stride_tricks.sliding_window_view(padded, (side, side), (1, 2))
    views = views[:, ::stride, ::stride]
    if kernel.shape[1] == 1 and len(x) == len(kernel):
        filtered = np.einsum("chwij,cij->chw", views, kernel[:, 0])
    else:
        filtered = np.einsum("chwij,ocij->ohw", views, kernel)
    gamma, beta, mean, deviation = (
        weights[f"{name}.{kind}"][:, None, None] for kind in ("gamma", "beta", "mean", "deviation")
    )
    normed = gamma * (filtered - mean) / deviation + beta
    return np.clip(normed, 0, 6) if clipped else normed


def literal_lower(x: NDArray[np.float32], weights: Weights) -> NDArray[np.float64]:
    """Return what the stem and the first five bottlenecks give for one image."""
    y = literal_layer((x.astype(np.float64) - 127) / 128, weights, "stem", 2)
    for index, stride in enumerate([1, 2, 1, 2, 1]):
        before = y
        if index:
            y = literal_layer(y, weights, f"{index}.expand", 1)
        y = literal_layer(y, weights, f"{index}.depthwise", stride)
        y = literal_layer(y, weights, f"{index}.project", 1, clipped=False)
        if before.shape == y.shape:
            y = before + y
    return y


def test_lower_blocks_are_what_their_definition_says(drawn: Weights) -> None:
    x = image()
    (found,) = Runner(lower_graph(drawn, 5))(x)
    expected = np.stack([literal_lower(frame, drawn) for frame in x])
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert found.std() > 0.1


def members(weights: Weights, *, count: int) -> list[Member]:
    """Return networks that differ above the fifth bottleneck, and in their heads."""
    found = [Member(weights, HEAD)]
    for number in range(1, count):
        rng = np.random.default_rng(number)
        own = {
            name: array * rng.uniform(0.9, 1.1, array.shape).astype(np.float32)
            for name, array in weights.items()
            if name.startswith(("5.", "14.", "head."))
        }
        head = LinearHead(HEAD.weight + rng.normal(0, 0.01, 1280).astype(np.float32), -0.2)
        found.append(Member({**weights, **own}, head))
    return found


def runner(of: list[Member], *, second_look: float | None = None) -> Runner:
    return Runner(network_graph(of, frozen=5, prefix="net.", second_look=second_look))


def test_mean_of_the_map_and_bias_are_the_logit(drawn: Weights) -> None:
    logit, evidence = runner(members(drawn, count=1))(image(96))
    assert logit.shape == (2, 1)
    assert evidence.shape == (2, 3, 3)
    assert evidence.std() > 0.01
    np.testing.assert_allclose(logit[:, 0], evidence.mean((1, 2)) + HEAD.bias, atol=1e-5)


def test_members_that_look_once_speak_with_the_mean_of_their_voices(drawn: Weights) -> None:
    x, several = image(96), members(drawn, count=3)
    logits = [runner([each])(x)[0] for each in several]
    joined, evidence = runner(several)(x)
    np.testing.assert_allclose(joined, np.mean(logits, axis=0), atol=1e-5)
    np.testing.assert_allclose(joined[:, 0], evidence.mean((1, 2)) + HEAD.bias, atol=1e-5)
    assert np.ptp(logits, axis=0).min() > 1e-2


@pytest.mark.parametrize("count", [1, 2])
def test_frames_in_question_are_the_mean_of_all_looks(drawn: Weights, count: int) -> None:
    several = members(drawn, count=count)
    x = image(96, frames=5)
    x[1::2] *= 0.5
    turned = np.ascontiguousarray(x[:, :, ::-1, ::-1])
    looks, maps = [], []
    for each in several:
        network, offset = runner([each]), each.head.bias - HEAD.bias
        for picture, step in ((x, 1), (turned, -1)):
            logit, evidence = network(picture)
            looks.append(logit)
            maps.append(evidence[:, ::step, ::step] + offset)
    bound = float(np.sort(looks[0][:, 0])[1:3].mean())
    share = np.clip((looks[0] - bound) / PASSAGE, 0, 1)
    found, found_map = runner(several, second_look=bound)(x)
    expected = looks[0] + share * (np.mean(looks, axis=0) - looks[0])
    np.testing.assert_allclose(found, expected, atol=1e-5)
    expected_map = maps[0] + share[:, :, None] * (np.mean(maps, axis=0) - maps[0])
    np.testing.assert_allclose(found_map, expected_map, atol=1e-5)
    assert (share == 0).sum() == 2
    assert np.abs(found - looks[0]).max() > 1e-4


def test_nothing_changes_where_no_frame_is_in_question(drawn: Weights) -> None:
    x, several = image(96), members(drawn, count=2)
    for found, expected in zip(
        runner(several, second_look=1e3)(x), runner(several[:1])(x), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_what_is_no_number_is_not_in_question_and_stays_none(drawn: Weights) -> None:
    x = image(96)
    x[1] = np.nan
    logit, evidence = runner(members(drawn, count=2), second_look=-1e3)(x)
    assert np.isfinite(logit[0]).all()
    assert np.isfinite(evidence[0]).all()
    assert np.isnan(logit[1]).all()


def test_frozen_blocks_are_stored_once_and_each_member_once(drawn: Weights) -> None:
    def size(count: int) -> int:
        of = members(drawn, count=count)
        part = network_graph(of, frozen=5, prefix="", second_look=0.0)
        return sum(int(np.prod(tensor.dims)) for tensor in part.weights)

    upper = size(2) - size(1)
    assert size(3) - size(2) == upper
    assert upper < size(1) < 1.05 * upper


def test_batches_do_not_mix_frames(drawn: Weights) -> None:
    network = runner(members(drawn, count=2), second_look=-1.0)
    x = image(frames=3)
    together = network(x)[0]
    alone = np.concatenate([network(x[i : i + 1])[0] for i in range(3)])
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("half", "close"), [(False, 1e-4), (True, 3e-2)])
@pytest.mark.parametrize("second_look", [None, 1e3, -1e3])
def test_it_stands_in_one_model_with_others_whose_values_come_in_more_rows(
    drawn: Weights, second_look: float | None, half: bool, close: float
) -> None:
    pytest.importorskip("sklearn")
    from capsieve.learned.training.assemble import assemble
    from capsieve.learned.training.linear_graph import linear_part
    from capsieve.learned.training.scaling import Scaling

    plain = Scaling(np.zeros(2, np.float32), np.ones(2, np.float32), 10.0)
    of = members(drawn, count=2)
    parts = [
        network_graph(of, frozen=5, prefix="net.", second_look=second_look),
        network_graph(of[:1], frozen=5, prefix="other.", second_look=second_look),
        linear_part("values.", plain, np.array([1.0, -2.0]), 0.0),
    ]
    model = assemble(parts, [1.0, 0.5, 1.0], 0.1, image_size=64, value_count=2, half=half)
    x = image(frames=1)
    values = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)
    once = run(model, image=x, values=values)
    repeated = run(model, image=np.repeat(x, 4, axis=0), values=values)
    assert once["map"].shape == (1, 2, 2)
    np.testing.assert_allclose(once["logit"], repeated["logit"], atol=1e-5)
    np.testing.assert_allclose(once["map"], repeated["map"][:1], atol=1e-5)
    networks = [runner(of, second_look=second_look), runner(of[:1], second_look=second_look)]
    first, second = (network(x)[0][0, 0] for network in networks)
    expected = first + 0.5 * second + values @ [1.0, -2.0] + 0.1
    np.testing.assert_allclose(once["logit"], expected, atol=close)
