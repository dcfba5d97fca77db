"""``capsieve screen``."""

import json
import os
import resource
import subprocess
import sys

import pytest

from capsieve.parameters import PRESETS
from support.commands import assert_failed, run_command
from support.exams import read_frames, write_exam_images

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


def test_record_report_and_output_name_the_reading_of_the_paper(run, images, tmp_path):
    out = tmp_path / "out"
    for name, given in (("printed", ()), ("inferred", ("--parameters", "inferred"))):
        result = run("screen", images, "-o", out / name, "--workers", "1", *given)
        assert result.exit_code == 0, result.stderr
        record = json.loads((out / name / "small" / "exam.json").read_text())
        assert record["detector"]["preset"] == name
        assert record["parameters"] == PRESETS[name].to_dict()
        assert f"as {name}" in result.stdout
        assert f"as {name}" in (out / name / "small" / "report.html").read_text()
    other = run("screen", images, "-o", out / "printed", "--parameters", "inferred")
    assert_failed(other, "--overwrite")


def test_json_has_the_frame_counts(run, images, tmp_path):
    result = run("screen", images, "-o", tmp_path / "out", "--workers", "1", "--json", "--quiet")
    (exam,) = json.loads(result.stdout)["exams"]
    assert (exam["exam"], exam["complete"], exam["frame_counts"]["found"]) == ("small", True, 12)


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
    assert run("screen", images, "-o", out, "--workers", "1", "--overwrite").exit_code == 0


def test_a_stated_threshold_replaces_that_of_the_detector(run, images, tmp_path):
    flagged = []
    for threshold in ("1", "80"):
        out = tmp_path / threshold
        options = ("--workers", "1", "--threshold", threshold)
        assert run("screen", images, "-o", out, *options).exit_code == 0
        (path,) = out.glob("*/exam.json")
        record = json.loads(path.read_text())
        assert record["flagging"]["value"] == float(threshold)
        assert record["flagging"]["score_threshold"] == 37
        flagged.append(record["frame_counts"]["flagged"])
    assert flagged[0] > flagged[1] == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--workers", "2", "--cluster", "local:2"),
        ("--cluster", "ucx://localhost:8786"),
        ("--cluster", "tls://localhost:8786"),  # without certificates
        ("--read", "0"),
        ("--read", "0.1"),
        ("--read", "200%"),
        ("--threshold", "nan"),
        ("--read", "10%", "--threshold", "30"),
    ],
)
def test_wrong_options_are_exit_code_2(run, images, tmp_path, options):
    result = run("screen", images, "-o", tmp_path / "out", *options)
    assert result.exit_code == 2
    assert options[0] in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_named(images):
    result = run_command("screen", images, "-o", "/proc/nowhere", "--workers", "1")
    assert result.returncode == 1
    assert "/proc/nowhere" in result.stderr
    assert "-o" in result.stderr
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


def test_exams_with_other_settings_are_one_message(run, tmp_path):
    for name in ("a", "b", "c"):
        write_exam_images(tmp_path / "source" / name, 2)
    command = ("screen", tmp_path / "source", "-o", tmp_path / "out", "--workers", "1")
    assert run(*command).exit_code == 0
    result = run(*command, "--field-of-view", "whole")
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    for text in ("a, b, c", "field_of_view", "--overwrite", str(tmp_path / "out")):
        assert text in line


def test_finished_exams_with_another_rule_are_named_with_the_command_for_each(run, tmp_path):
    for name in ("a", "b"):
        write_exam_images(tmp_path / "source" / name, 2)
    command = ("screen", tmp_path / "source", "-o", tmp_path / "out", "--workers", "1")
    run(*command)
    result = run(*command, "--read", "1")
    assert_failed(result, "a, b", f"capsieve flag {tmp_path / 'out' / 'EXAM'} --read 1")


def test_an_exam_with_entries_of_readers_is_not_overwritten(run, images, tmp_path):
    pytest.importorskip("sqlalchemy")
    from support.readings import ExamReader

    command = ("screen", images, "-o", tmp_path / "out", "--workers", "1")
    run(*command)
    record = tmp_path / "out" / "small" / "exam.json"
    before = record.read_bytes()
    ExamReader(record.parent).add_finding("one", 1)
    assert run(*command).exit_code == 0
    assert_failed(run(*command, "--overwrite"), record.parent, "-o")
    assert record.read_bytes() == before


@pytest.mark.parametrize(
    "options", [("", "-o", "out"), ("x", "-o", ""), ("x", "-o", "out", "--parameters", "")]
)
def test_empty_paths_are_wrong_usage(run, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    assert_failed(run("screen", *options), "empty", code=2)
    assert list(tmp_path.iterdir()) == []


def test_a_detector_that_scores_no_frame_is_exit_code_1(run, tmp_path):
    from PIL import Image

    (tmp_path / "tiny").mkdir()
    Image.new("RGB", (6, 6)).save(tmp_path / "tiny" / "0.png")
    result = run("screen", tmp_path / "tiny", "-o", tmp_path / "out", "--workers", "1")
    assert result.exit_code == 1
    assert "no frame of tiny could be scored" in result.stderr


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", ">&- 2>&-"])
def test_without_a_place_for_messages_the_exam_is_screened(images, tmp_path, redirection):
    command = f"{sys.executable} -m capsieve screen {images} -o {tmp_path / 'out'} --workers 1"
    subprocess.run(f"{command} {redirection}", shell=True, check=False, stdout=subprocess.DEVNULL)
    record = json.loads((tmp_path / "out" / "small" / "exam.json").read_text())
    assert record["complete"]


def test_bidirectional_characters_do_not_reach_the_terminal(run, tmp_path):
    path = tmp_path / "exam\u202egnp.mp4"
    path.write_bytes(b"hello")
    result = run("screen", path, tmp_path / "absent\u202e.mp4", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "\u202e" not in result.output


def test_help_does_not_load_the_detectors():
    code = "import sys, capsieve.cli.screen, capsieve.cli.flag; print('numpy' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\n"
