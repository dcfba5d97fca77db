import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.learned.network.graph import LinearHead, lower_graph, network_graph
from capsieve.learned.network.running import Runner, as_input

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


def test_mean_of_the_map_and_bias_are_the_logit(drawn: Weights) -> None:
    logit, evidence = Runner(network_graph(drawn, HEAD, prefix="net."))(image(96))
    assert logit.shape == (2, 1)
    assert evidence.shape == (2, 3, 3)
    assert evidence.std() > 0.01
    np.testing.assert_allclose(logit[:, 0], evidence.mean((1, 2)) + HEAD.bias, atol=1e-5)


def test_mirrored_network_takes_the_mean_of_both_sides(drawn: Weights) -> None:
    x = image(96)
    plain = Runner(network_graph(drawn, HEAD, prefix="net."))
    logit, evidence = plain(x)
    turned_logit, turned_evidence = plain(np.ascontiguousarray(x[..., ::-1]))
    found, found_map = Runner(network_graph(drawn, HEAD, prefix="net.", mirrored=True))(x)
    np.testing.assert_allclose(found, (logit + turned_logit) / 2, atol=1e-5)
    np.testing.assert_allclose(found_map, (evidence + turned_evidence[..., ::-1]) / 2, atol=1e-5)
    assert abs(turned_logit - logit).max() > 1e-4


def test_batches_do_not_mix_frames(drawn: Weights) -> None:
    run = Runner(network_graph(drawn, HEAD, prefix="net."))
    x = image(frames=3)
    together = run(x)[0]
    alone = np.concatenate([run(x[row : row + 1])[0] for row in range(3)])
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("mirrored", [False, True])
def test_parts_with_two_prefixes_stand_in_one_model(drawn: Weights, mirrored: bool) -> None:
    pytest.importorskip("sklearn")
    from capsieve.learned.training.assemble import assemble

    parts = [network_graph(drawn, HEAD, prefix=name, mirrored=mirrored) for name in ("a.", "b.")]
    model = assemble(parts, [1.0, 0.5], 0.0, image_size=64, value_count=0)
    assert {output.name for output in model.graph.output} == {"logit", "probability", "map"}
