"""Features against scikit-image and against the literal transcription."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from skimage.measure import label, regionprops

from capsieve.paper.geometry import Components, eccentricity, rejection
from reference import ball as literal_ball
from reference import components as literal

RULES = {"size_low": 30, "size_high": 900, "eccentricity_max": 6.5}


def find_features(u, theta, *, labels=None, **rules):
    """All features, with balls of at most a third of 128 pixels."""
    options = {} if labels is None else {"labels": labels}
    return Components(u, theta, radius_search=42, **options).features(**rules)


def bumps(seed, shape=(128, 128)):
    """A plane like u: blobs on zero."""
    rng = np.random.default_rng(seed)
    plane = ndimage.gaussian_filter(rng.normal(size=shape), 4)
    return np.maximum(plane / plane.max(), 0).astype(np.float32) * np.float32(0.4)


@pytest.mark.parametrize("seed", range(8))
def test_moments_agree_with_scikit_image(seed):
    u = bumps(seed)
    features = find_features(u, 0.12, **RULES)
    regions = regionprops(np.asarray(label((u >= 0.12).T, connectivity=2)).T, intensity_image=u)
    assert len(features) == len(regions) > 1
    for feature, region in zip(features, regions, strict=True):
        assert (feature.number, feature.size) == (region.label, region.area)
        assert (feature.row, feature.col) == pytest.approx(region.centroid)
        weighted = region.centroid_weighted
        assert (feature.ball_row, feature.ball_col) == pytest.approx(weighted, abs=1e-5)
        central = region.moments_central
        assert feature.moment_rr == pytest.approx(central[2, 0], abs=1e-6)
        assert feature.moment_cc == pytest.approx(central[0, 2], abs=1e-6)
        assert feature.moment_rc == pytest.approx(central[1, 1], abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_features_agree_with_the_literal_transcription(seed):
    u = bumps(seed)
    labels = np.zeros(u.shape, np.int32)
    features = find_features(u, 0.12, labels=labels, **RULES)
    expected, count = literal.connected_components(u >= 0.12)
    np.testing.assert_array_equal(labels, expected)
    assert len(features) == count
    for feature in features:
        own = expected == feature.number
        tensor = literal.inertia_tensor(own)
        assert feature.eccentricity == pytest.approx(literal.eccentricity(tensor), rel=1e-9)
        if feature.rejected:
            assert feature.radius == 0
        else:
            centre = literal_ball.weighted_centre(u.astype(float), own)
            assert feature.radius == literal_ball.best_radius(u.astype(float), centre)


@pytest.mark.parametrize(
    "shape", ["pixel", "row", "column", "diagonal"], ids=lambda shape: f"a {shape}"
)
def test_a_line_is_infinitely_eccentric_and_rejected(shape):
    u = np.zeros((64, 64), np.float32)
    places = {
        "pixel": ([9], [9]),
        "row": ([9] * 40, range(5, 45)),
        "column": (range(5, 45), [9] * 40),
        "diagonal": (range(5, 45), range(5, 45)),
    }
    u[places[shape]] = 1.0
    (feature,) = find_features(u, 0.5, **{**RULES, "size_low": 1})
    assert feature.eccentricity == math.inf
    assert feature.rejected == "eccentricity"


@given(rr=st.floats(1.0, 1e6), cc=st.floats(1.0, 1e6), correlation=st.floats(-0.99, 0.99))
def test_eccentricity_is_the_ratio_of_the_eigenvalues(rr, cc, correlation):
    rc = correlation * math.sqrt(rr * cc)
    small, large = np.linalg.eigvalsh([[rr, rc], [rc, cc]])
    assert eccentricity(rr, rc, cc) == pytest.approx(large / small, rel=1e-6)


def test_a_disc_is_round_and_turning_changes_nothing():
    rows, cols = np.mgrid[:81, :81] - 40
    ellipse = ((rows / 30.0) ** 2 + (cols / 12.0) ** 2 <= 1).astype(np.float32)
    (upright,) = find_features(ellipse, 0.5, **RULES)
    (lying,) = find_features(np.ascontiguousarray(np.rot90(ellipse)), 0.5, **RULES)
    assert upright.size == lying.size
    assert upright.eccentricity == pytest.approx(lying.eccentricity)
    assert upright.eccentricity == pytest.approx((30 / 12) ** 2, rel=0.05)
    disc = (rows**2 + cols**2 <= 400).astype(np.float32)
    assert find_features(disc, 0.5, **{**RULES, "size_high": 2000})[
        0
    ].eccentricity == pytest.approx(1)


@pytest.mark.parametrize(
    ("size", "stretch", "expected"),
    [
        (29, 1.0, "size-low"),
        (30, 6.5, ""),
        (900, 6.5, ""),
        (901, 1.0, "size-high"),
        (100, 6.500001, "eccentricity"),
        (10, 99.0, "size-low"),
    ],
)
def test_bounds_are_inclusive(size, stretch, expected):
    assert rejection(size, stretch, **RULES) == expected


def test_the_comparison_with_theta_is_inclusive_and_exact():
    u = np.zeros((32, 32), np.float32)
    u[3, 3] = np.float32(0.11)  # a little below 0.11
    u[9, 9] = np.nextafter(np.float32(0.11), np.float32(1))
    assert [f.row for f in find_features(u, 0.11, **RULES)] == [9.0]
    u[20, 20] = 0.5
    assert [f.row for f in find_features(u, 0.5, **RULES)] == [20.0]


def test_a_plane_without_features_has_none():
    assert find_features(np.zeros((64, 64), np.float32), 0.11, **RULES) == ()


def test_a_ball_does_not_depend_on_the_rules_that_came_before():
    u = bumps(3)
    strict = {"size_low": 100, "size_high": 120, "eccentricity_max": 1.5}
    components = Components(u, 0.12, radius_search=42)
    found = [components.features(**rules) for rules in (strict, RULES, strict, RULES)]
    assert found[0] == found[2] == find_features(u, 0.12, **strict)
    assert found[1] == found[3] == find_features(u, 0.12, **RULES)
    assert sum(feature.radius > 0 for feature in found[1]) > sum(
        feature.radius > 0 for feature in found[0]
    )
