"""Labelled frames of exams that nobody screened: choice, scores, problems, and a killed run."""

import csv
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from capsieve.errors import FileError, OccupiedError, WorkerError
from capsieve.evaluation import labelled_run
from capsieve.evaluation.labelled_run import draw_normals, score_labelled_frames, stored_scores
from capsieve.evaluation.settings import LabelledRunSettings
from capsieve.frame_table import NORMAL, POLYP
from capsieve.labels import read_labels
from capsieve.paper.algorithm import analyze
from capsieve.paper.many_settings import analyze_each
from capsieve.parameters import Parameters
from capsieve.screening.executors import Outcome
from capsieve.sources.video_source import VideoSource
from support.exams import exam_frame, write_exam_images
from support.videos import KINDS, make_video, steady

FRAMES = 40
SETTINGS = (Parameters(texture_high=60.0), Parameters(texture_high=60.0, midpass_fine=8.0))


def label(number):
    return "polyp" if number % 20 < 6 else "other" if number % 20 == 7 else "normal"


def write_labels(path, exams, *, skip=()):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "file", "label", "patient"])
        for exam in exams:
            for number in range(FRAMES):
                if number not in skip:
                    writer.writerow([exam, f"frame{number}.png", label(number), exam])
    return path


@pytest.fixture
def study(tmp_path):
    """Two exams of images, and their labels."""
    for exam in ("a", "b"):
        write_exam_images(tmp_path / "exams" / exam, FRAMES)
    return tmp_path / "exams", write_labels(tmp_path / "labels.csv", "ab")


def run(study, out=None, *, parameters=SETTINGS, progress=None, **options):
    inputs, labels = study
    settings = LabelledRunSettings(**({"field_of_view": "whole", "workers": 1} | options))
    return score_labelled_frames(
        inputs if isinstance(inputs, list) else [inputs],
        read_labels(labels),
        parameters,
        out,
        settings=settings,
        progress=progress,
    )


def files(found):
    return [] if found.frames.file is None else found.frames.file.tolist()


def test_scores_are_those_of_each_frame_with_each_setting(study):
    found = run(study)
    assert found.complete
    assert found.counts == {"found": 80, "polyp": 24, "normal": 52, "other": 4, "unlabelled": 0}
    numbers = [n for n in range(FRAMES) if label(n) != "other"]
    assert files(found) == 2 * [f"frame{n}.png" for n in numbers]
    assert found.frames.truth.tolist() == 2 * [
        POLYP if label(n) == "polyp" else NORMAL for n in numbers
    ]
    for column, setting in enumerate(SETTINGS):
        scores = [analyze(exam_frame(n), setting).score or -np.inf for n in numbers]
        assert found.scores[:, column].tolist() == 2 * scores
    assert found.frames.score.tolist() == found.scores[:, 0].tolist()


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(0, 2**32))
def test_a_draw_takes_normal_frames_only_and_as_many_as_asked(seed, count, pattern):
    normal = np.random.default_rng(pattern).random(50) < 0.5
    drawn = draw_normals(normal, count=count, seed=seed)
    assert not (drawn & ~normal).any()
    assert drawn.sum() == min(count, normal.sum())


def test_every_normal_frame_has_the_same_chance():
    normal = np.arange(30) % 3 > 0
    samples = 2000
    drawn = [draw_normals(normal, count=5, seed=seed) for seed in range(samples)]
    times = np.sum(drawn, axis=0)
    expected = samples * 5 / normal.sum()
    assert np.abs(times[normal] - expected).max() < 5 * expected**0.5


def test_the_order_of_inputs_does_not_change_the_draw(study):
    exams, labels = study
    one, two = (
        run(([exams / name for name in order], labels), normals=9, seed=3) for order in ("ab", "ba")
    )
    assert files(one) == files(two)
    assert one.scores.tolist() == two.scores.tolist()
    assert (one.frames.truth == NORMAL).sum() == 9
    assert (one.frames.truth == POLYP).sum() == 24, "polyp frames are all kept"


def test_a_frame_that_does_not_decode_is_named(study):
    exams, _ = study
    for name in ("a/frame0.png", "b/frame12.png", "b/frame7.png"):  # the last one is not chosen
        (exams / name).write_bytes(b"rubbish")
    found = run(study)
    assert [name for name, _ in found.unscored] == ["a/frame0.png", "b/frame12.png"]
    assert all(why.startswith("undecodable: ") for _, why in found.unscored)
    assert not found.complete
    assert np.isnan(found.scores).all(axis=1).sum() == 2


def test_a_frame_that_cannot_be_analysed_is_named(study):
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(study[0] / "a" / "frame12.png")
    ((name, why),) = run(study).unscored
    assert name == "a/frame12.png"
    assert "too small" in why


class DyingWorkers:
    """An executor whose workers die on the frames of one exam."""

    name, workers = "dying", 1

    def __init__(self, exam):
        self.exam = exam

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, work, tasks):
        for task in tasks:
            if task.exam == self.exam and hasattr(task, "segment"):
                yield Outcome(task, error=WorkerError("the worker died"))
            else:
                yield Outcome(task, result=work(task))


def test_frames_of_a_lost_worker_are_named_and_tried_again(study, tmp_path, monkeypatch):
    monkeypatch.setattr(labelled_run, "choose_executor", lambda **_: DyingWorkers("a"))
    found = run(study, tmp_path / "out")
    assert len(found.unscored) == 38
    assert {why for _, why in found.unscored} == {"not analysed: the worker died"}
    monkeypatch.undo()
    assert run(study, tmp_path / "out").complete


def test_a_broken_exam_does_not_stop_the_others(study):
    (study[0] / "c.mp4").write_bytes(b"rubbish")
    found = run(study)
    assert [name for name, _ in found.failed] == ["c"]
    assert found.exams == ("a", "b")
    assert not found.complete


def test_labels_that_fit_no_frame_are_counted(study, tmp_path):
    labels = write_labels(tmp_path / "more.csv", "abz", skip=(1, 2))
    found = run((study[0], labels))
    assert found.counts["unlabelled"] == 4
    assert sum(problem.rows for problem in found.problems if not problem.used) >= FRAMES - 2


def test_an_empty_input_is_refused_and_is_not_the_current_folder(study, monkeypatch):
    monkeypatch.chdir(study[0])
    with pytest.raises(FileError, match="empty"):
        run(("", study[1]))


def test_progress_ends_with_all_chosen_frames_of_each_exam(study):
    told = []
    run(study, progress=told.append)
    last = {progress.exam: progress for progress in told}
    assert {name: (p.done, p.total, p.exams) for name, p in last.items()} == {
        "a": (38, 38, 2),
        "b": (38, 38, 2),
    }


def test_a_killed_run_continues_and_loses_at_most_one_block(study, tmp_path, monkeypatch):
    monkeypatch.setattr(labelled_run, "_BLOCK_ANALYSES", 20)  # blocks of ten frames
    whole = run(study)
    analysed = []

    def killed(*arguments):
        if len(analysed) == 65:
            raise KeyboardInterrupt
        analysed.append(1)
        return analyze_each(*arguments)

    monkeypatch.setattr(labelled_run, "analyze_each", killed)
    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path / "out")
    monkeypatch.setattr(labelled_run, "analyze_each", analyze_each)
    reports = []
    found = run(study, tmp_path / "out", progress=reports.append)
    assert {each.exam: each.resumed for each in reports} == {"a": 38, "b": 20}
    assert found.scores.tolist() == whole.scores.tolist()
    again = []
    run(study, tmp_path / "out", progress=again.append)
    assert {each.exam: each.resumed for each in again} == {"a": 38, "b": 38}


@pytest.fixture
def decoded(monkeypatch):
    """Count how often each frame of a video is decoded, by its packet."""
    counts = Counter()
    frames = VideoSource.frames

    def counted(source, segment):
        for frame in frames(source, segment):
            counts[frame.packet] += 1
            yield frame

    monkeypatch.setattr(VideoSource, "frames", counted)
    return counts


@pytest.mark.parametrize("kind", ["avi-mpeg4-b", "avi-h264-b", "mp4-h264"])
def test_every_frame_is_decoded_once(tmp_path, monkeypatch, decoded, kind):
    monkeypatch.setattr(labelled_run, "_BLOCK_ANALYSES", 20)  # several blocks of each segment
    make_video(tmp_path, kind, times=steady(120))
    rows = [f"a,{n},{'polyp' if n % 3 else 'normal'}" for n in range(120)]
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join(["exam,frame,label", *rows]))
    found = run((tmp_path / KINDS[kind].name, labels), tmp_path / "out")
    assert found.complete
    assert set(decoded.values()) == {1}
    assert len(decoded) == 120
    decoded.clear()
    run((tmp_path / KINDS[kind].name, labels), tmp_path / "out")
    assert not decoded, "all scores are stored"


def test_a_damaged_block_is_scored_again(study, tmp_path):
    whole = run(study, tmp_path / "out")
    for block in stored_scores(tmp_path / "out").folder.glob("head-*"):
        block.write_bytes(block.read_bytes()[:-7])
    assert run(study, tmp_path / "out").scores.tolist() == whole.scores.tolist()


@pytest.mark.parametrize(
    "options", [{"seed": 1}, {"normals": 5}, {"parameters": SETTINGS[:1]}, {"labels": "a"}], ids=str
)
def test_scores_of_another_run_are_refused(study, tmp_path, options):
    exams, labels = study
    run(study, tmp_path / "out")
    if "labels" in options:
        labels = write_labels(tmp_path / "fewer.csv", options.pop("labels"))
    with pytest.raises(OccupiedError, match=str(tmp_path / "out")):
        run((exams, labels), tmp_path / "out", **options)
    assert run((exams, labels), tmp_path / "out", overwrite=True, **options).complete


def test_scores_of_other_inputs_are_refused(study, tmp_path):
    run(study, tmp_path / "out")
    Image.fromarray(exam_frame(3)).save(study[0] / "a" / "frame0.png")
    with pytest.raises(OccupiedError, match="inputs"):
        run(study, tmp_path / "out")
