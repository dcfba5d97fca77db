"""``capsieve screen``."""

import json
import os
import resource
import subprocess
import sys

import pytest

from capsieve import Parameters
from support.commands import assert_failed, run_command
from support.exams import read_frames, write_exam_images, write_exam_video

# Starts to screen an exam and waits in its first frame.
HOLD = """
import sys, time
import capsieve
from support.fake_detector import FakeDetector

class Waiting(FakeDetector):
    def score(self, frame, field_of_view=None):
        print("screening", flush=True)
        time.sleep(600)

capsieve.screen(sys.argv[1], sys.argv[2], detector=Waiting(), workers=1)
"""


@pytest.fixture
def images(tmp_path):
    return write_exam_images(tmp_path / "source" / "small", 12)


def test_the_counts_and_the_path_of_the_report_are_printed(run, images, tmp_path):
    result = run("screen", images, "-o", tmp_path / "out", "--workers", "1")
    assert result.exit_code == 0
    report = tmp_path / "out" / "small" / "report.html"
    assert "12 frames" in result.stdout
    assert str(report) in result.stdout
    assert report.read_text().startswith("<!DOCTYPE html>")


def test_json_has_the_frame_counts(run, images, tmp_path):
    result = run("screen", images, "-o", tmp_path / "out", "--workers", "1", "--json", "--quiet")
    (exam,) = json.loads(result.stdout)["exams"]
    assert (exam["exam"], exam["complete"], exam["ledger"]["found"]) == ("small", True, 12)


def test_an_incomplete_exam_is_exit_code_1_and_named(run, images, tmp_path):
    (images / "frame3.png").write_bytes(b"rubbish")
    result = run("screen", images, "-o", tmp_path / "out", "--workers", "1")
    assert result.exit_code == 1
    assert "small" in result.stderr
    assert read_frames(tmp_path / "out" / "small").num_rows == 12
    before = (tmp_path / "out" / "small" / "exam.json").read_bytes()
    assert run("screen", images, "-o", tmp_path / "out", "--workers", "1").exit_code == 1
    assert (tmp_path / "out" / "small" / "exam.json").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "content"), [("text.mp4", b"hello"), ("empty.mp4", b""), ("text.zip", b"hello")]
)
def test_a_bad_file_is_named_in_one_line_and_leaves_nothing(run, tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert_failed(run("screen", path, "-o", tmp_path / "out", "--workers", "1"), name)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_an_absent_file_is_exit_code_1(run, tmp_path):
    assert_failed(run("screen", tmp_path / "absent.mp4", "-o", tmp_path / "out"), "absent.mp4")


def test_a_second_run_of_an_exam_in_progress_is_refused(run, images, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-c", HOLD, str(images), str(out)]
    paths = os.pathsep.join(sys.path)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths}
    ) as held:
        assert held.stdout is not None
        assert held.stdout.readline() == "screening\n"
        assert_failed(run("screen", images, "-o", out, "--workers", "1"), out / "small")
        held.kill()
    assert run("screen", images, "-o", out, "--workers", "1", "--fresh").exit_code == 0


def test_a_threshold_of_another_detector_is_refused(run, images, tmp_path):
    chosen = tmp_path / "calibrated.toml"
    Parameters(score_threshold=0.3).save(chosen)
    result = run("screen", images, "-o", tmp_path / "out", "--parameters", chosen)
    assert_failed(result, "score_threshold", "--detector")
    assert not (tmp_path / "out").exists()


def test_workers_and_cluster_together_are_wrong_usage(run, images, tmp_path):
    result = run("screen", images, "-o", tmp_path, "--workers", "2", "--cluster", "local:2")
    assert result.exit_code == 2


def test_a_video_comes_through_a_pipe(tmp_path):
    video = write_exam_video(tmp_path / "exam.mp4", 20)
    with video.open("rb") as file:
        result = run_command(
            "screen", "-", "-o", tmp_path / "out", "--workers", "1", "--quiet", stdin=file
        )
    assert result.returncode == 0, result.stderr
    folders = [path.name for path in (tmp_path / "out").iterdir()]
    assert folders == ["standard-input"]
    assert read_frames(tmp_path / "out" / "standard-input").num_rows == 20
    explained = run_command("explain", tmp_path / "out" / "standard-input", "--frame", "3")
    assert explained.returncode == 1


def test_an_empty_pipe_is_refused(tmp_path):
    result = run_command("screen", "-", "-o", tmp_path / "out", stdin=subprocess.DEVNULL)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_named(images):
    result = run_command("screen", images, "-o", "/proc/nowhere", "--workers", "1")
    assert result.returncode == 1
    assert "/proc/nowhere" in result.stderr
    assert "Traceback" not in result.stderr


def test_after_a_full_disk_the_same_command_resumes(images, tmp_path):
    def no_room() -> None:  # files end at 4 kB, as on a disk that is full
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

    command = [sys.executable, "-m", "capsieve", "screen", str(images), "-o", str(tmp_path / "out")]
    command += ["--workers", "1", "--quiet"]
    full = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=no_room)
    assert full.returncode == 1
    assert str(tmp_path / "out") in full.stderr
    assert "Traceback" not in full.stderr
    assert not (tmp_path / "out" / "small" / "exam.json").exists()
    after = subprocess.run(command, capture_output=True, text=True, check=False)
    assert after.returncode == 0, after.stderr
