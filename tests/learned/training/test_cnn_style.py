import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.learned.training.cnn_style import mix_styles

Features = NDArray[np.float32]


def drawn(frames: int = 6, seed: int = 0) -> Features:
    """Return features whose channels differ in mean and spread from frame to frame."""
    rng = np.random.default_rng(seed)
    mean, spread = rng.normal(0, 3, (2, frames, 5, 1, 1))
    pattern = rng.normal(size=(frames, 5, 7, 8))
    return (mean + np.abs(spread) * pattern).astype(np.float32)


def mixed(features: Features, *, chance: float = 1.0, beta: float = 0.3, seed: int = 1) -> Features:
    return mix_styles(features, np.random.default_rng(seed), chance=chance, beta=beta)


def pattern(features: Features) -> Features:
    """Return each channel with its mean and spread taken out."""
    centred = features - features.mean((2, 3), keepdims=True)
    return centred / centred.std((2, 3), keepdims=True)


def test_what_stands_where_is_kept() -> None:
    before = drawn()
    after = mixed(before)
    np.testing.assert_allclose(pattern(after), pattern(before), atol=2e-2)
    assert not np.allclose(after, before)


def test_means_lie_between_the_own_and_that_of_one_other_frame_with_one_share() -> None:
    before = drawn()
    own, new = before.mean((2, 3)), mixed(before).mean((2, 3))
    for frame in range(len(before)):
        fits = [
            np.linalg.lstsq((own[other] - own[frame])[:, None], new[frame] - own[frame])
            for other in range(len(before))
            if other != frame
        ]
        explained = [
            float(share[0]) for share, residual, *_ in fits if float(residual.sum()) < 1e-6
        ]
        unchanged = np.allclose(new[frame], own[frame], atol=1e-4)
        assert unchanged or any(-1e-3 <= share <= 1 + 1e-3 for share in explained)


def test_a_beta_far_above_one_takes_half_of_each() -> None:
    before = drawn(2)
    after = next(
        found
        for found in (mixed(before, beta=1e7, seed=seed) for seed in range(9))
        if not np.allclose(found, before, atol=1e-3)
    )
    for statistic in (np.mean, np.std):
        both = statistic(before, axis=(2, 3)).mean(0)
        np.testing.assert_allclose(statistic(after, axis=(2, 3)), [both, both], atol=2e-3)


def test_the_chance_says_how_many_frames_change() -> None:
    before = drawn(400)
    changed = np.abs(mixed(before, chance=0.25) - before).max((1, 2, 3)) > 1e-2
    # Some keep nearly all of their own: with beta 0.3 about one in five.
    assert 0.12 < changed.mean() < 0.26
    np.testing.assert_allclose(mixed(before, chance=0), before, atol=1e-4)


def test_a_channel_that_is_the_same_everywhere_stays_finite() -> None:
    features = np.zeros((4, 3, 2, 2), np.float32)
    features[1] = 7
    after = mixed(features)
    assert np.isfinite(after).all()
    assert after.min() >= -1e-3
    assert after.max() <= 7 + 1e-3


def test_features_given_are_left_alone_and_their_type_is_kept() -> None:
    before = drawn()
    copy = before.copy()
    assert mixed(before).dtype == np.float32
    np.testing.assert_array_equal(before, copy)


@pytest.mark.parametrize("seed", [0, 1])
def test_chance_comes_from_the_generator_alone(seed: int) -> None:
    np.testing.assert_array_equal(mixed(drawn(), seed=seed), mixed(drawn(), seed=seed))
