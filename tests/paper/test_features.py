"""Components compared with SciPy and scikit-image, balls with the plain search, classification."""

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage
from skimage.measure import label, regionprops

from capsieve.paper.features import (
    best_ball,
    classify,
    component_labels,
    components,
    eccentricity,
    features,
)
from capsieve.parameters import BallFit
from capsieve.results import Feature
from reference import ball as literal_ball
from reference import components as literal

FITS = get_args(BallFit)
RULES = {"size_low": 30, "size_high": 900, "eccentricity_max": 6.5}


def find_features(u, theta, **rules):
    """All features, with balls of at most a third of 128 pixels."""
    return features(u, component_labels(u, theta), components(u, theta), **rules, largest_radius=42)


def bumps(seed, shape=(128, 128)):
    """A plane like u: blobs on zero."""
    rng = np.random.default_rng(seed)
    plane = ndimage.gaussian_filter(rng.normal(size=shape), 4)
    return np.maximum(plane / plane.max(), 0).astype(np.float32) * np.float32(0.4)


@pytest.mark.parametrize("seed", range(8))
def test_moments_equal_scikit_image(seed):
    u = bumps(seed)
    found = find_features(u, 0.12, **RULES)
    regions = regionprops(np.asarray(label((u >= 0.12).T, connectivity=2)).T, intensity_image=u)
    assert len(found) == len(regions) > 1
    for feature, region in zip(found, regions, strict=True):
        assert (feature.number, feature.size) == (region.label, region.area)
        assert (feature.row, feature.col) == pytest.approx(region.centroid)
        weighted = region.centroid_weighted
        assert (feature.ball_row, feature.ball_col) == pytest.approx(weighted, abs=1e-5)
        central = region.moments_central
        assert feature.moment_rr == pytest.approx(central[2, 0], abs=1e-6)
        assert feature.moment_cc == pytest.approx(central[0, 2], abs=1e-6)
        assert feature.moment_rc == pytest.approx(central[1, 1], abs=1e-6)


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("seed", range(4))
def test_features_equal_the_literal_transcription(seed, fit):
    u = bumps(seed)
    found = find_features(u, 0.12, **RULES, ball_fit=fit)
    expected, count = literal.connected_components(u >= 0.12)
    np.testing.assert_array_equal(component_labels(u, 0.12), expected)
    assert len(found) == count
    for feature in found:
        own = expected == feature.number
        tensor = literal.inertia_tensor(own)
        assert feature.eccentricity == pytest.approx(literal.eccentricity(tensor), rel=1e-9)
        if feature.rejected:
            assert feature.radius == 0
        else:
            centre = literal_ball.weighted_centre(u.astype(float), own)
            assert feature.radius == literal_ball.best_radius(u.astype(float), own, centre, fit)


@pytest.mark.parametrize(
    "shape", ["pixel", "row", "column", "diagonal"], ids=lambda shape: f"a {shape}"
)
def test_line_is_infinitely_eccentric_and_rejected(shape):
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


def test_eccentricity_of_a_disc_is_one_and_invariant_under_rotation():
    rows, cols = np.mgrid[:81, :81] - 40
    ellipse = ((rows / 30.0) ** 2 + (cols / 12.0) ** 2 <= 1).astype(np.float32)
    (upright,) = find_features(ellipse, 0.5, **RULES)
    (lying,) = find_features(np.ascontiguousarray(np.rot90(ellipse)), 0.5, **RULES)
    assert upright.size == lying.size
    assert upright.eccentricity == pytest.approx(lying.eccentricity)
    assert upright.eccentricity == pytest.approx((30 / 12) ** 2, rel=0.05)
    disc = (rows**2 + cols**2 <= 400).astype(np.float32)
    (round_one,) = find_features(disc, 0.5, **{**RULES, "size_high": 2000})
    assert round_one.eccentricity == pytest.approx(1)


@pytest.mark.parametrize(
    ("size", "moment_cc", "expected"),
    [
        (29, 1.0, "size-low"),
        (30, 6.5, ""),
        (900, 6.5, ""),
        (901, 1.0, "size-high"),
        (100, 6.500001, "eccentricity"),
        (10, 99.0, "size-low"),
    ],
)
def test_bounds_of_the_rules_are_inclusive(size, moment_cc, expected):
    component = (size, 5.0, 5.0, 1.0, 0.0, moment_cc, 5.0, 5.0)  # E = moment_cc
    u = np.zeros((16, 16), np.float32)
    (feature,) = features(u, None, [component], **RULES, largest_radius=5)
    assert feature.rejected == expected
    assert (feature.radius > 0) == (expected == "")


def test_comparison_with_theta_is_inclusive_and_exact():
    u = np.zeros((32, 32), np.float32)
    u[3, 3] = np.float32(0.11)  # a little below 0.11
    u[9, 9] = np.nextafter(np.float32(0.11), np.float32(1))
    assert [f.row for f in find_features(u, 0.11, **RULES)] == [9.0]
    u[20, 20] = 0.5
    assert [f.row for f in find_features(u, 0.5, **RULES)] == [20.0]


def test_zero_plane_has_no_features():
    assert find_features(np.zeros((64, 64), np.float32), 0.11, **RULES) == ()


def columnwise(segmentation):
    """Number 8-connected components column by column: SciPy numbers row by row."""
    labels = np.zeros(segmentation.T.shape, np.int32)
    ndimage.label(segmentation.T, np.ones((3, 3)), output=labels)
    return labels.T, int(labels.max(initial=0))


@given(hnp.arrays(bool, st.tuples(st.integers(1, 24), st.integers(1, 24))))
def test_components_are_8_connected_and_numbered_column_by_column(segmentation):
    plane = segmentation.astype(np.float32)
    labels, count = columnwise(segmentation)
    np.testing.assert_array_equal(component_labels(plane, 0.5), labels)
    np.testing.assert_array_equal(labels, literal.connected_components(segmentation)[0])
    found = components(plane, 0.5)
    assert [moments[0] for moments in found] == np.bincount(labels.ravel())[1:].tolist()
    centres = ndimage.center_of_mass(segmentation, labels, range(1, count + 1))
    assert [moments[1:3] for moments in found] == [pytest.approx(centre) for centre in centres]


def test_components_of_a_large_frame_are_found_at_every_density():
    rng = np.random.default_rng(0)
    for density in np.linspace(0, 1, 21):
        segmentation = rng.uniform(size=(256, 200)) < density
        labels, _ = columnwise(segmentation)
        sizes = [moments[0] for moments in components(segmentation.astype(np.float32), 0.5)]
        assert sizes == np.bincount(labels.ravel())[1:].tolist()


@pytest.mark.parametrize("fit", ["printed", "hemisphere"])
@given(
    rows=st.integers(20, 70),
    cols=st.integers(20, 70),
    where=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    seed=st.integers(0, 1000),
)
def test_best_ball_equals_the_plain_search(fit, rows, cols, where, seed):
    u = np.random.default_rng(seed).uniform(0, 0.5, (rows, cols)).astype(np.float32)
    u[u < 0.25] = 0
    centre = where[0] * (rows - 1), where[1] * (cols - 1)
    misfits = literal_ball.misfits(u.astype(float), centre, fit)
    found = best_ball(u, *centre, cols // 3, fit)
    # Two radii may fit equally well but for the last digits of the sums.
    assert misfits[found - 1] <= misfits.min() * (1 + 1e-12)


@pytest.mark.parametrize("fit", ["printed", "hemisphere"])
@given(
    radius=st.integers(2, 42),
    row=st.floats(40, 88),
    col=st.floats(40, 88),
)
def test_ball_is_fitted_by_itself(fit, radius, row, col):
    u = literal_ball.ball((128, 128), (row, col), radius, fit).astype(np.float32)
    assert best_ball(u, row, col, 42, fit) == radius


def test_half_of_a_real_ball_has_its_own_radius_as_a_hemisphere_only():
    u = literal_ball.ball((256, 256), (127, 127), 37, "hemisphere").astype(np.float32)
    assert best_ball(u, 127.0, 127.0, 85, "hemisphere") == 37
    assert best_ball(u, 127.0, 127.0, 85, "printed") > 50


def test_surroundings_of_a_feature_count_unless_u_is_masked():
    u = np.where(np.hypot(*(np.indices((128, 128)) - 63)) < 12, 0.3, 0.0).astype(np.float32)
    around = np.maximum(u, np.float32(0.05))  # below Theta
    radii = {
        fit: [find_features(each, 0.12, **RULES, ball_fit=fit)[0].radius for each in (u, around)]
        for fit in FITS
    }
    assert radii["feature"][0] == radii["feature"][1] == radii["printed"][0]
    assert radii["printed"][1] > radii["printed"][0]
    assert radii["hemisphere"][1] > radii["hemisphere"][0]


def test_radius_measures_mass_and_not_footprint():
    # The disc's mass is pi R^4 / (2 Nx^2): a steep dome of footprint 25 is fitted by a larger ball.
    rows, cols = np.indices((256, 256)) - 127
    u = np.float32(0.2) * np.maximum(1 - (rows**2 + cols**2) / 25.0**2, 0).astype(np.float32)
    radius = best_ball(u, 127.0, 127.0, 85)
    assert radius > 25
    assert radius == literal_ball.best_radius(u.astype(float), u > 0, (127.0, 127.0))


@pytest.mark.parametrize("fit", FITS)
def test_zero_plane_is_fitted_by_the_smallest_ball(fit):
    assert best_ball(np.zeros((64, 64), np.float32), 30.0, 30.0, 21, fit) == 1


@pytest.mark.parametrize("fit", FITS)
def test_largest_radius_bounds_the_search(fit):
    assert best_ball(np.ones((96, 96), np.float32), 48.0, 48.0, 10, fit) == 10


@pytest.mark.parametrize("size", [292, 400, 1000])
def test_smallest_feature_that_passes_has_a_radius_of_about_34(size):
    # The smallest mass: a disc of 292 pixels with u = 0.11 throughout, and nothing around it.
    reach = math.sqrt(size / math.pi)
    rows, cols = np.indices((256, 256)) - 127
    u = np.where(rows**2 + cols**2 <= reach**2, np.float32(0.11), np.float32(0)).astype(np.float32)
    assert best_ball(u, 127.0, 127.0, 85) >= 33


FEATURE = Feature(1, 400, 1.5, 1.0, 1.0, 1.0, 1.0, 40, "", 1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("radii", "expected"),
    [
        ([], ("normal", "no-feature", 0)),
        ([0, 0], ("normal", "no-feature", 0)),
        ([36], ("normal", "radius-low", 36)),
        ([37], ("polyp", "polyp", 37)),
        ([34, 50, 41], ("polyp", "polyp", 50)),
    ],
)
def test_largest_ball_decides(radii, expected):
    found = [FEATURE._replace(radius=radius) for radius in radii]
    assert classify(found, None, 37) == expected


def test_failed_preselection_decides_before_the_ball():
    assert classify([FEATURE], "texture-high", 37) == ("normal", "texture-high", 0)
