"""A detector other than the paper's goes through the whole house."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import capsieve
from capsieve import Parameters
from capsieve.calibration.target import Target
from capsieve.engine.calibrating import calibrate
from capsieve.engine.screening import screen
from capsieve.store.reader import read_frames
from capsieve.store.record import read_record
from fake_detector import NAMES, FakeDetector
from sample_exams import write_exam_images

EXAMS = ("a", "b", "c")
FRAMES = 40


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Three exams, screened; the frames with a polyp are labelled so."""
    folder = tmp_path_factory.mktemp("others")
    for number, exam in enumerate(EXAMS):
        write_exam_images(folder / "exams" / exam, FRAMES + number)
    screen([folder / "exams"], folder / "results", detector=FakeDetector(), workers=1)
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
    parts = [read_frames(study / "results" / exam, ["score"])["score"] for exam in EXAMS]
    return np.concatenate([part.to_numpy() for part in parts])


def test_the_table_holds_what_the_detector_looked_at(study):
    record = read_record(study / "results" / "a")
    table = read_frames(study / "results" / "a", ["score", "values", "texture_max", "radius_max"])
    assert record.get("value_names") == list(NAMES)
    values = np.array(table["values"].to_pylist())
    np.testing.assert_allclose(values[:, 0] / 255, table["score"].to_numpy(), rtol=1e-6)
    assert table["texture_max"].null_count == table["radius_max"].null_count == table.num_rows


def test_the_ledger_counts_low_scores_and_adds_up(study, scores):
    ledgers = [read_record(study / "results" / exam)["ledger"] for exam in EXAMS]
    assert all(list(ledger["rejected"]) == ["score-low"] for ledger in ledgers)
    assert sum(ledger["flagged"] for ledger in ledgers) == np.count_nonzero(scores >= 0.4)
    assert sum(ledger["rejected"]["score-low"] for ledger in ledgers) == (scores < 0.4).sum()


def test_events_point_where_the_detector_points(study):
    events = pq.read_table(study / "results" / "a" / "events.parquet").to_pylist()
    frames = pq.read_table(study / "results" / "a" / "frames.parquet").to_pylist()
    assert events
    for event in events:
        best = frames[event["best_frame"]]
        assert [event[name] for name in ("row", "col", "radius")] == [
            best[name] for name in ("row", "col", "radius")
        ]


def test_an_exam_is_compared_with_what_the_detector_was_calibrated_on(study):
    assert list(read_record(study / "results" / "a")["range"]["measures"]) == ["brightness"]


def test_tables_of_an_earlier_version_are_read_without_the_values(study, tmp_path):
    table = pq.read_table(study / "results" / "a" / "frames.parquet").drop(["values"])
    pq.write_table(table, tmp_path / "frames.parquet")
    read = read_frames(tmp_path, ["frame", "values", "score"])
    assert read.column_names == ["frame", "values", "score"]
    assert read["values"].null_count == table.num_rows


def test_the_page_shows_probabilities_and_the_evidence_map(study):
    page = (study / "results" / "a" / "report.html").read_text(encoding="utf-8")
    shown, _, provenance = page.partition('id="provenance"')
    for word in ("R<sub>P</sub>", "R_max", "best-fit ball", "too smooth", "Too busy"):
        assert word not in shown, word
    assert "where the detector points" in shown
    assert "probability of 40.0 %: flagged from here" in shown
    assert 'class="map" src="data:image/png;base64,' in shown
    assert "learned (the model that capsieve ships with)" in provenance


def test_the_threshold_of_the_screening_is_the_stated_one(study):
    evaluation = capsieve.evaluate(study / "results", study / "labels.csv", rounds=100)
    assert evaluation.points[0].key == "screened"
    assert evaluation.points[0].threshold == 0.4
    assert [histogram.key for histogram in evaluation.histograms] == ["score"]
    assert "reasons" not in [table.key for table in evaluation.tables]
    assert not [m.key for m in evaluation.metrics if m.key.startswith("preselection")]


@pytest.mark.parametrize(
    "target", [Target(), Target("frames", 9), Target("sensitivity", 0.8)], ids=lambda t: t.kind
)
def test_screening_with_the_calibrated_file_flags_what_was_promised(
    study, scores, tmp_path, target
):
    found = calibrate(
        study / "results", study / "labels.csv", tmp_path / "cal", target=target, rounds=100
    )
    parameters = Parameters.load(tmp_path / "cal" / "calibrated.toml")
    assert parameters.score_threshold == found.threshold
    assert parameters.radius_threshold == Parameters().radius_threshold
    screened = screen(
        [study / "exams"], tmp_path / "again", detector=FakeDetector(parameters), workers=1
    )
    flagged = sum(exam.record["ledger"]["flagged"] for exam in screened if exam.record)
    assert flagged == np.count_nonzero(scores >= found.threshold)
    share = found.metric("effort.all.share_of_frames")
    assert flagged == share.numerator


def test_the_files_of_a_calibration_speak_of_the_score(study, tmp_path):
    calibrate(study / "results", study / "labels.csv", tmp_path, rounds=100)
    content = json.loads((tmp_path / "calibration.json").read_text())
    assert content["threshold"]["screened"] == 0.4
    assert content["threshold"]["highest"] is None
    for name in ("calibration.md", "calibration.csv", "calibration.json"):
        text = (tmp_path / name).read_text()
        assert "R_P" not in text, name
    comments = (tmp_path / "calibrated.toml").read_text().partition("schema =")[0]
    assert "R_P" not in comments
    assert "--detector learned" in comments


@pytest.mark.slow
def test_the_pages_of_an_evaluation_need_no_radius(study, tmp_path):
    capsieve.evaluate(study / "results", study / "labels.csv", tmp_path, rounds=100)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for word in ("best-fit ball", "too small", "Pre-selection, and"):
        assert word not in page, word
    assert (tmp_path / "figures" / "histogram-score.svg").exists()
    assert not (tmp_path / "figures" / "gallery-texture.png").exists()


def test_an_object_with_a_name_and_a_number_as_score_screens_an_exam(tmp_path):
    class Brightness:
        name = "brightness"
        score_threshold = 90.0

        def score(self, frame, field_of_view=None):
            return frame.mean()

    write_exam_images(tmp_path / "exams" / "a", 4)
    (exam,) = screen([tmp_path / "exams"], tmp_path / "out", detector=Brightness(), workers=1)  # pyright: ignore[reportArgumentType]
    table = pq.read_table(exam.folder / "frames.parquet", columns=["score"])
    assert exam.complete
    assert len(table) == 4
    assert min(table["score"].to_pylist()) > 0
