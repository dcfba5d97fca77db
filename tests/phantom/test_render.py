"""Rendered frames and their truth."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capsieve
from capsieve.phantom import ExamPlan, plan_exam, render_frame
from capsieve.phantom.camera import make_lens
from capsieve.phantom.colon import LENGTH_MM, make_colon

SIZE = 96


def plan_of(seed: int = 7, **options) -> ExamPlan:
    return plan_exam(seed, **{"frames": 40, "polyps": 8, "size": SIZE, **options})


@pytest.fixture(scope="module")
def frames():
    return [render_frame(plan_of(), number, depth=True) for number in range(40)]


def test_frames_are_the_same_in_any_order(frames):
    for number in (30, 17, 3):
        assert np.array_equal(render_frame(plan_of(), number).pixels, frames[number].pixels)


def test_another_seed_gives_another_exam(frames):
    assert not np.array_equal(render_frame(plan_of(8), 3).pixels, frames[3].pixels)


@pytest.mark.slow
def test_frames_are_the_same_in_another_process(frames):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(render_frame, plan_of(), 5).result()
    assert np.array_equal(there.pixels, frames[5].pixels)
    assert there.truth == frames[5].truth


def test_truth_agrees_with_the_map_of_polyps(frames):
    found = 0
    for frame in frames:
        shown = set(np.unique(frame.polyp_map).tolist()) - {0}
        assert shown == {polyp.id for polyp in frame.truth.polyps}
        for polyp in frame.truth.polyps:
            assert polyp.pixels == np.count_nonzero(frame.polyp_map == polyp.id)
            found += 1
        pixels = [polyp.pixels for polyp in frame.truth.polyps]
        assert pixels == sorted(pixels, reverse=True)
    assert found > 4


def test_a_frame_with_a_counting_polyp_is_a_polyp_frame(frames):
    labels = set()
    for frame in frames:
        counting = [polyp for polyp in frame.truth.polyps if polyp.counts]
        assert all(p.share >= 0.25 and p.pixels >= 600 * (SIZE / 512) ** 2 for p in counting)
        assert frame.truth.label == ("polyp" if counting else "normal")
        labels.add(frame.truth.label)
    assert labels == {"polyp", "normal"}


def test_a_polyp_is_nearer_than_the_wall_behind_it(frames):
    bare = replace(plan_of(), polyps=())
    compared = farther = pixels = 0
    for frame in frames:
        if not frame.truth.polyps:
            continue
        behind = render_frame(bare, frame.truth.number, depth=True)
        if frame.truth.position != behind.truth.position:
            continue  # the polyp pushed the capsule aside
        assert behind.depth is not None
        shown = frame.polyp_map > 0
        farther += np.count_nonzero(frame.depth[shown] > 1.01 * behind.depth[shown] + 0.1)
        pixels += np.count_nonzero(shown)
        wall = ~shown & (behind.depth > 0)
        same = np.abs(frame.depth - behind.depth)[wall] < 0.05 * behind.depth[wall]
        assert same.mean() > 0.9
        compared += 1
    assert compared > 3
    assert farther <= 0.002 * pixels  # at the rim of a fold a ray may pass or meet it


def test_polyps_are_rougher_than_the_wall():
    plan = plan_of(frames=120, polyps=25, size=256)
    inside, outside = [], []
    for number in range(0, 120, 3):
        frame = render_frame(plan, number)
        if frame.truth.spoiled or not frame.truth.polyps or frame.truth.polyps[0].pixels < 1000:
            continue
        explanation = capsieve.explain(frame.pixels)  # the working frame is the frame
        shown = (frame.polyp_map > 0) & explanation.mask
        inside.append(explanation.energy[shown].mean())
        outside.append(explanation.energy[explanation.mask & ~shown].mean())
    assert len(inside) > 5
    assert np.mean(inside) > np.mean(outside)


def test_depth_is_optional_and_covers_the_field_of_view(frames):
    assert render_frame(plan_of(), 4).depth is None
    inside = make_lens(SIZE, "circle").inside
    assert np.array_equal(frames[4].depth > 0, inside)


def test_surface_points_lie_on_the_wall(frames):
    centres = make_colon(7).line[:, :3].astype(float)
    rays = make_lens(SIZE, "circle").rays
    for frame in (frames[5], frames[20], frames[33]):
        rotation, position = np.array(frame.truth.rotation), np.array(frame.truth.position)
        for row, col in ((30, 30), (48, 60), (70, 48)):
            point = position + frame.depth[row, col] * (rotation @ rays[row, col])
            assert 1 <= np.linalg.norm(centres - point, axis=1).min() <= 40


def test_positions_agree_with_poses_and_the_second_head_looks_back():
    plan = plan_of(heads=2)
    centres = make_colon(plan.seed).line[:, :3]
    for number in range(0, plan.frames, 7):
        front, back = (render_frame(plan, number, head) for head in (0, 1))
        assert not np.array_equal(front.pixels, back.pixels)
        rotations = []
        for head, frame in enumerate((front, back)):
            assert frame.truth.head == head
            gaps = np.linalg.norm(centres - np.array(frame.truth.position), axis=1)
            assert frame.truth.position_mm == pytest.approx(np.argmin(gaps), abs=1.0)
            rotation = np.array(frame.truth.rotation)
            assert np.allclose(rotation.T @ rotation, np.eye(3), atol=1e-6)
            assert np.linalg.det(rotation) == pytest.approx(1)
            rotations.append(rotation)
        assert rotations[0][:, 2] @ rotations[1][:, 2] == pytest.approx(-1)


def test_at_rest_only_the_noise_changes():
    plan = plan_of(frames=960)
    motion = [render_frame(plan, number).truth.motion for number in range(0, 960, 10)]
    number = 10 * motion.index("still") + 1
    first, second = (render_frame(plan, number + k) for k in (0, 1))
    assert first.truth.position == second.truth.position
    change = np.abs(first.pixels.astype(int) - second.pixels)
    assert 0 < change.mean() < 4
    assert np.array_equal(first.polyp_map, second.polyp_map)


@pytest.mark.parametrize("field", ["circle", "cut-square"])
@pytest.mark.parametrize(
    ("surround", "colour"), [("black", (0, 0, 0)), ("grey", (88, 88, 88)), ("blue", (18, 38, 92))]
)
def test_fields_and_surrounds(field, surround, colour):
    frame = render_frame(plan_of(field=field, surround=surround), 6).pixels
    inside = make_lens(SIZE, field).inside
    assert (frame[~inside] == colour).all()
    assert frame[inside].mean() > 30
    assert not inside[0, 0]
    assert inside[SIZE // 2, 3]
    assert (field == "cut-square") == bool(inside[5, 20])


def test_text_is_written_at_the_left_only_on_request():
    plain, written = (render_frame(plan_of(size=256, text=t), 6).pixels for t in (False, True))
    changed = (plain != written).any(axis=2)
    assert changed[:, :128].any()
    assert not changed[:, 128:].any()


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    size=st.integers(64, 140),
    number=st.integers(0, 19),
    field=st.sampled_from(["circle", "cut-square"]),
)
def test_any_frame_is_consistent(seed, size, number, field):
    plan = plan_exam(seed, frames=20, polyps=3, size=size, field=field, heads=2)
    frame = render_frame(plan, number, number % 2, depth=True)
    assert frame.pixels.shape == (size, size, 3)
    assert frame.pixels.dtype == frame.polyp_map.dtype == np.uint8
    assert frame.depth is not None
    assert np.isfinite(frame.depth).all()
    assert (frame.depth[frame.polyp_map > 0] > 0).all()
    assert frame.truth.time_s == number / 4
    assert 0 <= frame.truth.position_mm <= LENGTH_MM
    assert 0 <= frame.truth.contraction <= 1
    assert all(0 <= polyp.share <= 1 for polyp in frame.truth.polyps)


@pytest.mark.parametrize(("number", "head"), [(40, 0), (-1, 0), (0, 1)])
def test_a_frame_outside_the_plan_is_an_index_error(number, head):
    with pytest.raises(IndexError):
        render_frame(plan_of(), number, head)


def test_the_stored_frame_is_flagged():
    frame = capsieve.phantom.polyp_frame()
    assert (frame.shape, frame.dtype) == ((256, 256, 3), np.uint8)
    assert capsieve.analyze(frame).label == "polyp"
