import numpy as np

from capsieve.training.augment import augment, mix_styles

CROP = np.random.default_rng(0).integers(60, 200, (64, 64, 3), np.uint8)


def versions(count=40):
    return [augment(CROP, np.random.default_rng([7, number])) for number in range(count)]


def test_the_same_state_gives_the_same_version():
    one, other = versions(), versions()
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert len({version.tobytes() for version in one}) == len(one)


def test_versions_are_black_outside_a_circle_or_a_cut_square():
    rows, cols = np.abs(np.mgrid[:64, :64] - 31.5) / 32
    for version in versions():
        assert version.shape == CROP.shape
        assert version.dtype == np.uint8
        assert not version[rows + cols > 1.63].any()


def test_the_shape_of_the_field_of_view_varies():
    seen = [int((version.max(axis=2) == 0).sum()) for version in versions()]
    assert len(set(seen)) > 10


def test_the_crop_itself_is_not_changed():
    before = CROP.copy()
    versions(5)
    assert np.array_equal(before, CROP)


def statistics(features):
    return features.mean((2, 3)), features.std((2, 3))


def test_mixed_styles_have_statistics_between_those_of_two_frames():
    rng = np.random.default_rng(0)
    features = (rng.normal(size=(6, 4, 8, 8)) * rng.uniform(1, 5, (6, 4, 1, 1))).astype(np.float32)
    mixed = mix_styles(features, np.random.default_rng(1), chance=1.0, beta=0.3)
    for before, after in zip(statistics(features), statistics(mixed), strict=True):
        assert (after >= before.min(axis=0) - 1e-3).all()
        assert (after <= before.max(axis=0) + 1e-3).all()
    assert not np.allclose(mixed, features)


def test_mixed_styles_keep_the_content():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(6, 4, 8, 8)).astype(np.float32)
    mixed = mix_styles(features, rng, chance=1.0, beta=0.3)
    for frame in range(6):
        for channel in range(4):
            both = features[frame, channel].ravel(), mixed[frame, channel].ravel()
            assert np.corrcoef(*both)[0, 1] > 0.999


def test_no_style_is_mixed_with_chance_0_and_flat_channels_stay_finite():
    features = np.ones((3, 2, 4, 4), np.float32)
    rng = np.random.default_rng(0)
    assert np.allclose(mix_styles(features, rng, chance=0.0, beta=0.3), features)
    assert np.isfinite(mix_styles(features, rng, chance=1.0, beta=0.3)).all()
