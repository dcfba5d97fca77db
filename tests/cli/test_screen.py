"""``capsieve screen`` as a user meets it."""

import json
import resource
import signal
import subprocess
import sys

import pytest

from capsieve.engine import screening
from capsieve.parameters import Parameters
from capsieve.store.lock import locked
from sample_exams import frames_of, run_command, write_exam_images, write_exam_video


@pytest.fixture
def images(tmp_path):
    return write_exam_images(tmp_path / "source" / "small", 12)


def test_it_tells_how_many_frames_are_to_be_read_and_where_the_report_is(run, images, tmp_path):
    result = run("screen", images, "-o", tmp_path / "out", "--workers", "1")
    assert result.exit_code == 0
    report = tmp_path / "out" / "small" / "report.html"
    assert f"of 12 frames to read, in 1 event. {report}" in result.stdout
    assert report.read_text().startswith("<!DOCTYPE html>")


def test_json_tells_the_same_to_machines(run, images, tmp_path):
    result = run("screen", images, "-o", tmp_path / "out", "--workers", "1", "--json", "--quiet")
    (exam,) = json.loads(result.stdout)["exams"]
    assert (exam["exam"], exam["complete"], exam["ledger"]["found"]) == ("small", True, 12)


def test_an_incomplete_exam_is_exit_code_1_and_named(run, images, tmp_path):
    (images / "frame3.png").write_bytes(b"rubbish")
    result = run("screen", images, "-o", tmp_path / "out", "--workers", "1")
    assert result.exit_code == 1
    assert "small is not complete: 1 frame undecodable" in result.stderr
    assert frames_of(tmp_path / "out" / "small").num_rows == 12
    again = run("screen", images, "-o", tmp_path / "out", "--workers", "1")
    assert again.exit_code == 1
    assert "screened before" in again.stdout


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("text.mp4", b"hello", "text.mp4"),
        ("empty.mp4", b"", "empty"),
        ("text.zip", b"hello", "text.zip"),
    ],
)
def test_a_bad_file_is_one_sentence_and_leaves_nothing(run, tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    result = run("screen", path, "-o", tmp_path / "out", "--workers", "1")
    assert result.exit_code == 1
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_an_absent_file_is_exit_code_1(run, tmp_path):
    result = run("screen", tmp_path / "absent.mp4", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "there is no" in result.stderr


def test_a_second_run_leaves_the_first_alone(run, images, tmp_path):
    folder = tmp_path / "out" / "small"
    folder.mkdir(parents=True)
    with locked(folder):
        before = sorted(folder.iterdir())
        result = run("screen", images, "-o", tmp_path / "out", "--workers", "1")
        assert sorted(folder.iterdir()) == before
    assert result.exit_code == 1
    assert "another run is working on" in result.stderr


def test_a_threshold_of_another_detector_is_not_passed_over(run, images, tmp_path):
    chosen = tmp_path / "calibrated.toml"
    Parameters(score_threshold=0.3).save(chosen)
    result = run("screen", images, "-o", tmp_path / "out", "--parameters", chosen)
    assert result.exit_code == 1
    assert "score_threshold: the paper's detector does not read it" in result.stderr
    assert "--detector" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [((), "the same command goes on"), (("--fresh",), "the same command without --fresh goes on")],
)
def test_an_interrupted_run_says_how_to_go_on(run, images, tmp_path, monkeypatch, more, words):
    def stopped(*_, **__):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(screening, "screen", stopped)
    result = run("screen", images, "-o", tmp_path / "out", *more)
    assert result.exit_code != 0
    assert words in result.stderr


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
    assert frames_of(tmp_path / "out" / "standard-input").num_rows == 20
    explained = run_command("explain", tmp_path / "out" / "standard-input", "--frame", "3")
    assert explained.returncode == 1
    assert "standard input and was not kept" in explained.stderr


def test_an_empty_pipe_is_one_sentence(tmp_path):
    result = run_command("screen", "-", "-o", tmp_path / "out", stdin=subprocess.DEVNULL)
    assert result.returncode == 1
    assert "nothing came through standard input" in result.stderr


def test_a_folder_that_cannot_be_written_is_one_sentence(images):
    result = run_command("screen", images, "-o", "/proc/nowhere", "--workers", "1")
    assert result.returncode == 1
    assert "/proc/nowhere" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_full_disk_is_one_sentence_and_the_same_command_goes_on(images, tmp_path):
    def no_room() -> None:  # files end at 4 kB, as on a disk that is full
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

    command = [sys.executable, "-m", "capsieve", "screen", str(images), "-o", str(tmp_path / "out")]
    command += ["--workers", "1", "--quiet"]
    full = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=no_room)
    assert full.returncode == 1
    assert "cannot write" in full.stderr
    assert "Traceback" not in full.stderr
    assert not (tmp_path / "out" / "small" / "exam.json").exists()
    after = subprocess.run(command, capture_output=True, text=True, check=False)
    assert after.returncode == 0, after.stderr
