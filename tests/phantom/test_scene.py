import math

import numpy as np
import pytest

from capsieve.phantom.camera import make_lens
from capsieve.phantom.centreline import make_centreline
from capsieve.phantom.kernels.finish import develop
from capsieve.phantom.motion import axis_place, make_way
from capsieve.phantom.noise import field, generator
from capsieve.phantom.plan import plan_exam
from capsieve.phantom.polyps import KINDS, SOLID, draw_polyp
from capsieve.phantom.scene import make_anatomy, moment_at, visibility
from capsieve.phantom.schedule import Piece, progress_of
from capsieve.phantom.spoilers import make_spoilers
from capsieve.phantom.truth import LabelRule, boxes_of
from capsieve.phantom.wall import COLUMNS, ROW_MM

LENGTH = 1500


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_centreline_is_a_curve_of_unit_speed_with_a_frame(seed):
    table = make_centreline(seed, LENGTH).table.reshape(-1, 4, 3).astype(float)
    steps = np.linalg.norm(np.diff(table[:, 0], axis=0), axis=1)
    assert steps == pytest.approx(1, abs=2e-3)
    frames = table[:, 1:]
    assert np.allclose(frames @ frames.transpose(0, 2, 1), np.eye(3), atol=1e-5)


def test_no_bend_is_tighter_than_the_tube():
    tangents = make_centreline(4, LENGTH).table[:, 3:6].astype(float)
    bend = np.linalg.norm(np.diff(tangents, axis=0), axis=1)
    assert bend.max() < 0.021  # 1/mm; the tube's radius is at most some 35 mm


def literal_room(point, line, radius):
    """Return R - rho of a point: the nearest of a million points of the axis, then the map."""
    table = line.table.astype(float).reshape(-1, 4, 3)
    near = int(np.argmin(np.linalg.norm(table[:, 0] - point, axis=1)))
    best = min(
        (near - 2 + k / 200 for k in range(801)),
        key=lambda s: np.linalg.norm(line.at(s)[0] - point),
    )
    centre, _, normal, binormal = line.at(best)
    a, b = (point - centre) @ normal, (point - centre) @ binormal
    row, col = best / ROW_MM, math.atan2(b, a) / (2 * math.pi) * COLUMNS
    i, j = int(row), math.floor(col)
    room = 0.0
    for k, m in ((0, 0), (0, 1), (1, 0), (1, 1)):
        weight = abs(1 - k - (row - i)) * abs(1 - m - (col - j))
        room += weight * float(radius[i + k, (j + m) % COLUMNS])
    return room - math.hypot(a, b), best


def test_room_agrees_with_a_literal_search():
    anatomy = make_anatomy(5, LENGTH)
    moment = moment_at(anatomy, (), 0.4)
    rng = np.random.default_rng(0)
    none = np.zeros((0, len(SOLID)), np.float32)
    for _ in range(20):
        s = moment.pose.s_mm + rng.uniform(-60, 60)
        point, _, normal, binormal = anatomy.line.at(s)
        point = point + rng.uniform(-4, 4) * normal + rng.uniform(-4, 4) * binormal
        place, _, room = axis_place(point, s, anatomy.line, moment.radius, none)
        expected, where = literal_room(point, anatomy.line, moment.radius)
        assert room == pytest.approx(expected, abs=0.05)
        assert place == pytest.approx(where, abs=0.05)


@pytest.mark.parametrize("head", [0, 1])
def test_the_camera_is_inside_the_lumen_and_outside_polyps(head):
    anatomy = make_anatomy(11, LENGTH)
    polyps = plan_exam(11, frames=1, polyps=12).polyps
    for progress in np.linspace(0, 1, 60):
        moment = moment_at(anatomy, polyps, float(progress), head)
        pose = moment.pose
        room = axis_place(pose.position, pose.s_mm, anatomy.line, moment.radius, moment.solids)[2]
        assert room > 0.8


def test_the_way_has_every_kind_of_motion_and_ends_far_from_its_beginning():
    kinds = set[str]()
    for seed in range(6):
        way = make_way(seed, LENGTH)
        kinds |= set(way.kinds)
        assert way.places.min() >= 0
        assert way.places.max() <= LENGTH
        assert way.places[-1] > way.places[0] + 800
    assert kinds == {"forward", "backward", "still", "tumble", "contact"}


def test_polyps_have_the_sizes_and_kinds_asked_for():
    drawn = [draw_polyp(1, k, 500.0, redness=1, roughness=1) for k in range(200)]
    assert {polyp.kind for polyp in drawn} == set(KINDS)
    assert min(polyp.size_mm for polyp in drawn) >= 3
    assert max(polyp.size_mm for polyp in drawn) <= 20


def test_projection_inverts_the_rays():
    lens = make_lens(101, "circle")
    rows, cols = np.nonzero(lens.inside)
    places = lens.project(lens.rays[rows, cols].astype(float))
    assert np.abs(places - np.column_stack([rows, cols])).max() < 1e-2


def test_visibility_is_a_part_and_counts_pixels():
    anatomy = make_anatomy(3, LENGTH)
    polyps = plan_exam(3, frames=1, polyps=10).polyps
    lens = make_lens(128, "circle")
    shares: list[float] = []
    for progress in np.linspace(0, 1, 40):
        moment = moment_at(anatomy, polyps, float(progress))
        for index in range(len(moment.polyps)):
            share, pixels, distance = visibility(moment, index, lens, anatomy.line)
            assert 0 <= share <= 1
            assert distance > 0
            assert (share > 0) == (pixels > 0)
            shares.append(share)
    assert min(shares) == 0
    assert max(shares) > 0.8
    assert any(0.05 < share < 0.7 for share in shares)


def test_spoilers_answer_to_their_dials():
    none = make_spoilers(1, LENGTH, 0, 0, 0)
    assert len(none.bubbles) == len(none.pools) == len(none.stains) == 0
    usual = make_spoilers(1, LENGTH, 1, 1, 1)
    assert (np.diff(usual.bubbles[:, 0]) >= 0).all()
    assert min(len(usual.bubbles), len(usual.pools), len(usual.stains)) > 0


def test_pieces_give_every_frame_its_place_in_order():
    pieces = (Piece(0, 4, 0.0, 0.4), Piece(4, 1, 0.6, 1.0))
    places = [progress_of(pieces, number)[0] for number in range(5)]
    assert places == pytest.approx([0.05, 0.15, 0.25, 0.35, 0.8])
    with pytest.raises(IndexError):
        progress_of(pieces, 5)


def test_the_rule_asks_for_part_pixels_and_distance():
    rule = LabelRule(visible_part=0.3, pixels=200, farthest_mm=40)
    assert rule.is_met(0.3, 200, 40, 512)
    assert not rule.is_met(0.29, 200, 40, 512)
    assert not rule.is_met(0.3, 199, 40, 512)
    assert not rule.is_met(0.3, 200, 41, 512)
    assert rule.is_met(0.3, 50, 40, 256)
    assert not rule.is_met(0.3, 200, 30, 512, slack=1.2)


def test_boxes_of_a_known_map():
    polyp_map = np.zeros((8, 9), np.uint8)
    polyp_map[2:5, 3:7] = 4
    polyp_map[7, 8] = 1
    assert boxes_of(polyp_map) == {4: (12, (2, 3, 5, 7)), 1: (1, (7, 8, 8, 9))}


def test_parts_draw_from_streams_of_their_own():
    first, again, other = (generator(1, *name).uniform() for name in (("a",), ("a",), ("b",)))
    assert first == again != other


@pytest.mark.parametrize("shape", [(64,), (32, 48)])
def test_noise_is_normed_and_periodic(shape):
    noise = field(generator(1, "test"), shape, 3)
    assert noise.mean() == pytest.approx(0, abs=1e-5)
    assert noise.std() == pytest.approx(1, abs=1e-5)
    inner = np.abs(np.diff(noise, axis=0)).max()
    assert np.abs(noise[0] - noise[-1]).max() <= 1.5 * inner


def test_sensor_noise_has_the_deviation_asked_for():
    size = 128
    image = np.full((size, size, 3), 0.25, np.float32)
    curve = np.linspace(0, 255, 512).astype(np.float32)  # the root of 0.25 is a quarter of the way
    out = np.empty((size, size, 3), np.uint8)
    ones = np.ones((size, size), np.float32)
    develop(
        image,
        ones > 0,
        ones,
        np.float32(1),
        np.zeros(3, np.float32),
        curve,
        np.array([4, 4], np.float32),
        np.uint64(9),
        np.zeros(3, np.uint8),
        out,
    )
    assert out.mean() == pytest.approx(63.75 - 0.5, abs=0.3)  # bytes are cut, not rounded
    assert out.std() == pytest.approx(4, rel=0.05)
    channels = out.reshape(-1, 3).astype(float).T
    assert np.abs(np.corrcoef(channels) - np.eye(3)).max() < 0.05
