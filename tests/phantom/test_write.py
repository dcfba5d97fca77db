"""Studies on disk."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

import capsieve
from capsieve.errors import FileError, OccupiedError, ParameterError
from capsieve.phantom import StudyPlan, plan_exam, plan_study, render_frame, write_study
from capsieve.phantom.plan import StudyExam
from capsieve.phantom.write import _frames
from capsieve.screening.executors import Outcome, Serial
from capsieve.store.segments import locked

SMALL: dict[str, Any] = {"patients": 2, "frames": 6, "polyps": 1, "size": 96, "seed": 3}
TINY: dict[str, Any] = {"patients": 1, "frames": 1, "polyps": 0, "size": 64}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def study_of(plan) -> StudyPlan:
    return StudyPlan("custom", 0, (StudyExam("patient-1", "1", plan),))


@pytest.fixture(scope="module")
def exact() -> StudyPlan:
    """A study with exactly known sequences."""
    return study_of(plan_exam(11, sequence_lengths=(3, 2), normal_frames=6, size=96))


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["mp4", "png"])
def test_a_study_has_the_same_bytes_with_any_number_of_workers(tmp_path, file_format):
    for workers in (1, 2):
        out = tmp_path / str(workers)
        study = plan_study(heads=2, **SMALL)
        write_study(study, out, file_format=file_format, workers=workers, depth=True)
    found = digests(tmp_path / "1")
    assert found == digests(tmp_path / "2")
    assert sum("/depth/" in name for name in found) == 24


def test_labels_masks_and_polyps_agree(exact, tmp_path):
    write_study(exact, tmp_path, file_format="png", workers=1)
    labels = rows(tmp_path / "labels.csv")
    assert [row["label"] for row in labels].count("polyp") == 5
    assert [row["file"] for row in labels] == [f"{number:06d}.png" for number in range(11)]
    counts = {row["polyp"]: int(row["frames"]) for row in rows(tmp_path / "polyps.csv")}
    assert counts == {"patient-1/1": 3, "patient-1/2": 2}
    truth = tmp_path / "truth" / "patient-1"
    assert [row["frame"] for row in rows(truth / "frames.csv")] == [str(n) for n in range(11)]
    masks = rows(tmp_path / "masks.csv")
    counting = {(row["frame"], row["polyp"]) for row in labels if row["polyp"]}
    assert {(row["frame"], row["polyp"]) for row in masks} == counting
    for row in masks:
        frame = render_frame(exact.exams[0].plan, int(row["frame"]))
        assert row["file"] == f"patient-1/{int(row['frame']):06d}.png"
        assert row["polyp"] == f"patient-1/{row['value']}"
        assert (cv2.imread(str(tmp_path / row["mask"]), -1) == frame.polyp_map).all()


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["mp4", "png"])
def test_evaluate_finds_the_mask_table_in_the_study(exact, tmp_path, file_format):
    study, results = tmp_path / "study", tmp_path / "results"
    write_study(exact, study, file_format=file_format, workers=1)
    capsieve.screen(study / "exams", results, workers=1)
    found = []
    for number, regions in enumerate((study / "masks.csv", study)):
        out = tmp_path / f"evaluation-{number}"
        capsieve.evaluate(results, study / "labels.csv", out, regions=regions)
        metrics = json.loads((out / "metrics.json").read_text())["metrics"]
        found.append([m for m in metrics if m["key"].startswith("localisation.")])
    assert found[0][0]["denominator"] == 5
    assert found[0] == found[1]


class BackwardExecutor(Serial):
    """Ends tasks in another order than they were given."""

    workers = 2

    def run(self, work, tasks):
        remaining, given = iter(tasks), []
        while True:
            while len(given) < 4 and (task := next(remaining, None)) is not None:
                given.append(task)
            if not given:
                return
            task = given.pop()
            yield Outcome(task, result=work(task))


def test_frames_are_written_in_order_whatever_the_order_in_which_they_are_ready():
    plan = plan_exam(5, frames=30, polyps=0, size=64, heads=2)
    frames = [(f.truth.number, f.truth.head) for f in _frames(plan, False, BackwardExecutor())]
    assert frames == [(number, head) for number in range(30) for head in (0, 1)]


def test_findings_are_what_spoils_the_frame(tmp_path):
    plan = plan_exam(5, frames=8, polyps=1, size=64)
    write_study(study_of(plan), tmp_path, file_format="png", workers=1)
    spoiled = [render_frame(plan, number).truth.spoiled for number in range(8)]
    assert any(spoiled)
    labels = rows(tmp_path / "labels.csv")
    assert [tuple(filter(None, row["finding"].split("; "))) for row in labels] == spoiled
    poses = rows(tmp_path / "truth" / "patient-1" / "frames.csv")
    assert [tuple(row["spoiled"].split()) for row in poses] == spoiled


def test_a_video_has_every_frame_at_its_time_in_its_colours(exact, tmp_path):
    write_study(exact, tmp_path, workers=1)
    with av.open(str(tmp_path / "exams" / "patient-1.mp4")) as container:
        assert container.streams.video[0].codec_context.name == "h264"
        frames = list(container.decode(video=0))
    assert [frame.time for frame in frames] == pytest.approx([n / 4 for n in range(11)])
    first = render_frame(exact.exams[0].plan, 0).pixels.astype(float)
    decoded = frames[0].to_ndarray(format="rgb24").astype(float)
    assert np.abs(decoded - first).mean() < 8.0
    # A wrong colour matrix or range would shift whole channels by several levels.
    assert np.abs((decoded - first).mean(axis=(0, 1))).max() < 2.0


@pytest.mark.slow
def test_a_video_has_the_same_bytes_in_every_run(tmp_path):
    study = study_of(plan_exam(3, frames=10, polyps=1, size=160))
    found = []
    for number in range(3):
        rng = np.random.default_rng(number)
        other = [np.full(rng.integers(1, 400_000), number, np.uint8) for _ in range(20)]
        del other[::2]  # memory that the encoder gets has another content in every run
        write_study(study, tmp_path / str(number), workers=1)
        found.append((tmp_path / str(number) / "exams" / "patient-1.mp4").read_bytes())
    assert len(set(found)) == 1


@pytest.mark.slow
def test_key_frames_are_at_most_sixty_frames_apart(tmp_path):
    write_study(study_of(plan_exam(1, frames=130, polyps=0, size=64)), tmp_path, workers=1)
    with av.open(str(tmp_path / "exams" / "patient-1.mp4")) as container:
        keys = [n for n, frame in enumerate(container.decode(video=0)) if frame.key_frame]
    assert keys[0] == 0
    assert max(np.diff([*keys, 130])) <= 60


def test_two_heads_are_two_videos(tmp_path):
    write_study(plan_study(**{**TINY, "frames": 2, "heads": 2}), tmp_path, workers=1)
    names = sorted(path.name for path in (tmp_path / "exams").iterdir())
    assert names == ["patient-1-head-0.mp4", "patient-1-head-1.mp4"]
    assert [row["head"] for row in rows(tmp_path / "labels.csv")] == ["0", "1", "0", "1"]


@pytest.mark.parametrize("file_format", ["mp4", "png"])
def test_an_interrupted_study_resumes(tmp_path, file_format):
    study = plan_study(**SMALL)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    write_study(study, whole, file_format=file_format, workers=1)
    done = 0

    def interrupt(exam, count):
        nonlocal done
        done += count
        if done == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_study(study, cut, file_format=file_format, workers=1, progress=interrupt)
    assert json.loads((cut / "study.json").read_text())["complete"] is False
    for folder in ("exams", "truth"):
        assert [path.stem for path in (cut / folder).iterdir()] == ["patient-1"]
    before = (cut / "truth" / "patient-1" / "frames.csv").stat().st_mtime_ns
    counts = []
    write_study(
        study, cut, file_format=file_format, workers=1, progress=lambda _, n: counts.append(n)
    )
    assert counts == [6, 1, 1, 1, 1, 1, 1]
    assert before == (cut / "truth" / "patient-1" / "frames.csv").stat().st_mtime_ns
    assert digests(cut) == digests(whole)


def test_the_truth_is_renamed_last(tmp_path, monkeypatch):
    study = plan_study(**TINY)
    moved = []
    replace = Path.replace

    def record(self, target):
        moved.append(Path(target).relative_to(tmp_path).as_posix())
        if moved[-1] == "truth/patient-1":
            raise OSError("killed here")
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", record)
        with pytest.raises(FileError):
            write_study(study, tmp_path, file_format="png", workers=1)
    assert moved[-2:] == ["exams/patient-1", "truth/patient-1"]
    write_study(study, tmp_path, file_format="png", workers=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "exams", "labels.csv", "masks.csv", "polyps.csv", "study.json", "truth",
    ]  # fmt: skip


def children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(stat.parent.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.slow
def test_a_killed_run_leaves_no_worker_and_its_leftovers_are_removed(tmp_path):
    out = tmp_path / "study"
    options = ("--patients", "2", "--frames", "40", "--polyps", "0", "--size", "128")
    command = [sys.executable, "-m", "capsieve", "phantom", "-o", str(out), "--quiet", *options]
    with subprocess.Popen([*command, "--workers", "2"]) as parent:
        wait_until((out / "unfinished" / "exams" / "patient-2.mp4").exists)
        workers = children(parent.pid)
        os.kill(parent.pid, signal.SIGKILL)
    assert len(workers) >= 2
    wait_until(lambda: not any(alive(pid) for pid in workers))
    assert [path.name for path in (out / "exams").iterdir()] == ["patient-1.mp4"]
    subprocess.run([*command, "--workers", "1"], check=True, stdout=subprocess.DEVNULL)
    assert sorted(path.name for path in (out / "exams").iterdir()) == [
        "patient-1.mp4",
        "patient-2.mp4",
    ]
    assert not (out / "unfinished").exists()
    assert len(rows(out / "labels.csv")) == 80


def test_a_folder_in_use_is_refused(tmp_path):
    study = plan_study(**TINY)
    with locked(tmp_path), pytest.raises(OccupiedError):
        write_study(study, tmp_path, workers=1)
    write_study(study, tmp_path, workers=1)


def test_two_studies_are_never_mixed(tmp_path):
    one, other = (plan_study(**{**TINY, "seed": seed}) for seed in (1, 2))
    write_study(one, tmp_path, file_format="png", workers=1)
    before = digests(tmp_path)
    with pytest.raises(FileError):
        write_study(other, tmp_path, file_format="png", workers=1)
    with pytest.raises(FileError):
        write_study(one, tmp_path, file_format="mp4", workers=1)
    assert digests(tmp_path) == before
    write_study(other, tmp_path, file_format="png", workers=1, overwrite=True)
    assert json.loads((tmp_path / "study.json").read_text())["seed"] == 2


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_with_other_files_is_left_alone(tmp_path, overwrite):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(FileError):
        write_study(plan_study(**TINY), tmp_path, overwrite=overwrite)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_odd_size_is_refused_for_video_before_anything_is_written(tmp_path):
    with pytest.raises(ParameterError) as caught:
        write_study(plan_study(**{**TINY, "size": 65}), tmp_path / "study")
    assert caught.value.field == "size"
    assert not (tmp_path / "study").exists()
