import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.phantom.camera import make_lens
from capsieve.phantom.exam import ExamPlan, plan_exam, render_frame
from capsieve.phantom.plan import LENGTH_MM
from capsieve.phantom.scene import make_anatomy

SIZE = 96


def plan_of(seed: int = 7, **options) -> ExamPlan:
    usual = {"frames": 40, "polyps": 8, "size": SIZE, "visible_pixels": 150.0}
    return plan_exam(seed, **{**usual, **options})


def polyp_frames(plan: ExamPlan, count: int = 4):
    """Return frames of a plan that show something of a polyp."""
    frames = (render_frame(plan, number, depth=True) for number in range(plan.frames))
    found = [frame for frame in frames if frame.truth.polyps]
    assert len(found) >= count
    return found


@pytest.fixture(scope="module")
def seen():
    return polyp_frames(plan_of())


def test_the_same_seed_gives_the_same_bytes_in_any_order():
    numbers = [3, 17, 30]
    first = [render_frame(plan_of(), number).pixels for number in numbers]
    again = [render_frame(plan_of(), number).pixels for number in reversed(numbers)]
    for one, other in zip(first, reversed(again), strict=True):
        assert np.array_equal(one, other)


def test_another_seed_gives_another_exam():
    first, other = (render_frame(plan_of(seed), 3).pixels for seed in (7, 8))
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_another_process_gives_the_same_bytes():
    plan = plan_of()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(render_frame, plan, 5).result()
    here = render_frame(plan, 5)
    assert np.array_equal(there.pixels, here.pixels)
    assert there.truth == here.truth


def test_a_plan_survives_pickling_and_can_be_a_key():
    plan = plan_of()
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert hash(plan) == hash(plan_of())


def test_a_plan_does_not_grow_with_the_exam():
    short, long = (len(pickle.dumps(plan_of(frames=frames))) for frames in (40, 100_000))
    assert long < short + 64


def test_boxes_match_masks(seen):
    for frame in seen:
        for polyp in frame.truth.polyps:
            rows, cols = np.nonzero(frame.polyp_map == polyp.id)
            assert polyp.pixels == len(rows)
            box = (rows.min(), cols.min(), rows.max() + 1, cols.max() + 1)
            assert polyp.box == box


def test_the_map_shows_the_polyps_of_the_truth_and_no_other(seen):
    for frame in seen:
        shown = set(np.unique(frame.polyp_map).tolist()) - {0}
        assert shown == {polyp.id for polyp in frame.truth.polyps}


def test_distances_match_depth(seen):
    for frame in seen:
        for polyp in frame.truth.polyps:
            nearest = frame.depth[frame.polyp_map == polyp.id].min()
            assert polyp.distance_mm == pytest.approx(nearest, abs=1e-3)


def test_a_polyp_is_nearer_than_the_wall_behind_it():
    plan = plan_of()
    bare = replace(plan, polyps=())
    compared = 0
    for number in range(plan.frames):
        frame = render_frame(plan, number, depth=True)
        if not frame.truth.polyps:
            continue
        behind = render_frame(bare, number, depth=True)
        if frame.truth.position != behind.truth.position:
            continue  # the polyp had pushed the capsule aside
        assert frame.depth is not None
        assert behind.depth is not None
        shown = frame.polyp_map > 0
        assert (frame.depth[shown] <= 1.01 * behind.depth[shown] + 0.1).all()
        wall = ~shown & (behind.depth > 0)
        same = np.abs(frame.depth - behind.depth)[wall] < 0.05 * behind.depth[wall]
        assert same.mean() > 0.9
        compared += 1
    assert compared > 3


def test_depth_is_on_request_and_covers_the_field():
    frame = render_frame(plan_of(), 4, depth=True)
    assert frame.depth is not None
    assert render_frame(plan_of(), 4).depth is None
    inside = make_lens(SIZE, "circle").inside
    assert (frame.depth[inside] > 0).all()
    assert (frame.depth[~inside] == 0).all()


def test_the_surface_lies_on_the_wall():
    plan = plan_of(polyps=0)
    anatomy = make_anatomy(plan.seed, LENGTH_MM)
    lens = make_lens(SIZE, plan.field)
    centres = anatomy.line.table[:, :3].astype(float)
    for number in (5, 20, 33):
        frame = render_frame(plan, number, depth=True)
        assert frame.depth is not None
        rotation, position = np.array(frame.truth.rotation), np.array(frame.truth.position)
        for row, col in ((30, 30), (48, 60), (70, 48)):
            point = position + frame.depth[row, col] * (rotation @ lens.rays[row, col])
            gaps = np.linalg.norm(centres - point, axis=1)
            # Literally: no point of the wall is nearer to the axis than 1 mm or farther than 40.
            assert 1 <= gaps.min() <= 40


def test_positions_match_poses():
    plan = plan_of(heads=2)
    table = make_anatomy(plan.seed, LENGTH_MM).line.table
    for number in range(0, plan.frames, 7):
        for head in (0, 1):
            truth = render_frame(plan, number, head).truth
            gaps = np.linalg.norm(table[:, :3] - np.array(truth.position), axis=1)
            assert truth.position_mm == pytest.approx(np.argmin(gaps), abs=1.0)
            rotation = np.array(truth.rotation)
            assert np.allclose(rotation.T @ rotation, np.eye(3), atol=1e-6)
            assert np.linalg.det(rotation) == pytest.approx(1)


def test_the_second_head_looks_back():
    plan = plan_of(heads=2)
    for number in (2, 21):
        front, back = (render_frame(plan, number, head) for head in (0, 1))
        ahead, behind = (np.array(frame.truth.rotation)[:, 2] for frame in (front, back))
        assert ahead @ behind == pytest.approx(-1)
        assert (front.truth.head, back.truth.head) == (0, 1)
        assert not np.array_equal(front.pixels, back.pixels)


def test_standing_still_changes_only_the_noise():
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


def test_text_is_burnt_into_the_surround_on_request():
    plain, written = (
        render_frame(plan_of(size=256, text=text), 6).pixels for text in (False, True)
    )
    changed = (plain != written).any(axis=2)
    assert changed[:, :128].any()
    assert not changed[:, 128:].any()


def test_labels_follow_the_rule(seen):
    rule = plan_of().rule
    for frame in seen:
        counting = [
            polyp.share >= rule.visible_part and polyp.pixels >= rule.pixels * (SIZE / 512) ** 2
            for polyp in frame.truth.polyps
            if polyp.counts
        ]
        assert all(counting)
        assert (frame.truth.label == "polyp") == bool(counting)


def test_a_stricter_rule_labels_fewer_frames():
    counts = [
        sum(
            render_frame(plan_of(visible_part=part, farthest_mm=reach), number).truth.label
            == "polyp"
            for number in range(0, 40, 2)
        )
        for part, reach in ((0.05, 120.0), (0.25, 40.0), (1.0, 10.0))
    ]
    assert counts[0] >= counts[1] >= counts[2]
    assert counts[0] > counts[2]


def runs_of(labels: list[str]) -> list[int]:
    text = "".join(label[0] for label in labels)
    return [len(run) for run in text.replace("n", " ").split()]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_sequences_have_exactly_the_lengths_asked_for(seed):
    lengths = (6, 11, 3)
    plan = plan_exam(seed, sequence_lengths=lengths, normal_frames=25, size=128)
    frames = [render_frame(plan, number) for number in range(plan.frames)]
    assert len(frames) == 45
    assert runs_of([frame.truth.label for frame in frames]) == list(lengths)
    shown = [[p.id for p in frame.truth.polyps if p.counts] for frame in frames]
    for polyp, length in enumerate(lengths, start=1):
        assert shown.count([polyp]) == length


def test_an_exam_may_have_no_polyp():
    plan = plan_exam(3, normal_frames=6, size=64)
    assert plan.frames == 6
    assert {render_frame(plan, number).truth.label for number in range(6)} == {"normal"}


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
    assert frame.truth.time_s == number / plan.frame_rate
    assert 0 <= frame.truth.position_mm <= LENGTH_MM
    assert 0 <= frame.truth.contraction <= 1
    assert all(0 <= polyp.share <= 1 for polyp in frame.truth.polyps)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"frames": 0}, "frames"),
        ({"frames": None}, "frames"),
        ({"polyps": 256}, "polyps"),
        ({"heads": 3}, "heads"),
        ({"size": 63}, "size"),
        ({"field": "oval"}, "field"),
        ({"surround": "pink"}, "surround"),
        ({"frame_rate": 0.0}, "frame_rate"),
        ({"visible_part": 0.0}, "visible_part"),
        ({"visible_pixels": 0.0}, "pixels"),
        ({"farthest_mm": 0.0}, "farthest_mm"),
        ({"sequence_lengths": (3, 0)}, "sequence_lengths"),
    ],
)
def test_wrong_options_are_named(options, field):
    with pytest.raises(ParameterError) as caught:
        plan_of(**options)
    assert caught.value.field == field


@pytest.mark.parametrize(("number", "head"), [(40, 0), (-1, 0), (0, 1)])
def test_a_frame_that_is_not_there(number, head):
    with pytest.raises(IndexError):
        render_frame(plan_of(), number, head)
