"""``capsieve.flag``: other flags for screened exams."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

import capsieve
from capsieve import FileError, OccupiedError, ParameterError
from capsieve.screening import flagging
from capsieve.store.record import Record
from support.exams import read_frames, table_bytes, write_exam_images
from support.fake_detector import FakeDetector

FRAMES = 40


@pytest.fixture
def screened(tmp_path):
    write_exam_images(tmp_path / "source" / "a", FRAMES)
    (exam,) = capsieve.screen(tmp_path / "source", tmp_path / "out", workers=1)
    return exam


def record(exam: capsieve.ScreenedExam) -> Record:
    assert exam.record is not None
    return exam.record


def stored(folder):
    """Return everything in an exam's folder except the times of the run."""
    content = json.loads((folder / "exam.json").read_text())
    return table_bytes(folder), content | {"run": None}


@pytest.mark.parametrize("rule", [{"read": "10%"}, {"read": 3}, {"threshold": 71.5}])
def test_the_result_is_that_of_screening_with_the_rule(screened, tmp_path, rule):
    (expected,) = capsieve.screen(tmp_path / "source", tmp_path / "other", workers=1, **rule)
    (flagged,) = capsieve.flag(screened.folder.parent, **rule)
    assert flagged.error is None
    assert stored(flagged.folder) == stored(expected.folder)
    page = (flagged.folder / "report.html").read_text()
    assert page != ""


def test_flags_can_be_changed_back(screened):
    before = stored(screened.folder)
    capsieve.flag(screened.folder, read="5%")
    assert stored(screened.folder) != before
    capsieve.flag(screened.folder, threshold=37)
    assert stored(screened.folder) == before


def test_an_exam_can_be_flagged_into_another_folder(screened, tmp_path):
    before = stored(screened.folder)
    (flagged,) = capsieve.flag(screened.folder.parent, read=3, to=tmp_path / "second")
    assert flagged.folder == tmp_path / "second" / "a"
    assert stored(screened.folder) == before
    assert read_frames(flagged.folder)["flagged"].to_pylist().count(True) == 3
    (refused,) = capsieve.flag(screened.folder.parent, read=4, to=tmp_path / "second")
    assert isinstance(refused.error, OccupiedError)


def test_screening_again_accepts_the_changed_flags(screened, tmp_path):
    capsieve.flag(screened.folder, read=3)
    (again,) = capsieve.screen(tmp_path / "source", tmp_path / "out", workers=1)
    assert again.complete
    assert not again.new
    assert record(again)["flagging"]["rule"] == "count"


def test_without_the_source_flags_and_events_change_and_thumbnails_are_missing(screened, tmp_path):
    capsieve.flag(screened.folder, read=3)
    shutil.rmtree(tmp_path / "source")
    (flagged,) = capsieve.flag(screened.folder, read=5)
    assert flagged.error is None
    assert record(flagged)["frame_counts"]["flagged"] == 5
    thumbnails = pq.read_table(flagged.folder / "thumbnails.parquet")
    assert thumbnails.num_rows == 3
    assert any("thumbnails of 2 of 5" in warning for warning in record(flagged)["warnings"])


def test_evidence_maps_of_frames_that_stay_flagged_are_kept(tmp_path):
    write_exam_images(tmp_path / "source" / "a", FRAMES)
    (exam,) = capsieve.screen(
        tmp_path / "source", tmp_path / "out", detector=FakeDetector(), read=10, workers=1
    )
    before = {row["frame"]: row["evidence"] for row in thumbnail_rows(exam.folder)}
    capsieve.flag(exam.folder, read=5)
    after = {row["frame"]: row["evidence"] for row in thumbnail_rows(exam.folder)}
    assert len(after) == 5
    assert all(before[frame] == drawn for frame, drawn in after.items())
    assert any(after.values())


@pytest.mark.parametrize("name", ["another.onnx", "offered by a package"])
def test_new_frames_get_the_evidence_maps_of_any_detector(tmp_path, monkeypatch, name):
    detector = FakeDetector()
    monkeypatch.setattr(FakeDetector, "name", name)
    monkeypatch.setattr(flagging, "load_detector", lambda name, parameters: detector)
    write_exam_images(tmp_path / "source" / "a", FRAMES)
    folder = tmp_path / "out" / "a"
    capsieve.screen(tmp_path / "source", tmp_path / "out", detector=detector, read=2, workers=1)
    capsieve.flag(folder, read=5)
    flagged = {row["frame"]: row["evidence"] for row in thumbnail_rows(folder)}
    events = pq.read_table(folder / "events.parquet")["best_frame"].to_pylist()
    assert len(flagged) == 5
    assert all(flagged[frame] for frame in events)


def thumbnail_rows(folder):
    return pq.read_table(folder / "thumbnails.parquet").to_pylist()


def test_a_protected_exam_is_not_changed_in_place(screened, tmp_path):
    before = stored(screened.folder)
    (refused,) = capsieve.flag(screened.folder, read=4, protected={"a"})
    assert isinstance(refused.error, OccupiedError)
    assert "-o" in str(refused.error)
    assert stored(screened.folder) == before
    (other,) = capsieve.flag(screened.folder, read=4, to=tmp_path / "second", protected={"a"})
    assert other.error is None


@pytest.mark.parametrize("to", ["out", "out/a", "out/a/new", "out/b/.."])
def test_the_folders_of_the_results_are_refused_as_target(screened, tmp_path, to):
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileError):
        capsieve.flag(screened.folder, read=3, to=tmp_path / to)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_exam_does_not_replace_the_folder_of_all_exams(tmp_path):
    write_exam_images(tmp_path / "source" / "out", 12)
    capsieve.screen(tmp_path / "source", tmp_path / "out", workers=1)
    with pytest.raises(FileError):
        capsieve.flag(tmp_path / "out", read=3, to=tmp_path)


def test_a_damaged_exam_does_not_stop_the_others(tmp_path):
    for name in ("a", "b"):
        write_exam_images(tmp_path / "source" / name, 12)
    capsieve.screen(tmp_path / "source", tmp_path / "out", workers=1)
    (tmp_path / "out" / "a" / "frames.parquet").write_bytes(b"PAR1")
    first, second = capsieve.flag(tmp_path / "out", read=2)
    assert isinstance(first.error, FileError)
    assert second.error is None


@pytest.mark.parametrize("rule", [{}, {"read": 3, "threshold": 2}, {"read": "0%"}])
def test_a_wrong_rule_is_rejected(screened, rule):
    with pytest.raises(ParameterError):
        capsieve.flag(screened.folder, **rule)


def test_a_folder_without_exams_is_rejected(tmp_path):
    with pytest.raises(FileError):
        capsieve.flag(tmp_path, read=3)


@pytest.mark.parametrize("folders", [{"out": ""}, {"to": ""}])
def test_an_empty_folder_name_is_rejected(screened, folders):
    with pytest.raises(ParameterError):
        capsieve.flag(**{"out": screened.folder, "read": 3} | folders)
