"""The pretrained network against numbers of the package efficientnet_lite_pytorch 0.1.0.

They are its features for :func:`picture`, computed once with torch 2.13.0. The picture's corners
and edges are not flat: wrong padding shows.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.learned.network.architecture import lower_blocks, upper_blocks
from capsieve.learned.network.graph import LinearHead, Member, lower_graph, network_graph
from capsieve.learned.network.lite import feature_map, normalised, pooled_logits
from capsieve.learned.network.running import Runner, as_input

torch = pytest.importorskip("torch")

Weights = dict[str, NDArray[np.float32]]

# After the fifth bottleneck, every eighth channel: first place, last place, mean.
LOWER_FIRST = [4.752050876617432, 4.8093647956848145, 3.3615620136260986, -5.481301307678223,
               22.867733001708984]  # fmt: skip
LOWER_LAST = [-23.259984970092773, 5.227196216583252, 26.923856735229492, 6.423663139343262,
              18.687137603759766]  # fmt: skip
LOWER_MEAN = [-4.3156585693359375, 4.481351375579834, -0.7723681926727295, 8.884127616882324,
              0.4136315584182739]  # fmt: skip
# Of the last feature map: some channels' means, first and last places.
CHANNELS = [36, 1166, 1157, 944, 1067, 1101, 577, 1240]
MEANS = [6.0, 5.005118370056152, 3.945094108581543, 2.8041317462921143, 2.2450320720672607,
         1.8317837715148926, 1.3639957904815674, 1.090376377105713]  # fmt: skip
FIRST = [6.0, 6.0, 3.957460641860962, 2.249896287918091, 1.1851081848144531, 0.9697208404541016,
         1.935826301574707, 0.380572646856308]  # fmt: skip
LAST = [6.0, 2.43288254737854, 5.660196781158447, 0.5728904008865356, 1.7618122100830078,
        0.8507069945335388, 1.996546745300293, 3.149996519088745]  # fmt: skip
SUM_OF_MEANS = 587.6353


def picture() -> NDArray[np.float32]:
    rows, cols = np.mgrid[:96, :96]
    disc = 255 * (np.hypot(rows - 40, cols - 60) < 25)
    pixels = np.stack([(7 * rows + 3 * cols) % 256, (rows * cols) // 40 % 256, disc], -1)
    return as_input(pixels.astype(np.uint8)[None])


def check_lower(found: NDArray[np.float32]) -> None:
    chosen = found[0, ::8]
    np.testing.assert_allclose(chosen[:, 0, 0], LOWER_FIRST, atol=2e-4)
    np.testing.assert_allclose(chosen[:, -1, -1], LOWER_LAST, atol=2e-4)
    np.testing.assert_allclose(chosen.mean((1, 2)), LOWER_MEAN, atol=1e-4)


def test_torch_gives_the_numbers_of_the_reference(pretrained: Weights) -> None:
    weights = {name: torch.tensor(array) for name, array in pretrained.items()}
    with torch.no_grad():
        x = normalised(torch.from_numpy(picture()))
        lower = feature_map(x, lower_blocks(5), weights)
        last = feature_map(lower, upper_blocks(5), weights).numpy()[0]
    check_lower(lower.numpy())
    np.testing.assert_allclose(last[CHANNELS].mean((1, 2)), MEANS, atol=1e-4)
    np.testing.assert_allclose(last[CHANNELS, 0, 0], FIRST, atol=1e-4)
    np.testing.assert_allclose(last[CHANNELS, -1, -1], LAST, atol=1e-4)
    assert last.mean((1, 2)).sum() == pytest.approx(SUM_OF_MEANS, abs=1e-2)


def test_onnx_gives_the_numbers_of_the_reference(pretrained: Weights) -> None:
    pytest.importorskip("onnxruntime")
    check_lower(Runner(lower_graph(pretrained, 5))(picture())[0])
    for channel, mean in zip(CHANNELS, MEANS, strict=True):
        head = LinearHead((np.arange(1280) == channel).astype(np.float32), 0.0)
        logit, _ = Runner(network_graph([Member(pretrained, head)], frozen=5, prefix="net."))(
            picture()
        )
        assert logit.item() == pytest.approx(mean, abs=1e-4)


def test_kept_blocks_of_factor_one_change_nothing(drawn: Weights) -> None:
    weights = {name: torch.tensor(array) for name, array in drawn.items()}
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 192, 4, 4)).astype(np.float32))
    blocks = upper_blocks(12)
    plain = feature_map(x, blocks, weights)
    kept = {number: torch.ones(2, 1, 1, 1) for number in range(4)}
    assert torch.equal(feature_map(x, blocks, weights, kept=kept), plain)


def test_a_block_that_is_skipped_passes_its_input_on(drawn: Weights) -> None:
    weights = {name: torch.tensor(array) for name, array in drawn.items()}
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 192, 4, 4)).astype(np.float32))
    blocks = upper_blocks(12)[:1]
    factor = torch.tensor([0.0, 1.0]).reshape(2, 1, 1, 1)
    found = feature_map(x, blocks, weights, kept={0: factor})
    assert torch.equal(found[0], x[0])
    assert not torch.equal(found[1], x[1])


def test_logits_are_linear_in_the_mean_features() -> None:
    features = torch.arange(24.0).reshape(1, 2, 3, 4)  # means 5.5 and 17.5
    weight, bias = torch.tensor([[1.0, 2.0]]), torch.tensor([0.25])
    assert pooled_logits(features, weight, bias).item() == 5.5 + 2 * 17.5 + 0.25
    kept = torch.tensor([[0.0, 2.0]])
    assert pooled_logits(features, weight, bias, kept=kept).item() == 4 * 17.5 + 0.25
