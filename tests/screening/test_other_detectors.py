"""Screening, evaluation and calibration with a detector other than the paper's."""

import csv
import json
import shutil
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import capsieve
from capsieve.frame_table import FlagRule
from support.exams import read_frames, write_exam_images
from support.fake_detector import NAMES, AbortingDetector, FakeDetector
from support.unfinished import write_unfinished

EXAMS = ("a", "b", "c")
FRAMES = 40


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Three screened exams and their labels."""
    folder = tmp_path_factory.mktemp("others")
    for number, exam in enumerate(EXAMS):
        write_exam_images(folder / "exams" / exam, FRAMES + number)
    capsieve.screen([folder / "exams"], folder / "results", detector=FakeDetector(), workers=1)
    with (folder / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "frame", "label", "polyp", "patient"])
        for exam in EXAMS:
            for frame in range(FRAMES):
                polyp = frame % 20 < 6
                name = f"{exam}-{frame // 20}" if polyp else ""
                writer.writerow([exam, frame, "polyp" if polyp else "normal", name, exam])
    return folder


@pytest.fixture(scope="module")
def scores(study):
    parts = [read_frames(study / "results" / exam)["score"] for exam in EXAMS]
    return np.concatenate([part.to_numpy() for part in parts])


def read_record(exam):
    return json.loads((exam / "exam.json").read_text())


def test_the_table_contains_the_named_values_of_the_detector(study):
    table = read_frames(study / "results" / "a")
    assert read_record(study / "results" / "a")["value_names"] == list(NAMES)
    values = np.array(table["values"].to_pylist())
    np.testing.assert_allclose(values[:, 0] / 255, table["score"].to_numpy(), rtol=1e-6)
    assert table["texture_max"].null_count == table["radius_max"].null_count == table.num_rows


def test_frames_below_the_threshold_are_counted_as_score_low(study, scores):
    all_counts = [read_record(study / "results" / exam)["frame_counts"] for exam in EXAMS]
    assert all(list(counts["rejected"]) == ["score-low"] for counts in all_counts)
    assert sum(counts["flagged"] for counts in all_counts) == np.count_nonzero(scores >= 0.4)
    assert sum(counts["rejected"]["score-low"] for counts in all_counts) == (scores < 0.4).sum()


def test_an_event_has_the_location_of_its_best_frame(study):
    events = pq.read_table(study / "results" / "a" / "events.parquet").to_pylist()
    frames = read_frames(study / "results" / "a").to_pylist()
    assert events
    for event in events:
        best = frames[event["best_frame"]]
        assert [event[name] for name in ("row", "col", "radius")] == [
            best[name] for name in ("row", "col", "radius")
        ]


def test_an_exam_is_compared_with_the_reference_range_of_the_detector(study):
    assert list(read_record(study / "results" / "a")["range"]["measures"]) == ["brightness"]


def test_the_page_shows_probabilities_and_the_evidence_map(study):
    page = (study / "results" / "a" / "report.html").read_text(encoding="utf-8")
    shown, _, provenance = page.partition('id="provenance"')
    for symbol in ("R<sub>P</sub>", "R_max"):
        assert symbol not in shown, symbol
    assert "40.0 %" in shown
    assert 'class="map" src="data:image/png;base64,' in shown
    assert FakeDetector.name in provenance


def test_the_evaluation_uses_the_threshold_of_the_screening(study):
    evaluation = capsieve.evaluate(study / "results", study / "labels.csv", bootstrap_samples=100)
    assert evaluation.points[0].key == "screened"
    assert evaluation.points[0].rule == FlagRule("threshold", 0.4)
    assert [histogram.key for histogram in evaluation.histograms] == ["score"]
    assert "reasons" not in [table.key for table in evaluation.tables]
    assert not [m.key for m in evaluation.metrics if m.key.startswith("preselection")]


@pytest.mark.parametrize("target", [{"specificity": 90}, {"sensitivity": 80}])
def test_screening_with_the_calibrated_threshold_flags_the_frames_from_it_on(
    study, scores, tmp_path, target
):
    found = capsieve.calibrate(study / "results", study / "labels.csv", tmp_path / "cal", **target)
    screened = capsieve.screen(
        [study / "exams"],
        tmp_path / "again",
        detector=FakeDetector(),
        parameters=capsieve.Parameters.load(tmp_path / "cal" / "calibrated.toml"),
        workers=1,
    )
    flagged = sum(exam.record["frame_counts"]["flagged"] for exam in screened if exam.record)
    assert flagged == np.count_nonzero(scores >= found.value)
    to_read = found.metric("effort.frames_per_exam").numerator
    assert to_read is not None
    assert 0 < to_read <= flagged


def test_the_files_of_a_calibration_do_not_contain_the_papers_threshold(study, tmp_path):
    found = capsieve.calibrate(study / "results", study / "labels.csv", tmp_path)
    content = json.loads((tmp_path / "calibration.json").read_text())
    assert content["value"] == found.value
    assert "R_P" not in (tmp_path / "calibration.json").read_text()


@pytest.mark.slow
def test_the_report_of_an_evaluation_has_no_figures_of_the_paper(study, tmp_path):
    capsieve.evaluate(study / "results", study / "labels.csv", tmp_path, bootstrap_samples=100)
    assert (tmp_path / "report.html").is_file()
    assert (tmp_path / "figures" / "histogram-score.svg").exists()
    assert not (tmp_path / "figures" / "gallery-texture.png").exists()


def test_an_object_with_a_name_and_a_number_as_score_screens_an_exam(tmp_path):
    class Brightness:
        name = "brightness"
        score_threshold = 90.0

        def score(self, frame, field_of_view=None):
            return frame.mean()

    write_exam_images(tmp_path / "exams" / "a", 4)
    detector: Any = Brightness()
    (exam,) = capsieve.screen([tmp_path / "exams"], tmp_path / "out", detector=detector, workers=1)
    table = read_frames(exam.folder)
    assert exam.complete
    assert len(table) == 4
    assert min(table["score"].to_pylist()) > 0


class Unbatched:
    """A detector whose batches always fail."""

    name = "unbatched"
    score_threshold = 90.0

    def score(self, frame, field_of_view=None):
        return frame.mean()

    def score_batch(self, frames, fields_of_view):
        raise RuntimeError("no batches here")


def test_frames_that_were_scored_alone_are_a_warning_also_after_new_flags(tmp_path):
    exam, out = write_exam_images(tmp_path / "exam", 4), tmp_path / "out"
    detector: Any = Unbatched()
    (screened,) = capsieve.screen(exam, out, detector=detector, workers=1)
    (flagged,) = capsieve.flag(out, read="50%")
    for done in (screened, flagged):
        assert done.record
        (warning,) = [text for text in done.record["warnings"] if "score_batch" in text]
        assert "no batches here" in warning
        assert "4 frames" in warning


@pytest.mark.slow
def test_the_error_output_of_workers_that_died_is_next_to_the_unfinished_segments(tmp_path):
    exam = write_exam_images(tmp_path / "exam", 4)
    (done,) = capsieve.screen(exam, tmp_path / "out", detector=AbortingDetector(), workers=2)
    assert done.record
    assert done.record["frame_counts"]["unscreened"] == 4
    assert "assertion failed" in done.record["problems"][0]["what"]
    (file,) = (done.folder / ".unfinished").glob("*.errors.txt")
    assert file.read_text().startswith("first line\nassertion failed\n")
    (finished,) = capsieve.screen(exam, tmp_path / "out", detector=FakeDetector(), workers=1)
    assert finished.complete
    assert not file.exists()


class Spots:
    """A detector whose attributes determine its scores, without an identity."""

    name = "spots"
    score_threshold = 100.0

    def __init__(self, level: int) -> None:
        self.level = level

    def score(self, frame: Any, field_of_view: object = None) -> float:
        return float((frame > self.level).mean())


def test_nothing_of_a_detector_without_an_identity_is_used_again(tmp_path):
    exam, out = write_exam_images(tmp_path / "exam", 8), tmp_path / "out"
    (first,) = capsieve.screen(exam, out, detector=Spots(50), workers=1)
    assert first.error is None
    stored = read_frames(first.folder)["score"].to_pylist()
    (second,) = capsieve.screen(exam, out, detector=Spots(200), workers=1)
    assert "identity" in str(second.error)
    assert read_frames(first.folder)["score"].to_pylist() == stored
    (third,) = capsieve.screen(exam, out, detector=Spots(200), workers=1, overwrite=True)
    assert third.new
    assert read_frames(first.folder)["score"].to_pylist() != stored


def test_unfinished_work_of_a_detector_without_an_identity_is_not_continued(tmp_path):
    exam, out = write_exam_images(tmp_path / "exam", 8), tmp_path / "out"
    (done,) = capsieve.screen(exam, out, detector=Spots(50), workers=1)
    assert done.record
    plan = dict(done.record["identity"]) | {"capsieve": capsieve.__version__}
    shutil.rmtree(done.folder)
    write_unfinished(done.folder, plan)
    (refused,) = capsieve.screen(exam, out, detector=Spots(50), workers=1)
    assert "identity" in str(refused.error)
