"""``capsieve demo``: render, screen and evaluate a synthetic study."""

import json
import os
import shlex
import signal
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from capsieve.cli.demo import best_polyp_frame
from capsieve.detector import demo_range
from support.made_evaluation import made_evaluation


def test_a_file_in_the_place_of_the_folder_is_wrong_usage(run, tmp_path):
    (tmp_path / "file").touch()
    assert run("demo", "-o", tmp_path / "file").exit_code == 2


def test_a_folder_that_cannot_be_made_is_exit_code_1(run, tmp_path):
    (tmp_path / "file").touch()
    result = run("demo", "-o", tmp_path / "file" / "demo", "--quiet")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("capsieve: cannot ")


@pytest.mark.parametrize("command", [("demo",), ("phantom", "--study", "demo")])
def test_sigterm_ends_it_with_advice(run, tmp_path, monkeypatch, command):
    def terminated(*_, **__):
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("capsieve.phantom.write_study", terminated)
    result = run(*command, "-o", tmp_path / "out")
    assert result.exit_code != 0
    assert "the same command continues the work" in result.stderr


def test_the_explained_frame_is_the_best_with_the_ball_on_the_polyp():
    evaluation = made_evaluation(compared=False)
    frames = evaluation.frames
    flagged = np.flatnonzero(frames.flagged & frames.polyp_frames)
    by_score = flagged[np.argsort(-frames.score[flagged], kind="stable")]
    assert best_polyp_frame(evaluation) == by_score[0]
    on_polyp = np.ones(len(frames), bool)
    on_polyp[by_score[:3]] = False
    assert best_polyp_frame(replace(evaluation, on_polyp=on_polyp)) == by_score[3]
    assert best_polyp_frame(replace(evaluation, on_polyp=np.zeros(len(frames), bool))) is None


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    from click.testing import CliRunner

    from capsieve.cli.main import cli

    out = tmp_path_factory.mktemp("demo")
    return out, CliRunner().invoke(cli, ["demo", "-o", str(out)])


@pytest.mark.slow
def test_the_demo_writes_reports_and_prints_their_paths(demo):
    out, result = demo
    assert result.exit_code == 0, result.output
    for number in range(1, 6):
        assert (out / "results" / f"patient-{number}" / "report.html").is_file()
    names = ("results/index.html", "evaluation/report.html", "nine-panels.png", "study")
    for path in map(out.joinpath, names):
        assert path.exists()
        assert str(path) in result.stdout
    with Image.open(out / "nine-panels.png") as image:
        assert image.width > 800


@pytest.mark.slow
def test_the_demo_prints_at_most_25_lines_with_one_about_its_numbers(demo):
    _, result = demo
    assert len(result.output.splitlines()) <= 25
    assert "test the software, not a detector" in result.stdout


@pytest.mark.slow
def test_the_exam_table_has_the_counts_of_the_exam_records(demo):
    out, result = demo
    for path in out.glob("results/*/exam.json"):
        counts = json.loads(path.read_text())["frame_counts"]
        row = next(line for line in result.stdout.splitlines() if line.startswith(path.parent.name))
        assert row.split()[1:4] == [str(counts[name]) for name in ("found", "to_read", "events")]


@pytest.mark.slow
def test_both_detectors_are_compared_with_equally_many_frames_to_read(demo):
    pytest.importorskip("onnxruntime", reason="models need the extra learned")
    out, result = demo
    records = {
        name: [json.loads(path.read_text()) for path in out.glob(f"{name}/*/exam.json")]
        for name in ("results", "results-learned")
    }
    read, other = (
        sum(record["frame_counts"]["to_read"] for record in each) for each in records.values()
    )
    assert abs(read - other) <= len(records["results"])  # each exam is rounded up
    [sensitivity] = [line for line in result.stdout.splitlines() if "per polyp" in line]
    assert sensitivity.count(" of 16") == 2


@pytest.mark.slow
def test_the_demo_evaluates_the_threshold_that_it_screened_with(demo):
    out, result = demo
    content = json.loads((out / "evaluation" / "metrics.json").read_text())
    assert (content["points"][0]["key"], content["points"][0]["value"]) == ("screened", 37)
    values = {metric["key"]: metric for metric in content["metrics"]}
    for key, total in [("polyps.sensitivity", 16), ("frames.specificity", 550)]:
        assert values[key]["denominator"] == total
        assert f"{values[key]['numerator']} of {total}" in result.stdout
    # Most polyp frames should be flagged because of their polyp (53 of 72 on this phantom).
    assert values["localisation.flagged"]["value"] > 0.7


@pytest.mark.slow
def test_the_evaluation_counts_frames_to_read_and_events_as_the_exams_do(demo):
    out, _ = demo
    content = json.loads((out / "evaluation" / "metrics.json").read_text())
    values = {metric["key"]: metric for metric in content["metrics"]}
    records = [json.loads(path.read_text()) for path in out.glob("results/*/exam.json")]
    for key, count in (("frames_per_exam", "to_read"), ("events_per_exam", "events")):
        total = sum(record["frame_counts"][count] for record in records)
        assert values[f"effort.{key}"]["numerator"] == total


@pytest.mark.slow
def test_the_demo_ends_with_the_command_that_opens_its_exams(demo):
    out, result = demo
    *program, review, results = shlex.split(result.stdout.splitlines()[-1].split(":", 1)[1])
    assert program
    assert (review, results) == ("review", str(out / "results"))


@pytest.mark.slow
def test_the_demo_study_is_the_range_that_the_detector_was_calibrated_on(demo):
    out, _ = demo
    records = [json.loads(path.read_text()) for path in out.glob("results/*/exam.json")]
    columns = ["texture_max", "red", "green", "blue"]
    tables = [pq.read_table(path, columns=columns) for path in out.glob("results/*/frames.parquet")]
    texture, red, green, blue = (
        np.concatenate([table[name] for table in tables]) for name in columns
    )
    total = red + green + blue
    measured = {"texture": texture, "brightness": total / 3, "redness": red / total}
    for name, values in (measured | {"blueness": blue / total}).items():
        low, high = demo_range().quantiles[name]
        assert 0.005 < (values < low).mean() < 0.015, name
        assert 0.005 < (values > high).mean() < 0.015, name
    for record in records:
        assert not record["range"]["measures"]["field"]["warning"]


@pytest.mark.slow
def test_a_second_demo_screens_nothing_again(demo, run):
    out, _ = demo
    before = {path: path.stat().st_mtime_ns for path in out.glob("results/*/frames.parquet")}
    result = run("demo", "-o", out, "--quiet")
    assert result.exit_code == 0
    assert result.stdout == demo[1].stdout
    assert {
        path: path.stat().st_mtime_ns for path in out.glob("results/*/frames.parquet")
    } == before
