"""Screening by the timeline: who is flagged, why, and what stays as it was measured."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from capsieve import FileError, OccupiedError, ParameterError, Parameters
from capsieve.calibration.target import Target
from capsieve.engine import exam_run
from capsieve.engine.calibrating import calibrate
from capsieve.engine.screening import screen
from capsieve.learned.timeline import timeline_scores
from capsieve.parameters import FlagBy
from capsieve.store.record import read_record
from fake_detector import FakeDetector
from sample_exams import TABLES, write_exam_video

DECIDED = {"label", "reason", "event", "repeats"}
"""The columns of a frame that hang on what flags go by."""


def detector(threshold: float = 0.9, flag_by: FlagBy = "timeline") -> FakeDetector:
    return FakeDetector(Parameters(score_threshold=threshold, flag_by=flag_by))


def write_exam(folder, scores):
    """Write grey frames that the detector gives these scores."""
    folder.mkdir(parents=True)
    for number, score in enumerate(scores):
        grey = np.full((40, 40, 3), round(255 * score), np.uint8)
        Image.fromarray(grey).save(folder / f"frame{number}.png")
    return folder


def screened(source: Path, out: Path, **given: Any) -> Any:
    options: dict[str, Any] = {
        "detector": detector(),
        "field_of_view": "whole",
        "workers": 1,
    } | given
    (exam,) = screen([source], out, **options)
    if exam.error is not None:
        raise exam.error
    return exam


def rows_of(exam):
    return pq.read_table(exam.folder / "frames.parquet").to_pylist()


def run_of(middle, *, around=10):
    return [0.1] * around + list(middle) + [0.1] * around


def test_a_high_frame_among_low_ones_is_dropped_and_the_reason_says_so(tmp_path):
    exam = screened(write_exam(tmp_path / "exam", run_of([0.95])), tmp_path / "out")
    row = rows_of(exam)[10]
    assert (row["label"], row["reason"], row["event"]) == ("normal", "timeline-low", None)
    assert row["score"] == pytest.approx(0.95, abs=0.01)
    assert exam.record["ledger"]["rejected"] == {"score-low": 20, "timeline-low": 1}
    assert exam.record["ledger"]["flagged"] == exam.record["ledger"]["events"] == 0


def test_weak_neighbours_lift_each_other_into_one_event(tmp_path):
    exam = screened(write_exam(tmp_path / "exam", run_of([0.8] * 6)), tmp_path / "out")
    rows = rows_of(exam)
    flagged = [row for row in rows if row["label"] == "polyp"]
    assert {row["frame"] for row in flagged} >= set(range(10, 16))
    assert all(row["score"] < 0.9 <= row["timeline_score"] for row in flagged)
    assert {(row["reason"], row["event"]) for row in flagged} == {("polyp", 1)}
    (event,) = pq.read_table(exam.folder / "events.parquet").to_pylist()
    assert event["score"] == max(row["score"] for row in flagged)
    assert event["frames"] == exam.record["ledger"]["flagged"] == len(flagged)


@pytest.mark.parametrize(("score", "label"), [(0.85, "normal"), (0.95, "polyp")])
def test_a_frame_without_neighbours_is_neither_lifted_nor_dropped(tmp_path, score, label):
    exam = screened(write_exam(tmp_path / "exam", [score]), tmp_path / "out")
    assert [row["label"] for row in rows_of(exam)] == [label]


def test_what_was_measured_on_a_frame_stays_as_it_was(tmp_path):
    source = write_exam(tmp_path / "exam", run_of([0.8, 0.95, 0.8, 0.8, 0.8]))
    one = rows_of(screened(source, tmp_path / "one", detector=detector(flag_by="frame")))
    two = rows_of(screened(source, tmp_path / "two"))
    measured = one[0].keys() - DECIDED
    assert [[row[name] for name in measured] for row in one] == [
        [row[name] for name in measured] for row in two
    ]
    assert [row["label"] for row in one] != [row["label"] for row in two]


def test_every_head_has_a_timeline_of_its_own(tmp_path):
    scores = {0: run_of([0.8] * 6), 1: run_of([0.3, 0.97, 0.3, 0.3, 0.97])}
    for head, values in scores.items():
        write_exam(tmp_path / "exam" / f"head-{head}", values)
    exam = screened(tmp_path / "exam", tmp_path / "out")
    rows = rows_of(exam)
    for head in scores:
        own = [row for row in rows if row["head"] == head]
        alone = timeline_scores([row["score"] for row in own], frame=range(len(own)))
        assert [row["label"] == "polyp" for row in own] == (alone >= 0.9).tolist()
    assert exam.record["heads"]["0"]["flagged"] > 0 == exam.record["heads"]["1"]["flagged"]


def test_lifted_frames_have_pictures_and_reasons_like_all_flagged_ones(tmp_path):
    source = write_exam(tmp_path / "exam", run_of([0.85, 0.8, 0.85, 0.85, 0.85]))
    exam = screened(source, tmp_path / "out")
    flagged = [row for row in rows_of(exam) if row["label"] == "polyp"]
    # Copies are known by a tiny picture, which a worker makes of frames that it flags itself.
    assert [row["repeats"] for row in flagged] == [None, None, None, 12, 12]
    page = exam.report.read_text(encoding="utf-8")
    assert page.count('src="data:image/jpeg;base64,') == 3
    assert 'class="map" src="data:image/png;base64,' in page
    assert "mean brightness" in page


def test_the_page_tells_what_the_neighbours_did(tmp_path):
    source = write_exam(tmp_path / "exam", [*run_of([0.8] * 6), *run_of([0.95])])
    page = screened(source, tmp_path / "out").report.read_text(encoding="utf-8")
    assert "6 frames are flagged although below 90.0 % alone" in page
    assert "1 frame is not flagged although at or above 90.0 % alone" in page
    assert "80.0 % alone, below 90.0 %; its neighbours in time lift it to" in page
    assert "probability of a polyp, with its neighbours" in page


def test_the_order_is_taken_for_time_only_with_a_warning(tmp_path):
    pictures = screened(write_exam(tmp_path / "exam", run_of([0.8] * 6)), tmp_path / "out")
    (warning,) = [each for each in pictures.record["warnings"] if "timeline" in each]
    assert "the order of the frames is taken for time" in warning
    page = pictures.report.read_text(encoding="utf-8")
    assert page.index("the order of the frames is taken") < page.index('id="timeline"')
    film = screened(write_exam_video(tmp_path / "film.mp4", 12), tmp_path / "out")
    assert not [each for each in film.record["warnings"] if "timeline" in each]


def test_flags_by_frames_leave_the_record_and_the_tables_as_they_were(tmp_path):
    source = write_exam(tmp_path / "exam", run_of([0.8, 0.95, 0.95]))
    exam = screened(source, tmp_path / "out", detector=FakeDetector())
    assert "flag_by" not in (exam.folder / "exam.json").read_text()
    again = screened(source, tmp_path / "out", parameters=Parameters(), detector=FakeDetector())
    assert not again.anew
    page = exam.report.read_text(encoding="utf-8")
    assert "neighbours" not in page


def test_results_of_the_other_way_are_left_alone(tmp_path):
    source = write_exam(tmp_path / "exam", run_of([0.8] * 6))
    first = screened(source, tmp_path / "out")
    assert read_record(first.folder)["settings"]["flag_by"] == "timeline"
    assert not screened(source, tmp_path / "out").anew
    with pytest.raises(OccupiedError, match=r"flag_by: timeline there, nothing now"):
        screened(source, tmp_path / "out", detector=detector(flag_by="frame"))


def test_an_interrupted_run_goes_on_to_the_same_tables(tmp_path, monkeypatch):
    source = write_exam(tmp_path / "exam", run_of([0.8] * 6))
    whole = screened(source, tmp_path / "whole")
    with monkeypatch.context() as broken:
        broken.setattr(exam_run, "finish", lambda *_, **__: (_ for _ in ()).throw(FileError("no")))
        with pytest.raises(FileError):
            screened(source, tmp_path / "out")
    exam = screened(source, tmp_path / "out")
    assert exam.record["run"]["frames_by_an_earlier_run"] == 26
    for name in TABLES:
        assert (exam.folder / name).read_bytes() == (whole.folder / name).read_bytes()


def test_a_score_that_is_no_probability_is_refused_before_anything_begins(tmp_path):
    source = write_exam(tmp_path / "exam", [0.5])
    with pytest.raises(ParameterError, match=r"'paper' is not the probability of a polyp"):
        screen([source], tmp_path / "out", parameters=Parameters(flag_by="timeline"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("target", [Target(), Target("sensitivity", 1.0)], ids=lambda t: t.kind)
def test_screening_with_a_calibrated_timeline_flags_what_was_promised(tmp_path, target):
    rng = np.random.default_rng(5)
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "frame", "label", "polyp", "patient"])
        for exam in ("a", "b"):
            scores = rng.uniform(0.05, 0.75, 60)
            scores[20:26] += 0.2
            write_exam(tmp_path / "exams" / exam, scores)
            for frame in range(60):
                polyp = 20 <= frame < 26
                writer.writerow(
                    [exam, frame, *(("polyp", exam) if polyp else ("normal", "")), exam]
                )
    options: Any = {"field_of_view": "whole", "workers": 1}
    screen([tmp_path / "exams"], tmp_path / "results", detector=FakeDetector(), **options)
    found = calibrate(
        tmp_path / "results",
        tmp_path / "labels.csv",
        tmp_path / "cal",
        target=target,
        score="timeline",
        rounds=100,
    )
    parameters = Parameters.load(tmp_path / "cal" / "calibrated.toml")
    assert (parameters.flag_by, parameters.score_threshold) == ("timeline", found.threshold)
    content = json.loads((tmp_path / "cal" / "calibration.json").read_text())
    assert content["settings"]["score"] == "timeline"
    assert content["threshold"]["screened_by"] == "frame"
    text = (tmp_path / "cal" / "calibrated.toml").read_text().replace("\n# ", " ")
    assert "a threshold of 0.4 on the frame's own score, and now on the timeline score" in text
    again = screen(
        [tmp_path / "exams"], tmp_path / "again", detector=FakeDetector(parameters), **options
    )
    flagged = sum(exam.record["ledger"]["flagged"] for exam in again if exam.record)
    assert 0 < flagged == found.metric("effort.all.share_of_frames").numerator
