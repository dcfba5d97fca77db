"""Reading lists, and frames and events to read."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.frame_table import (
    NORMAL,
    OTHER,
    POLYP,
    UNLABELLED,
    Coded,
    FlagRule,
    flagged,
    flagged_at,
    group_events,
)
from capsieve.frame_table import to_read as screened_to_read
from capsieve.report.count_tables import effort_table
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.reading_effort import (
    effort_curve,
    effort_metrics,
    event_codes,
    flagged_by,
    reading_share,
)
from capsieve.store.frame_columns import frame_columns, with_flags
from capsieve.store.schema import FRAMES
from capsieve.store.tables import frame_counts
from support.labelled_frames import labelled_frames, many_patients, paper_frames

OPTIONS = EvaluationOptions(bootstrap_samples=500)
P, N, U = POLYP, NORMAL, UNLABELLED


def random_exam(seed, size=120):
    """Two heads with ties, unscored and rejected frames and runs of near-duplicates."""
    rng = np.random.default_rng(seed)
    head = np.repeat([0, 1], size)
    score = rng.integers(1, 12, 2 * size).astype(float)
    score[rng.random(2 * size) < 0.1] = np.nan
    score[rng.random(2 * size) < 0.1] = -np.inf
    first = np.arange(2 * size)
    for row in range(1, 2 * size):
        if head[row] == head[row - 1] and rng.random() < 0.3:
            first[row] = first[row - 1]
    duplicate_of = np.where(first == np.arange(2 * size), -1, first)
    return {
        "score": score,
        "head": head,
        "frame": np.tile(np.arange(size), 2),
        "duplicate_of": duplicate_of,
        "time": np.where(rng.random(2 * size) < 0.05, np.nan, np.tile(np.arange(size) / 2, 2)),
        "row": rng.uniform(0, 100, 2 * size),
        "col": rng.uniform(0, 100, 2 * size),
        "radius": rng.uniform(0, 40, 2 * size),
    }


def rule_of(read) -> FlagRule:
    rule = FlagRule.parse(read=read)
    assert rule is not None
    return rule


def metrics_of(frames, flagged) -> dict[str, Any]:
    return {metric.key: metric for metric in effort_metrics(frames, flagged, OPTIONS)}


def two_exams(seed):
    one, two = random_exam(seed), random_exam(seed + 1000)
    two["duplicate_of"] = np.where(two["duplicate_of"] < 0, -1, two["duplicate_of"] + 240)
    columns = {name: np.concatenate([one[name], two[name]]) for name in one}
    truth = np.random.default_rng(seed).choice([P, N, OTHER, U], 480)
    return labelled_frames(truth=truth, exam=np.repeat([0, 1], 240), **columns)


def stored(frames, flags):
    """The table of a screened exam, before its frames are flagged."""
    rejected = frames.score == -np.inf  # by a rule, before it was scored
    known = {
        "head": frames.head,
        "frame": frames.frame,
        "flagged": flags,
        "time_s": frames.time,
        "score": np.where(rejected, 0.0, frames.score),
        "row": frames.row,
        "col": frames.col,
        "radius": frames.radius,
    }
    columns = {}
    for field in FRAMES:
        values = known.get(field.name)
        columns[field.name] = (
            pa.nulls(len(frames), field.type)
            if values is None
            else pa.array(values, field.type, from_pandas=True)
        )
    number = np.where(frames.duplicate_of < 0, 0, frames.frame[frames.duplicate_of])
    columns["duplicate_of"] = pa.array(number, pa.int64(), mask=frames.duplicate_of < 0)
    columns["status"] = pa.array(["decoded"] * len(frames))
    columns["reason"] = pa.array(np.where(rejected, "no-feature", "polyp"))
    return pa.table(columns, schema=FRAMES)


@given(
    st.integers(0, 10_000),
    st.sampled_from(["1%", "10%", "33.3%", "50%", "99.9%", "100%", "1", "7", "1000"]),
)
def test_reading_lists_are_those_of_screening(seed, read):
    frames, rule = two_exams(seed), rule_of(read)
    flags = flagged_by(frames, rule)
    for code in range(2):
        own = frames.take(frames.exam.code == code)
        expected = flagged(own.score, own.duplicate_of, rule)
        np.testing.assert_array_equal(flags[frames.exam.code == code], expected)


@given(st.integers(0, 10_000), st.floats(0.0001, 1))
def test_a_frame_is_listed_from_its_reading_share_on(seed, share):
    frames = two_exams(seed)
    flags = flagged_by(frames, FlagRule("share", share))
    np.testing.assert_array_equal(flags, reading_share(frames) <= share)
    exact = reading_share(frames)
    for value in np.unique(exact[exact < np.inf])[::20]:
        flags = flagged_by(frames, FlagRule("share", float(value)))
        np.testing.assert_array_equal(flags, exact <= value)


def test_a_list_is_formed_per_exam_of_the_labels_and_not_per_folder():
    # Folders are classes, as in Kvasir-Capsule; each video has the best frame of a class.
    frames = labelled_frames(
        [9, 8, 3, 2, 1, 0], [P, P, N, N, N, N], exam=list("aabbbb"), unit=list("xyxyxy")
    )
    assert flagged_by(frames, rule_of("1")).tolist() == [True, True, False, False, False, False]
    assert flagged_by(frames, rule_of("34%")).tolist() == [True, True, True, True, False, False]


def test_without_an_exam_in_the_labels_a_list_is_refused():
    frames = labelled_frames([1.0, 2.0], [P, N], unit=[None, None])
    with pytest.raises(ParameterError) as error:
        flagged_by(frames, rule_of("10%"))
    assert error.value.field == "read"
    assert effort_curve(frames) is None
    assert (reading_share(frames) == np.inf).all()


def test_the_curve_is_that_of_lists_of_all_lengths():
    frames = two_exams(3)
    frames = replace(
        frames,
        polyp=Coded.of(str(row // 7) if t == P else None for row, t in enumerate(frames.truth)),
    )
    curve: Any = effort_curve(frames)
    polyps = np.unique(frames.polyp.code[frames.polyp.code >= 0])
    for place in range(1, len(curve.share), 20):
        flagged = flagged_by(frames, FlagRule("share", float(curve.share[place])))
        found = np.unique(frames.polyp.code[flagged & frames.polyp_frames])
        assert curve.frames_found[place] == flagged[frames.polyp_frames].mean()
        assert curve.polyps_found[place] == pytest.approx(len(found) / len(polyps))
        runs = np.where(frames.duplicate_of < 0, np.arange(len(frames)), frames.duplicate_of)
        assert curve.frames[place] == len(np.unique(runs[flagged])) / 2
    assert (curve.exams, curve.polyps) == (2, len(polyps))
    assert curve.share[[0, -1]].tolist() == [0, 1]


def test_a_perfect_detector_reads_the_polyps_first():
    frames = many_patients(5)
    frames = replace(frames, score=(frames.truth == P).astype(float))
    curve: Any = effort_curve(frames)
    share = 6 / 56
    assert curve.frames_found[curve.share > share].min() == 1
    assert curve.frames_found[curve.share < share / 2].max() <= 0.5


@given(st.integers(0, 10_000), st.integers(3, 12))
def test_frames_to_read_and_events_are_counted_as_in_the_exam_report(seed, threshold):
    frames = two_exams(seed)
    flagged = flagged_at(frames.score, threshold)
    to_read, events = 0, 0
    for code in range(2):
        rows = frames.exam.code == code
        own = frame_columns({"": stored(frames.take(rows), flagged[rows])})
        event = group_events(own, own.flagged)
        own = replace(own, event=np.where(event < 0, -1, event + 1))
        read = screened_to_read(own.event, own.score, own.duplicate_of)
        table = with_flags(stored(frames.take(rows), flagged[rows]), own)
        counts, _ = frame_counts(table, read, {0: None, 1: None})
        to_read += counts["to_read"]
        events += counts["events"]
    metrics = metrics_of(frames, flagged)
    assert metrics["effort.frames_per_exam"].numerator == to_read
    assert metrics["effort.events_per_exam"].numerator == events
    assert metrics["effort.share_of_frames"].numerator == to_read


def test_events_of_the_screening_are_used_for_its_flags():
    flagged = np.array([True, True, True, False, True])
    frames = labelled_frames(
        [5, 4, 3, 1, 5], exam=list("aaaab"), flagged=flagged, event=[1, 2, 1, -1, 1]
    )
    event = event_codes(frames, flagged)
    assert event[0] == event[2] != event[1]
    assert len(set(event[flagged])) == 3
    # Other flags are grouped again: consecutive frames without a place are one event.
    again = event_codes(frames, np.array([True, True, False, False, True]))
    assert again[0] == again[1]


def test_near_duplicates_are_not_counted_but_the_best_frame_of_an_event_is():
    frames = labelled_frames([5, 6, 4, 3], [N] * 4, duplicate_of=[-1, 0, 0, -1])
    metric = metrics_of(frames, np.ones(4, bool))["effort.frames_per_exam"]
    assert metric.numerator == 3


def test_a_false_event_has_a_normal_frame_and_no_polyp_frame():
    # Five events, 10 frames apart: polyp and normal, normal, other, unlabelled, normal and other.
    truth = [P, N, N, N, OTHER, OTHER, U, U, N, OTHER]
    frame = np.repeat(np.arange(5) * 10, 2) + np.tile([0, 1], 5)
    frames = labelled_frames(np.full(10, 9.0), truth, frame=frame)
    metrics = {m.key: m.value for m in effort_metrics(frames, np.ones(10, bool), OPTIONS)}
    assert metrics["effort.events_per_exam"] == 5
    assert metrics["effort.false_events_per_exam"] == 2


def test_unlabelled_frames_are_read_as_well():
    frames = labelled_frames([50, 50, 10], [U, U, N], frame=[0, 10, 20])
    metrics = metrics_of(frames, frames.score > 37)
    assert metrics["effort.frames_per_exam"].value == 2
    assert metrics["effort.frames_whole_exam"].value == 3


def test_the_papers_false_positives_per_exam():
    frames = paper_frames()
    frames = frames.take(frames.truth == N)
    metrics = metrics_of(frames, frames.score >= 37)
    assert int(metrics["effort.frames_per_exam"].value) == 367
    assert int(metrics["effort.frames_whole_exam"].value) == 3747


def test_means_per_exam_have_an_interval_over_patients():
    frames = many_patients(12)
    for metric in list(metrics_of(frames, frames.score >= 37).values())[::2]:
        assert metric.interval.low < metric.value < metric.interval.high
        assert metric.interval.units == 12


def test_frames_that_may_be_of_any_exam_leave_no_interval():
    patient = np.where(np.arange(240) % 2, np.arange(240) // 20, -1)
    frames = labelled_frames(np.arange(240), np.where(patient < 0, U, N), patient=patient)
    flagged = frames.score > 60
    for metric in list(metrics_of(frames, flagged).values())[:3]:
        assert metric.interval.low is None
        assert metric.interval.why
    assert effort_table(frames, flagged).column("exam")[-1] == "(unknown)"


def test_without_frames_there_are_no_values():
    nothing = labelled_frames([], [])
    metrics = effort_metrics(nothing, np.zeros(0, bool), OPTIONS)
    assert {metric.value for metric in metrics} == {None}
    assert effort_curve(nothing) is None
