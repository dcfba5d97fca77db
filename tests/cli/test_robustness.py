"""``capsieve robustness``."""

import csv
import json
import signal

import pytest

from capsieve.evaluation import robustness
from support.commands import assert_failed
from support.exams import write_exam_images


@pytest.fixture
def study(tmp_path):
    """A short exam of images: polyp frames and normal frames by turns, and one without a label."""
    images = write_exam_images(tmp_path / "exams" / "small", 14)
    labels = tmp_path / "labels.csv"
    with labels.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "file", "label", "polyp"])
        for number in range(13):
            word = "polyp" if number < 6 else "normal"
            writer.writerow(["small", f"frame{number}.png", word, "1" if number < 6 else ""])
    return images, labels


def arguments(study, out, *more):
    images, labels = study
    return ("robustness", images, "--labels", labels, "-o", out, "--workers", "1", *more)


def test_it_prints_the_table_and_writes_the_files(run, study, tmp_path):
    out = tmp_path / "out"
    result = run(*arguments(study, out, "--quiet", "--parameter", "sigma1", "--normals", "5"))
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[3:6]] == ["Base", "sigma1", "sigma1"]
    frames = json.loads((out / "robustness.json").read_text())["frames"]
    assert frames["unlabelled"] == 1
    assert sorted(path.name for path in out.iterdir()) == [
        f"robustness.{suffix}" for suffix in ("csv", "json", "png", "tex")
    ]


def test_the_base_may_be_the_paper_as_inferred(run, study, tmp_path):
    more = ("--quiet", "--parameter", "S_L", "--parameters", "inferred", "--normals", "2")
    result = run(*arguments(study, tmp_path / "out", *more))
    assert "as inferred" in result.stdout
    settings = json.loads((tmp_path / "out" / "robustness.json").read_text())["settings"]
    assert settings["preset"] == "inferred"
    assert settings["parameters"]["stencil"] == 3


def test_json_is_the_file_and_nothing_else(run, study, tmp_path):
    out = tmp_path / "out"
    result = run(
        *arguments(study, out, "--quiet", "--json", "--change", "20", "--parameter", "M_U")
    )
    printed = json.loads(result.stdout)
    assert printed == json.loads((out / "robustness.json").read_text())
    (change,) = printed["changes"]
    assert (change["parameter"], change["percent"], change["value"]) == (
        "threshold_high",
        20,
        0.192,
    )
    assert change["effect"]["frames.sensitivity"]["denominator"] == 6
    assert printed["frames"]["unlabelled"] == 1
    assert printed["settings"]["parameters"]["threshold_high"] == 0.16


def test_a_frame_that_does_not_decode_is_named_and_exit_code_1(run, study, tmp_path):
    (study[0] / "frame8.png").write_bytes(b"rubbish")
    result = run(*arguments(study, tmp_path / "out", "--quiet", "--parameter", "M_U"))
    assert result.exit_code == 1
    assert "small/frame8.png" in result.stderr
    assert result.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--parameter", "sigma7"),
        ("--change", "0"),
        ("--change", "80", "--parameter", "M_L"),
        ("--normals", "0"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused(run, study, tmp_path, options):
    assert_failed(run(*arguments(study, tmp_path / "out", *options)), options[0], code=2)
    assert not (tmp_path / "out").exists()


def test_an_impossible_change_is_reported_and_the_others_are_made(run, study, tmp_path):
    options = ("--parameter", "M_L", "--change", "80", "--change", "5", "--quiet")
    result = run(*arguments(study, tmp_path / "out", *options))
    assert result.exit_code == 0
    assert "threshold_low" in result.stdout


def test_an_interrupted_run_has_exit_code_130(run, study, tmp_path, monkeypatch):
    def stopped(*_, **__):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(robustness, "study_robustness", stopped)
    assert run(*arguments(study, tmp_path / "out")).exit_code != 0
