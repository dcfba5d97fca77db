"""``capsieve demo``: the whole way on a synthetic study."""

import json
import shlex
import shutil
import sys

import pyarrow.parquet as pq
import pytest
from PIL import Image

from capsieve.cli.demo import as_called
from capsieve.detector import demo_range


def test_a_file_in_the_place_of_the_folder_is_wrong_usage(run, tmp_path):
    (tmp_path / "file").touch()
    assert run("demo", "-o", tmp_path / "file").exit_code == 2


def test_a_folder_that_cannot_be_made_is_exit_code_1(run, tmp_path):
    (tmp_path / "file").touch()
    result = run("demo", "-o", tmp_path / "file" / "demo", "--quiet")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("capsieve: cannot ")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    from click.testing import CliRunner

    from capsieve.cli.main import cli

    out = tmp_path_factory.mktemp("demo")
    return out, CliRunner().invoke(cli, ["demo", "-o", str(out), "--quiet"])


@pytest.mark.slow
def test_the_demo_screens_its_study_and_tells_where_the_reports_are(demo):
    out, result = demo
    assert result.exit_code == 0, result.output
    for number in range(1, 6):
        assert str(out / "results" / f"patient-{number}" / "report.html") in result.stdout
    assert "5 of 5 exams, 670 frames" in result.stdout
    with Image.open(out / "nine-panels.png") as image:
        assert image.width > 800


@pytest.mark.slow
def test_the_demo_ends_with_the_command_that_opens_its_exams(demo):
    out, result = demo
    assert result.stdout.splitlines()[-1].endswith(f" review {out / 'results'}")


@pytest.mark.parametrize(
    ("called", "found", "command"),
    [
        ("/usr/bin/capsieve", True, "capsieve"),
        (".venv/bin/capsieve", False, ".venv/bin/capsieve"),
        ("/a b/capsieve", False, "'/a b/capsieve'"),
        ("/lib/capsieve/__main__.py", True, f"{shlex.quote(sys.executable)} -m capsieve"),
    ],
)
def test_the_next_command_is_called_as_this_one_was(monkeypatch, called, found, command):
    monkeypatch.setattr(sys, "argv", [called, "demo"])
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if found else None)
    assert as_called() == command


@pytest.mark.slow
def test_the_demo_is_judged_by_the_truth_of_its_study(demo):
    out, result = demo
    assert "of 16 polyps" in result.stdout
    assert str(out / "evaluation" / "report.html") in result.stdout
    content = json.loads((out / "evaluation" / "metrics.json").read_text())
    values = {metric["key"]: metric for metric in content["metrics"]}
    assert values["frames.all.sensitivity"]["denominator"] == 120
    assert values["frames.all.specificity"]["denominator"] == 550
    assert values["frames.train.specificity"]["value"] >= 0.9
    # Polyps are what the algorithm looks for: where a polyp frame is flagged, it is for the polyp.
    assert values["localisation.flagged.hit_rate"]["value"] > 0.75


@pytest.mark.slow
def test_the_demo_study_is_the_range_that_the_detector_was_calibrated_on(demo):
    out, _ = demo
    records = [json.loads(path.read_text()) for path in out.glob("results/*/exam.json")]
    values = []
    for path in out.glob("results/*/frames.parquet"):
        values += pq.read_table(path)["texture_max"].to_pylist()
    low, high = demo_range().quantiles["texture"]
    assert 0.005 < sum(value < low for value in values) / len(values) < 0.015
    assert 0.005 < sum(value > high for value in values) / len(values) < 0.015
    for record in records:
        assert not record["range"]["measures"]["field"]["warning"]


@pytest.mark.slow
def test_a_second_demo_finds_everything_done(demo, run):
    out, _ = demo
    result = run("demo", "-o", out, "--quiet")
    assert result.exit_code == 0
    assert result.stdout.count("screened before") == 5
