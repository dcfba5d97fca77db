"""Evaluation by the timeline score: what is judged, what is refused, what is said."""

import csv

import numpy as np
import pytest

import capsieve
from capsieve.errors import FileError
from capsieve.learned.timeline import timeline_scores
from made_results import write_results

FRAMES = 120
EXAMS = ("a", "b", "c")
DETECTOR = {"name": "learned", "threshold": 0.5, "score": "probability"}


def with_nulls(values):
    return [None if np.isnan(value) else value for value in values]


def write_study(folder, *, timed=True, timeline=True):
    """Write exams with a polyp in view for ten frames, and single high scores beside it."""
    rng = np.random.default_rng(3)
    rows = []
    for exam in EXAMS:
        score = rng.uniform(0.1, 0.4, FRAMES)
        score[20:30] = rng.uniform(0.5, 0.8, 10)
        score[40:110:7] = 0.85
        score[115] = np.nan
        time = np.arange(FRAMES) / 4 if timed else None
        smooth = timeline_scores(score, frame=np.arange(FRAMES))
        write_results(
            folder / "results" / exam,
            score=np.nan_to_num(score),
            time=time,
            threshold=0.5,
            columns={
                "score": with_nulls(score),
                "timeline_score": with_nulls(smooth) if timeline else None,
                "radius_max": None,
                "texture_max": None,
            },
            detector=DETECTOR,
        )
        for frame in range(FRAMES):
            polyp = 20 <= frame < 30
            name = f"{exam}-1" if polyp else ""
            rows.append([exam, frame, "polyp" if polyp else "normal", name, exam])
    with (folder / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "frame", "label", "polyp", "patient"])
        writer.writerows(rows)
    return folder / "results", folder / "labels.csv"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("timeline"))


def test_the_timeline_score_takes_the_place_of_the_frames(study):
    by_frame = capsieve.evaluate(*study, rounds=100)
    by_timeline = capsieve.evaluate(*study, rounds=100, score="timeline")
    score = by_frame.judged.score
    expected = np.concatenate(
        [timeline_scores(part, frame=np.arange(FRAMES)) for part in np.split(score, len(EXAMS))]
    )
    np.testing.assert_array_equal(by_timeline.judged.score, expected)
    judged = by_timeline.judged
    np.testing.assert_array_equal(judged.flagged, expected >= 0.5)
    reasons = [judged.reasons[code] if code >= 0 else None for code in judged.reason]
    assert [name == "polyp" for name in reasons] == judged.flagged.tolist()
    assert reasons.count(None) == np.isnan(score).sum() == len(EXAMS)
    assert by_timeline.settings["score"] == "timeline"
    assert by_frame.settings["score"] == "frame"


def test_single_high_scores_are_alarms_of_the_frame_score_alone(study):
    values = {}
    for score in ("frame", "timeline"):
        evaluation = capsieve.evaluate(*study, rounds=100, score=score)
        assert evaluation.metric("polyps.all.sensitivity").value == 1
        values[score] = evaluation.metric("frames.all.specificity").value
    assert values["frame"] < 0.95
    assert values["timeline"] > 0.97


def test_the_screened_threshold_is_said_to_be_of_the_frames(study):
    (point,) = (
        point
        for point in capsieve.evaluate(*study, rounds=100, score="timeline").points
        if point.key == "screened"
    )
    assert point.threshold == 0.5
    assert "on the timeline score" in point.how


def test_a_study_is_compared_with_itself_by_both_scores(study):
    results, labels = study
    evaluation = capsieve.evaluate(results, labels, rounds=100, score="timeline", against=results)
    assert evaluation.comparison is not None
    assert evaluation.comparison.name == "results by timeline"
    assert evaluation.comparison.other == "results by frame"


def test_results_without_a_timeline_are_refused(tmp_path):
    results, labels = write_study(tmp_path, timeline=False)
    with pytest.raises(FileError, match="the frames of a have no timeline score"):
        capsieve.evaluate(results, labels, rounds=100, score="timeline")


def test_the_order_of_files_is_not_taken_for_time_in_silence(study, tmp_path):
    told = capsieve.evaluate(*write_study(tmp_path, timed=False), rounds=100, score="timeline")
    assert any("takes the order of the frames for time" in text for text in told.warnings)
    timed = capsieve.evaluate(*study, rounds=100, score="timeline")
    assert not any("for time" in text for text in timed.warnings)
