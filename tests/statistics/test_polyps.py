"""Polyps as sequences of frames."""

import numpy as np
import pytest

from capsieve.statistics.flags import flagged_at
from capsieve.statistics.judged import NORMAL, POLYP
from capsieve.statistics.polyps import (
    polyp_metrics,
    polyp_scores,
    sequences_table,
    unnamed_polyp_frames,
)
from support.judged_frames import (
    PAPER_MISSED,
    PAPER_SEQUENCES,
    PAPER_THRESHOLD,
    judged_frames,
    paper_frames,
)


def three_polyps(**given: object):
    """Polyps b (frames 0, 1, 4), a (2) and c (5, never scored); frame 3 names none; 6 normal."""
    return judged_frames(
        [3.0, 7.0, 5.0, 9.0, 8.0, np.nan, 6.0],
        [POLYP] * 6 + [NORMAL],
        polyps=("a", "b", "c"),
        polyp=[1, 1, 0, -1, 1, 2, -1],
        groups=("x", "y"),
        group=[1, 1, 1, 0, 0, 0, 0],
        **given,
    )


def test_a_polyp_has_the_best_score_of_its_frames() -> None:
    polyp, score, frames, group = polyp_scores(three_polyps())
    assert polyp.tolist() == [1, 0, 2]
    assert score.tolist() == [8.0, 5.0, 0.0]
    assert frames.tolist() == [3, 1, 1]
    assert group.tolist() == [1, 1, 0]


def test_frames_without_a_name_belong_to_no_polyp_and_are_counted() -> None:
    judged = three_polyps()
    assert unnamed_polyp_frames(judged) == 1
    flagged = flagged_at(judged.score, 7.0)
    assert "1 polyp frame without a polyp's name" in sequences_table(judged, flagged).caption
    assert "1 polyp frame without a polyp's name" in polyp_metrics(judged, flagged)[0].note


def test_the_table_of_sequences_counted_by_hand() -> None:
    judged = three_polyps()
    table = sequences_table(judged, flagged_at(judged.score, 7.0))
    assert table.rows == (
        ("b", "1", 3, 2, True, 2, 8.0),
        ("a", "1", 1, 0, False, None, 5.0),
        ("c", "1", 1, 0, False, None, None),
    )
    assert table.total == ("Total", None, 5, 2, None, None, None)


def test_without_polyps_the_table_is_empty_and_the_metric_says_why() -> None:
    judged = judged_frames([1.0], [NORMAL], unit="run")
    flagged = np.array([True])
    assert sequences_table(judged, flagged).rows == ()
    metric = polyp_metrics(judged, flagged)[0]
    assert metric.value is None
    assert metric.note == "No value: there are no runs."
    assert metric.name == "Sensitivity per run"


def test_the_paper_s_sequences() -> None:
    judged = paper_frames()
    flagged = flagged_at(judged.score, PAPER_THRESHOLD)
    table = sequences_table(judged, flagged)
    assert tuple(table.column("frames")) == PAPER_SEQUENCES
    assert [i for i, found in enumerate(table.column("detected")) if not found] == [*PAPER_MISSED]
    metric, long = polyp_metrics(judged, flagged)
    assert (metric.numerator, metric.denominator, metric.value) == (13, 16, 0.8125)
    # Of sequences of 5 frames or more (all but those of 2, 3 and 4) three were missed.
    assert (long.numerator, long.denominator) == (10, 13)


def test_five_patients_are_too_few_for_an_interval() -> None:
    judged = paper_frames()
    metric = polyp_metrics(judged, flagged_at(judged.score, PAPER_THRESHOLD))[0]
    bootstrap, wilson = metric.intervals
    assert bootstrap.low is None
    assert bootstrap.why.startswith("only 5 patients")
    assert wilson.low == pytest.approx(0.5699, abs=1e-4)


def test_polyps_are_drawn_with_their_patients() -> None:
    # 40 patients with 2 polyps each, both found or both missed: as if there were 40 polyps.
    found = np.repeat(np.arange(40) % 2, 2).astype(float)
    judged = judged_frames(
        found,
        np.full(80, POLYP),
        polyps=tuple(map(str, range(80))),
        polyp=np.arange(80),
        groups=tuple(map(str, range(40))),
        group=np.repeat(np.arange(40), 2),
    )
    interval = polyp_metrics(judged, flagged_at(judged.score, 0.5))[0].intervals[0]
    assert interval.low is not None
    assert interval.high is not None
    expected = 2 * 1.96 * np.sqrt(0.25 / 40)
    assert interval.high - interval.low == pytest.approx(expected, rel=0.1)
    assert interval.units == 40


def test_a_sequence_is_long_from_five_frames() -> None:
    judged = judged_frames(
        np.ones(9), np.full(9, POLYP), polyps=("four", "five"), polyp=[0] * 4 + [1] * 5
    )
    long = polyp_metrics(judged, flagged_at(judged.score, 1.0))[1]
    assert (long.numerator, long.denominator) == (1, 1)
