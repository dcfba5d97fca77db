"""Parts of the synthetic colon, and what a camera in it sees."""

import math

import numpy as np
import pytest

from capsieve.phantom.camera import make_lens
from capsieve.phantom.colon import COLUMNS, LENGTH_MM, ROW_MM, SIGHT_MM, make_colon
from capsieve.phantom.kernels.shade import develop
from capsieve.phantom.motion import locate, make_motion
from capsieve.phantom.noise import field, generator
from capsieve.phantom.plan import plan_exam
from capsieve.phantom.polyps import KINDS, draw_polyp
from capsieve.phantom.scene import Sight, is_visible, scene_at, sight_of
from capsieve.phantom.spoilers import cleanest_place, make_spoilers, stool_at


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_centreline_has_unit_speed_orthonormal_frames_and_no_tight_bend(seed):
    line = make_colon(seed).line.reshape(-1, 4, 3).astype(float)
    steps = np.linalg.norm(np.diff(line[:, 0], axis=0), axis=1)
    assert steps == pytest.approx(1, abs=2e-3)
    frames = line[:, 1:]
    assert np.allclose(frames @ frames.transpose(0, 2, 1), np.eye(3), atol=1e-5)
    bend = np.linalg.norm(np.diff(line[:, 1], axis=0), axis=1)
    assert bend.max() < 0.021  # 1/mm; the radius of the tube is at most 35 mm


def literal_clearance(point, colon, radius):
    """Return R - rho and s of a point, by search along the centreline."""
    near = int(np.argmin(np.linalg.norm(colon.line[:, :3] - point, axis=1)))
    s = min(
        (near - 2 + k / 200 for k in range(801)),
        key=lambda s: np.linalg.norm(colon.at(s)[0] - point),
    )
    centre, _, normal, binormal = colon.at(s)
    a, b = (point - centre) @ normal, (point - centre) @ binormal
    row, col = s / ROW_MM, math.atan2(b, a) / (2 * math.pi) * COLUMNS
    i, j = int(row), math.floor(col)
    corners = [
        abs(1 - k - (row - i)) * abs(1 - m - (col - j)) * float(radius[i + k, (j + m) % COLUMNS])
        for k in (0, 1)
        for m in (0, 1)
    ]
    return sum(corners) - math.hypot(a, b), s


def test_clearance_agrees_with_a_literal_search():
    scene = scene_at(5, (), 0.4)
    rng = np.random.default_rng(0)
    for _ in range(20):
        guess = scene.pose.s_mm + rng.uniform(-60, 60)
        point, _, normal, binormal = scene.colon.at(guess)
        point = point + rng.uniform(-4, 4) * normal + rng.uniform(-4, 4) * binormal
        s, room = locate(point, guess, scene.surfaces)
        expected_room, expected_s = literal_clearance(point, scene.colon, scene.surfaces.radius)
        assert room == pytest.approx(expected_room, abs=0.05)
        assert s == pytest.approx(expected_s, abs=0.05)


@pytest.mark.parametrize("head", [0, 1])
def test_camera_is_inside_the_lumen_and_outside_polyps(head):
    polyps = plan_exam(11, frames=1, polyps=12).polyps
    for progress in np.linspace(0, 1, 60):
        scene = scene_at(11, polyps, float(progress), head)
        pose = scene.pose
        assert locate(pose.position, pose.s_mm, scene.surfaces)[1] > 0.8


def test_motion_has_all_kinds_and_passes_through_the_colon():
    motions = [make_motion(seed) for seed in range(6)]
    for motion in motions:
        places = [motion.at(progress).s_mm for progress in np.linspace(0, 1, 97)]
        assert 0 <= min(places) < max(places) <= LENGTH_MM
        assert places[-1] > places[0] + 800
    kinds = {kind for motion in motions for kind in motion.kinds}
    assert kinds == {"forward", "backward", "still", "tumble", "contact"}


def test_polyps_have_all_kinds_and_documented_sizes():
    drawn = [draw_polyp(1, k, 500.0) for k in range(200)]
    assert {polyp.kind for polyp in drawn} == set(KINDS)
    assert min(polyp.size_mm for polyp in drawn) >= 3
    assert max(polyp.size_mm for polyp in drawn) <= 20


def test_projection_inverts_the_rays():
    lens = make_lens(101, "circle")
    rows, cols = np.nonzero(lens.inside)
    places = lens.project(lens.rays[rows, cols].astype(float))
    assert np.abs(places - np.column_stack([rows, cols])).max() < 1e-2


def test_sight_covers_hidden_partly_hidden_and_open_polyps():
    polyps = plan_exam(3, frames=1, polyps=10).polyps
    lens = make_lens(128, "circle")
    scenes = [scene_at(3, polyps, float(progress)) for progress in np.linspace(0, 1, 40)]
    sights = [sight_of(scene, k, lens) for scene in scenes for k in range(len(scene.polyps))]
    assert all((sight.share > 0) == (sight.pixels > 0) for sight in sights)
    shares = [sight.share for sight in sights]
    assert min(shares) == 0
    assert 0.8 < max(shares) <= 1
    assert any(0.05 < share < 0.7 for share in shares)


@pytest.mark.parametrize(
    ("share", "pixels", "distance", "visible"),
    [
        (0.25, 150, 32, True),
        (0.24, 150, 32, False),
        (0.25, 149, 32, False),
        (0.25, 150, 33, False),
    ],
)
def test_a_visible_polyp_meets_three_conditions(share, pixels, distance, visible):
    sight = Sight(share, pixels, distance)
    assert is_visible(sight, 256) is visible  # 150 pixels of 256 x 256 are 600 of 512 x 512
    assert is_visible(sight, 256, margin=1.35) is False
    assert is_visible(sight, 256, margin=1 / 1.35) is True


def test_a_colon_has_bubbles_liquid_and_stool():
    spoilers = make_spoilers(1)
    assert (np.diff(spoilers.bubbles[:, 0]) >= 0).all()
    assert min(len(spoilers.bubbles), len(spoilers.pools), len(spoilers.stains)) > 0
    for s in np.linspace(0, LENGTH_MM, 200):
        near = np.abs(spoilers.stains[:, 0] - s) <= 4 * spoilers.stains[:, 1]
        assert (stool_at(spoilers, s)[1] > 0) == near.any()


def test_creases_lie_outside_and_crests_inside_of_their_surroundings():
    colon = make_colon(2)
    radius = np.full((int(LENGTH_MM / ROW_MM) + 1, COLUMNS), 15, np.float32)
    radius[1000] += 3
    radius[1040] -= 3
    creases = colon.creases(radius, 1000 * ROW_MM)
    assert (creases[1000] > 0.5).all()
    assert (creases[1040] < -0.3).all()
    assert np.abs(creases[1100]).max() == pytest.approx(0, abs=1e-3)
    far = int((SIGHT_MM + 10) / ROW_MM)
    assert not creases[: 1000 - far].any()
    assert not creases[1000 + far :].any()


@pytest.mark.parametrize("seed", range(4))
def test_the_cleanest_place_has_fewer_bubbles_than_most_places(seed):
    spoilers = make_spoilers(seed)

    def near(place):
        away = np.abs(spoilers.bubbles[:, 0] - place)
        return (spoilers.bubbles[away < 30, 2] ** 2).sum()

    place = cleanest_place(spoilers, 200, 1300)
    assert 200 <= place <= 1300
    others = [near(other) for other in range(200, 1300, 10)]
    assert near(place) <= np.quantile(others, 0.25)


def test_parts_have_random_streams_of_their_own():
    first, again, other = (generator(1, name).uniform() for name in ("a", "a", "b"))
    assert first == again != other


@pytest.mark.parametrize("shape", [(64,), (32, 48)])
def test_noise_is_normalised_and_periodic(shape):
    noise = field(generator(1, "test"), shape, 3)
    assert noise.mean() == pytest.approx(0, abs=1e-5)
    assert noise.std() == pytest.approx(1, abs=1e-5)
    inner = np.abs(np.diff(noise, axis=0)).max()
    assert np.abs(noise[0] - noise[-1]).max() <= 1.5 * inner


def test_sensor_noise_has_the_requested_deviation_and_independent_channels():
    size = 128
    image = np.full((size, size, 3), 0.25, np.float32)
    curve = np.linspace(0, 255, 512).astype(np.float32)  # over the square root of light, 0 to 2
    ones = np.ones((size, size), np.float32)
    pixels = develop(
        image, ones > 0, ones, np.float32(1), np.zeros(3, np.float32), curve,
        np.array([4, 4], np.float32), np.uint64(9), np.zeros(3, np.uint8),
    )  # fmt: skip
    assert pixels.mean() == pytest.approx(63.75 - 0.5, abs=0.3)  # fractions are cut off
    assert pixels.std() == pytest.approx(4, rel=0.05)
    channels = pixels.reshape(-1, 3).astype(float).T
    assert np.abs(np.corrcoef(channels) - np.eye(3)).max() < 0.05
