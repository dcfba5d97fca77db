"""A robustness study from files to counts, against one frame and one setting at a time."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from capsieve.engine import robustness_run
from capsieve.engine.robustness_run import study_robustness
from capsieve.errors import FileError, ParameterError, WorkerError
from capsieve.frames import FieldOfView
from capsieve.paper.algorithm import analyze
from capsieve.parameters import Parameters
from support.exams import exam_frame, write_exam_images, write_exam_video

FRAMES = 40
# Under these the frames of support.exams fall on both sides.
BASE = Parameters(texture_high=60.0, radius_threshold=71)


def label(number: int) -> str:
    """What the labels call a frame: polyps, normal frames, some of neither."""
    return "polyp" if number % 20 < 6 else "other" if number % 20 == 7 else "normal"


def write_labels(path, exams, *, by="frame", skip=()):
    """Write labels of frames 0..FRAMES-1 of each exam."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", by, "label", "polyp", "patient"])
        for exam in exams:
            for number in range(FRAMES):
                if number in skip:
                    continue
                key = number if by == "frame" else f"frame{number}.png"
                polyp = f"{exam}-{number // 20}" if label(number) == "polyp" else ""
                writer.writerow([exam, key, label(number), polyp, exam])
    return path


@pytest.fixture
def study(tmp_path):
    """Two exams of images, and their labels."""
    for exam in ("a", "b"):
        write_exam_images(tmp_path / "exams" / exam, FRAMES)
    return tmp_path / "exams", write_labels(tmp_path / "labels.csv", "ab", by="file")


def by_hand(setting: Parameters, numbers=range(FRAMES), exams: int = 2):
    """Counts of one setting: normal frames not flagged, polyp frames flagged, polyps found."""
    flagged = {n: analyze(exam_frame(n), setting).label == "polyp" for n in numbers}
    passed = sum(label(n) == "normal" and not flagged[n] for n in numbers)
    hits = [n for n in numbers if label(n) == "polyp" and flagged[n]]
    return exams * passed, exams * len(hits), exams * len({n // 20 for n in hits})


def test_counts_are_those_of_every_frame_under_every_setting(study):
    names = ["sigma1", "sigma2", "M_L", "S_U"]
    found = study_robustness(*study, parameters=BASE, names=names, field_of_view="whole", workers=1)
    settings = [BASE, *(change.parameters for change in found.changes)]
    counts = [
        (r.specificity.count, r.sensitivity_frames.count, r.sensitivity_polyps.count)
        for r in [found.base_rates, *found.rates]
    ]
    assert counts == [by_hand(setting) for setting in settings]
    assert len(set(counts)) > 1, "the changes must change something"
    assert found.base_rates.specificity.of == 2 * 26
    assert found.base_rates.sensitivity_frames.of == 2 * 12
    assert found.base_rates.sensitivity_polyps.of == 4
    assert found.frames == {"found": 80, "polyp": 24, "normal": 52, "other": 4, "unlabelled": 0}
    assert found.complete


def test_sides_add_up_to_the_difference_of_the_counts(study):
    found = study_robustness(*study, parameters=BASE, field_of_view="whole", workers=1)
    base = found.base_rates
    for rates, sides in zip(found.rates, found.sides, strict=True):
        assert rates
        assert sides
        gained = sides.polyp_gained - sides.polyp_lost
        assert rates.sensitivity_frames.count - base.sensitivity_frames.count == gained
        lost = sides.normal_gained - sides.normal_lost
        assert base.specificity.count - rates.specificity.count == lost


@pytest.mark.slow
def test_a_video_and_processes_give_the_same_as_one_process(tmp_path):
    video = write_exam_video(tmp_path / "film.mp4", FRAMES)
    labels = write_labels(tmp_path / "labels.csv", ["film"])
    one, two = (
        study_robustness(video, labels, parameters=BASE, names=["sigma2"], workers=workers)
        for workers in (1, 2)
    )
    assert one == two
    assert one.base_rates.sensitivity_frames.of == 12


def test_the_order_of_inputs_does_not_change_the_draw(study):
    exams, labels = study
    options = {"parameters": BASE, "names": ["sigma2"], "normals": 9, "seed": 3, "workers": 1}
    one = study_robustness([exams / "a", exams / "b"], labels, **options)
    two = study_robustness([exams / "b", exams / "a"], labels, **options)
    assert one.base_rates == two.base_rates
    assert one.rates == two.rates
    assert one.normals_drawn == one.base_rates.specificity.of == 9
    assert one.base_rates.sensitivity_frames.of == 24, "polyp frames are all kept"


def test_a_frame_that_does_not_decode_is_counted_and_named(study):
    exams, _ = study
    (exams / "a" / "frame0.png").write_bytes(b"rubbish")  # a polyp frame
    (exams / "b" / "frame12.png").write_bytes(b"rubbish")  # a normal frame
    (exams / "b" / "frame7.png").write_bytes(b"rubbish")  # another finding: nobody asks for it
    found = study_robustness(*study, parameters=BASE, names=["M_U"], workers=1)
    assert [name for name, _ in found.unscored] == ["a/frame0.png", "b/frame12.png"]
    assert all(why.startswith("undecodable: ") for _, why in found.unscored)
    assert not found.complete
    assert found.base_rates.sensitivity_frames.of == 24
    assert found.base_rates.specificity.of == 51


def test_a_frame_that_cannot_be_analysed_is_counted_and_named(study):
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(study[0] / "a" / "frame12.png")
    found = study_robustness(*study, parameters=BASE, names=["M_U"], workers=1)
    ((name, why),) = found.unscored
    assert name == "a/frame12.png"
    assert "too small" in why


def test_frames_of_a_segment_that_was_lost_are_named(study, monkeypatch):
    class Dying:
        name, workers = "dying", 1

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def run(self, work, tasks):
            from capsieve.screening.executors import Outcome

            for task in tasks:
                if task.exam == "a":
                    yield Outcome(task, error=WorkerError("the worker died"))
                else:
                    yield Outcome(task, result=work(task))

    monkeypatch.setattr(robustness_run, "choose_executor", lambda **_: Dying())
    found = study_robustness(*study, parameters=BASE, names=["M_U"])
    assert len(found.unscored) == 38
    assert {why for _, why in found.unscored} == {"not analysed: the worker died"}
    assert found.base_rates.specificity.of == 26
    assert found.base_rates.sensitivity_frames.of == 24


def test_a_broken_exam_does_not_stop_the_others(study):
    (study[0] / "c.mp4").write_bytes(b"rubbish")
    found = study_robustness(*study, parameters=BASE, names=["M_U"], workers=1)
    assert [name for name, _ in found.failed] == ["c"]
    assert found.exams == ("a", "b")
    assert not found.complete


def test_labels_that_fit_no_frame_are_counted(study, tmp_path):
    labels = write_labels(tmp_path / "more.csv", "abz", by="file", skip=(1, 2))
    found = study_robustness(study[0], labels, parameters=BASE, names=["M_U"], workers=1)
    assert found.frames["unlabelled"] == 4
    problems = {problem.what: problem.rows for problem in found.problems}
    assert problems["the frame has no label"] == 4
    assert problems["the exam is not among the results"] == FRAMES - 2


def test_labels_of_other_exams_are_refused(study, tmp_path):
    labels = write_labels(tmp_path / "other.csv", ["z"])
    with pytest.raises(FileError, match="no frame of the exams is labelled polyp or normal"):
        study_robustness(study[0], labels, workers=1)


def test_an_empty_input_is_refused_and_is_not_the_current_folder(study, monkeypatch):
    monkeypatch.chdir(study[0])
    with pytest.raises(FileError, match="empty"):
        study_robustness("", study[1], workers=1)


def test_wrong_settings_are_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ParameterError, match="normals"):
        study_robustness(tmp_path, tmp_path / "none.csv", normals=0)
    with pytest.raises(ParameterError, match="no such parameter"):
        study_robustness(tmp_path, tmp_path / "none.csv", names=["sigma9"])


def test_an_impossible_change_leaves_an_empty_row_and_the_others_in_their_place(study):
    found = study_robustness(
        *study,
        parameters=BASE,
        names=["M_L", "R_P"],
        percents=[50],
        field_of_view=FieldOfView("circle", 47.5, 47.5, 48.0),
        workers=1,
    )
    assert found.rates[0] is None
    assert found.sides[0] is None
    higher = replace(BASE, radius_threshold=107)
    circle = FieldOfView("circle", 47.5, 47.5, 48.0)
    flagged = [analyze(exam_frame(n), higher, circle).label == "polyp" for n in range(FRAMES)]
    hits = sum(flag for n, flag in enumerate(flagged) if label(n) == "polyp")
    assert found.rates[1]
    assert found.rates[1].sensitivity_frames.count == 2 * hits


def test_progress_comes_to_all_wanted_frames_of_each_exam(study):
    told = []
    study_robustness(*study, parameters=BASE, names=["M_U"], workers=1, progress=told.append)
    last = {progress.exam: progress for progress in told}
    assert {name: (p.done, p.total, p.exams) for name, p in last.items()} == {
        "a": (38, 38, 2),
        "b": (38, 38, 2),
    }
