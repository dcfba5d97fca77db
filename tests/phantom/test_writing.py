"""A study on disk: whole, repeatable, consistent, and able to go on."""

import csv
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from capsieve.errors import FileError, ParameterError
from capsieve.phantom import writing
from capsieve.phantom.exam import render_frame
from capsieve.phantom.plan import plan_exam
from capsieve.phantom.study import StudyExam, StudyPlan, plan_study

SMALL: dict[str, Any] = {"patients": 2, "frames": 6, "polyps": 1, "size": 96}


def rows(path: Path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def digests(folder: Path):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def exact():
    """A study with exactly known sequences."""
    plan = plan_exam(11, sequence_lengths=(3, 2), normal_frames=6, size=96)
    return StudyPlan("custom", 0, (StudyExam("patient-1", "1", plan),))


@pytest.mark.slow
def test_png_studies_are_the_same_bytes_on_any_number_of_workers(tmp_path):
    study = plan_study(seed=3, **SMALL)
    writing.write_study(study, tmp_path / "one", file_format="png", workers=1, depth=True)
    writing.write_study(study, tmp_path / "two", file_format="png", workers=2, depth=True)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert len(list((tmp_path / "one" / "exams").rglob("*.png"))) == 12
    assert len(list((tmp_path / "one" / "truth").rglob("depth/*.png"))) == 12


def test_labels_masks_and_boxes_agree(exact, tmp_path):
    writing.write_study(exact, tmp_path, file_format="png", workers=1)
    labels = rows(tmp_path / "labels.csv")
    assert [row["label"] for row in labels].count("polyp") == 5
    assert len(labels) == 11
    assert {row["file"] for row in labels} == {f"{n:06d}.png" for n in range(11)}
    counts = {row["polyp"]: int(row["frames"]) for row in rows(tmp_path / "polyps.csv")}
    assert sorted(counts.values()) == [2, 3]
    truth = tmp_path / "truth" / "patient-1"
    sightings = rows(truth / "sightings.csv")
    assert sightings
    for row in sightings:
        mask = cv2.imread(str(truth / "masks" / f"{int(row['frame']):06d}.png"), -1)
        own_rows, own_cols = np.nonzero(mask == int(row["polyp"]))
        assert len(own_rows) == int(row["pixels"])
        box = (own_rows.min(), own_cols.min(), own_rows.max() + 1, own_cols.max() + 1)
        assert box == tuple(int(row[name]) for name in ("row0", "col0", "row1", "col1"))
    counted = {(row["frame"]) for row in sightings if row["counts"] == "1"}
    assert counted == {row["frame"] for row in labels if row["label"] == "polyp"}
    poses = rows(truth / "frames.csv")
    assert [row["frame"] for row in poses] == [str(n) for n in range(11)]
    rotation = np.array([[float(poses[0][f"r{i}{j}"]) for j in range(3)] for i in range(3)])
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-5)


def test_video_holds_every_frame_at_its_time(exact, tmp_path):
    writing.write_study(exact, tmp_path, workers=1)
    poses = rows(tmp_path / "truth" / "patient-1" / "frames.csv")
    with av.open(str(tmp_path / "exams" / "patient-1.mp4")) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264"
        frames = list(container.decode(stream))
    assert len(frames) == len(poses) == 11
    for frame, pose in zip(frames, poses, strict=True):
        assert frame.time == pytest.approx(float(pose["time_s"]), abs=1e-4)
    first = render_frame(exact.exams[0].plan, 0).pixels.astype(float)
    decoded = frames[0].to_ndarray(format="rgb24").astype(float)
    assert np.abs(decoded - first).mean() < 8.0
    # A wrong matrix or range of colours would shift whole channels by several levels.
    assert np.abs((decoded - first).mean(axis=(0, 1))).max() < 2.0


def test_key_frames_are_at_most_sixty_apart(tmp_path):
    from capsieve.phantom.film import Film

    with Film(tmp_path / "film.mp4", 64, 4.0) as film:
        for number in range(150):
            film.add(np.full((64, 64, 3), number, np.uint8), 0.25 * number)
    with av.open(str(tmp_path / "film.mp4")) as container:
        keys = [n for n, f in enumerate(container.decode(video=0)) if f.key_frame]
    assert keys[0] == 0
    assert max(np.diff([*keys, 150])) <= 60


def test_two_heads_are_two_videos(tmp_path):
    study = plan_study(patients=1, frames=2, polyps=0, size=64, heads=2)
    writing.write_study(study, tmp_path, workers=1)
    names = sorted(path.name for path in (tmp_path / "exams").iterdir())
    assert names == ["patient-1-head-0.mp4", "patient-1-head-1.mp4"]
    assert [row["head"] for row in rows(tmp_path / "labels.csv")] == ["0", "1", "0", "1"]


def test_an_interrupted_study_goes_on_where_it_was(tmp_path):
    study = plan_study(seed=3, **SMALL)
    writing.write_study(study, tmp_path / "whole", file_format="png", workers=1)
    done = 0

    def interrupt(exam, count):
        nonlocal done
        done += count
        if done == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writing.write_study(
            study, tmp_path / "cut", file_format="png", workers=1, progress=interrupt
        )
    assert json.loads((tmp_path / "cut" / "study.json").read_text())["complete"] is False
    before = (tmp_path / "cut" / "truth" / "patient-1" / "frames.csv").stat().st_mtime_ns
    counts = []
    writing.write_study(
        study,
        tmp_path / "cut",
        file_format="png",
        workers=1,
        progress=lambda _, n: counts.append(n),
    )
    assert counts == [6, 1, 1, 1, 1, 1, 1]
    after = (tmp_path / "cut" / "truth" / "patient-1" / "frames.csv").stat().st_mtime_ns
    assert before == after
    assert digests(tmp_path / "cut") == digests(tmp_path / "whole")


def test_findings_are_what_spoils_the_frame(tmp_path):
    # A colon so full of bubbles and liquid that some frames of a few are spoiled, by one or both.
    plan = plan_exam(5, frames=8, polyps=1, size=64, bubbles=6.0, liquid=6.0)
    study = StudyPlan("custom", 0, (StudyExam("patient-1", "1", plan),))
    writing.write_study(study, tmp_path, file_format="png", workers=1)
    labels = rows(tmp_path / "labels.csv")
    spoiled = [render_frame(plan, number).truth.spoiled for number in range(8)]
    assert any(spoiled)
    assert [tuple(filter(None, row["finding"].split("; "))) for row in labels] == spoiled
    poses = rows(tmp_path / "truth" / "patient-1" / "frames.csv")
    assert [tuple(row["spoiled"].split()) for row in poses] == spoiled


def test_a_study_without_findings_is_not_gone_on_with(tmp_path):
    study = plan_study(seed=1, patients=1, frames=1, polyps=0, size=64)
    file = writing.write_study(study, tmp_path, file_format="png", workers=1)
    found = json.loads(file.read_text())
    del found["labels"]  # as it was before labels had findings
    file.write_text(json.dumps(found))
    before = digests(tmp_path)
    with pytest.raises(FileError, match=r"fewer columns.*--fresh"):
        writing.write_study(study, tmp_path, file_format="png", workers=1)
    assert digests(tmp_path) == before


def test_two_studies_are_never_mixed(tmp_path):
    one, other = (plan_study(seed=seed, patients=1, frames=1, polyps=0, size=64) for seed in (1, 2))
    writing.write_study(one, tmp_path, file_format="png", workers=1)
    with pytest.raises(FileError, match="--fresh"):
        writing.write_study(other, tmp_path, file_format="png", workers=1)
    with pytest.raises(FileError, match="--fresh"):
        writing.write_study(one, tmp_path, file_format="mp4", workers=1)
    writing.write_study(other, tmp_path, file_format="png", workers=1, fresh=True)
    assert json.loads((tmp_path / "study.json").read_text())["seed"] == 2


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    study = plan_study(patients=1, frames=1, polyps=0, size=64)
    for fresh in (False, True):
        with pytest.raises(FileError, match="not empty"):
            writing.write_study(study, tmp_path, fresh=fresh)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_odd_size_is_refused_for_video_before_anything_is_written(tmp_path):
    study = plan_study(patients=1, frames=1, polyps=0, size=65)
    with pytest.raises(ParameterError, match="even"):
        writing.write_study(study, tmp_path / "study")
    assert not (tmp_path / "study").exists()
