"""Tables that count frames."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from capsieve.frame_table import (
    NORMAL,
    OTHER,
    POLYP,
    UNLABELLED,
    flagged_at,
)
from capsieve.report.count_tables import (
    causes_table,
    effort_table,
    false_positives_table,
    reasons_table,
    sequences_table,
)
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.reading_effort import effort_metrics
from support.labelled_frames import (
    PAPER_FALSE,
    PAPER_NORMAL,
    PAPER_SEQUENCES,
    labelled_frames,
    paper_frames,
)

LOW, NAN = -np.inf, np.nan
OPTIONS = EvaluationOptions(bootstrap_samples=500)
P, N, U = POLYP, NORMAL, UNLABELLED


def three_polyps(**given):
    """Polyps b (frames 0, 1, 4), a (2) and c (5, never scored); frame 3 names none; 6 normal."""
    return labelled_frames(
        [3.0, 7.0, 5.0, 9.0, 8.0, np.nan, 6.0],
        [P] * 6 + [N],
        polyp=["b", "b", "a", None, "b", "c", None],
        patient="1",
        **given,
    )


def eight_frames():
    reason = ["polyp", "radius-low", "texture-high", "texture-low", "texture-low", "radius-low"]
    return labelled_frames(
        [40, 20, LOW, LOW, LOW, 30, NAN, LOW],
        [P, P, P, N, N, N, N, OTHER],
        reason=np.array([*reason, None, "no-feature"], object),
        texture_max=[4.0, 7.9, 9.0, 1.0, 2.9, 3.0, NAN, 5.0],
        radius_max=[40, 20, 0, 0, 0, 30, NAN, 0],
    )


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


def two_exams(seed):
    one, two = random_exam(seed), random_exam(seed + 1000)
    two["duplicate_of"] = np.where(two["duplicate_of"] < 0, -1, two["duplicate_of"] + 240)
    columns = {name: np.concatenate([one[name], two[name]]) for name in one}
    truth = np.random.default_rng(seed).choice([P, N, OTHER, U], 480)
    return labelled_frames(truth=truth, exam=np.repeat([0, 1], 240), **columns)


def test_the_table_of_sequences_counted_by_hand():
    frames = three_polyps()
    table = sequences_table(frames, flagged_at(frames.score, 7.0))
    assert table.rows == (
        ("b", "1", 3, 2, True, 2, 8.0),
        ("a", "1", 1, 0, False, None, 5.0),
        ("c", "1", 1, 0, False, None, None),
    )
    assert table.total == ("Total", None, 5, 2, None, None, None)
    assert sequences_table(labelled_frames([1.0], [N]), np.array([True])).rows == ()


def test_the_papers_sequences():
    frames = paper_frames()
    table = sequences_table(frames, flagged_at(frames.score, 37))
    rows = sorted(table.rows, key=lambda row: int(row[0]))
    assert tuple(row[2] for row in rows) == PAPER_SEQUENCES
    assert [row[0] for row in rows if not row[4]] == ["5", "11", "12"]


def test_the_papers_table_of_false_positives():
    frames = paper_frames()
    table: Any = false_positives_table(frames, flagged_at(frames.score, 37))
    assert tuple(table.column("normal_frames")) == PAPER_NORMAL
    assert tuple(table.column("false_positives")) == PAPER_FALSE
    rates = [round(100 * rate, 1) for rate in table.column("false_positive_rate")]
    assert rates == [8.1, 5.5, 14.4, 9.0, 7.6]
    assert table.total[:3] == ("Total", 18738, 1837)
    for n, k, *bounds in zip(
        PAPER_NORMAL, PAPER_FALSE, table.column("low"), table.column("high"), strict=True
    ):
        expected = binomtest(k, n).proportion_ci(method="wilson")
        assert bounds == pytest.approx([expected.low, expected.high])


def test_false_positives_of_unknown_patients_are_counted_by_group():
    frames = labelled_frames(
        [5.0, 1.0, 5.0, np.nan, 5.0, 1.0],
        [N, N, N, N, P, N],
        patient=["p", "p", None, None, None, None],
        group=["p", "p", "block 7", "block 7", "block 7", None],
        group_kind="patient or block",
    )
    table = false_positives_table(frames, flagged_at(frames.score, 2.0))
    assert [row[:4] for row in table.rows] == [
        ("p", 2, 1, 0.5),
        ("block 7", 1, 1, 1.0),
        ("(unknown)", 1, 0, 0.0),
    ]


def test_the_table_of_reasons_counted_by_hand():
    table: Any = reasons_table(eight_frames())
    third = pytest.approx(1 / 3)
    assert table.rows == (
        ("texture-low", 0, 0.0, 2, 0.5, 0, 0.0),
        ("texture-high", 1, third, 0, 0.0, 0, 0.0),
        ("no-feature", 0, 0.0, 0, 0.0, 1, 1.0),
        ("radius-low", 1, third, 1, 0.25, 0, 0.0),
        ("polyp", 1, third, 0, 0.0, 0, 0.0),
        ("not scored", 0, 0.0, 1, 0.25, 0, 0.0),
    )
    assert table.total == ("Total", 3, 1.0, 4, 1.0, 1, 1.0)


def test_causes_counted_by_hand():
    frames = labelled_frames(
        [9, 1, 9, 9, 1, 9, NAN, 9],
        [OTHER, OTHER, OTHER, N, N, N, OTHER, P],
        finding=[
            *["erosion"] * 2,
            "bleeding; erosion; erosion",
            "bubbles, foam",
            None,
            "Normal",
            *["erosion"] * 2,
        ],
    )
    table: Any = causes_table(frames, flagged_at(frames.score, 5.0))
    assert [row[:5] for row in table.rows] == [
        ("erosion", 3, 3, 2, pytest.approx(2 / 3)),
        ("bleeding", 1, 1, 1, 1.0),
        ("bubbles, foam", 0, 1, 1, 1.0),
        ("(nothing named)", 0, 2, 1, 0.5),
    ]
    assert table.total[1:4] == (3, 6, 4)
    assert "1 frame not scored" in table.caption
    expected = binomtest(2, 3).proportion_ci(method="wilson")
    assert table.rows[0][5:] == pytest.approx((expected.low, expected.high))


def test_without_frames_the_table_of_causes_is_empty():
    table = causes_table(labelled_frames([9.0], [P]), np.array([True]))
    assert table.rows == ()
    assert table.total == ("All frames without a polyp", 0, 0, 0, None, None, None)


def test_the_table_adds_up():
    frames = two_exams(1)
    flagged = flagged_at(frames.score, 6)
    table: Any = effort_table(frames, flagged)
    metrics = {m.key: m.numerator for m in effort_metrics(frames, flagged, OPTIONS)}
    for column, key in (
        ("frames", "frames_whole_exam"),
        ("to_read", "frames_per_exam"),
        ("events", "events_per_exam"),
        ("false_events", "false_events_per_exam"),
    ):
        total = table.total[[each.key for each in table.columns].index(column)]
        assert sum(table.column(column)) == total == metrics[f"effort.{key}"]
