"""``capsieve splits``."""

import csv
import json

import pytest

from support.commands import assert_failed


def parts_of(path):
    """Return the parts that a file of splits names, by exam."""
    with path.open(newline="") as file:
        return {row["exam"]: row["part"] for row in csv.DictReader(file)}


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "frame", "label", "polyp", "patient"])
        for patient in range(10):
            for frame in range(30):
                polyp = frame < 3
                writer.writerow(
                    [f"exam-{patient}", frame, "polyp" if polyp else "normal",
                     "1" if polyp else "", patient]
                )  # fmt: skip
    return path


def test_a_split_is_written_and_its_parts_are_printed(run, labels, tmp_path):
    result = run("splits", labels, "-o", tmp_path / "splits.csv", "--test", "30")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["Part", "Groups", "Frames", "Polyp", "Normal", "Other", "Polyps"] in lines
    assert ["train", "7", "210", "21", "189", "0", "7"] in lines
    assert ["test", "3", "90", "9", "81", "0", "3"] in lines
    assert set(parts_of(tmp_path / "splits.csv").values()) == {"train", "test"}


def test_neighbours_stay_together_with_in_order(run, labels, tmp_path):
    result = run("splits", labels, "-o", tmp_path / "fifths.csv", "--folds", "5", "--in-order")
    assert result.exit_code == 0, result.output
    parts = parts_of(tmp_path / "fifths.csv")
    assert [parts[f"exam-{patient}"] for patient in range(10)] == list("1122334455")


def test_folds_as_json(run, labels, tmp_path):
    result = run("splits", labels, "-o", tmp_path / "folds.csv", "--folds", "5", "--json")
    content = json.loads(result.stdout)
    assert content["schema"] == 2
    assert [(part["part"], part["frames"]) for part in content["parts"]] == [
        (str(number), 60) for number in range(1, 6)
    ]
    assert content["kind"] == "patient"


@pytest.mark.parametrize(
    "options",
    [("--folds", "3", "--test", "20"), ("--test", "0.2"), ("--test", "100"), ("--folds", "1"),
     ("--seed", "-1"), ("--in-order", "--seed", "1")],
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(run, labels, tmp_path, options):
    assert run("splits", labels, "-o", tmp_path / "splits.csv", *options).exit_code == 2


def test_too_many_folds_fail(run, labels, tmp_path):
    result = run("splits", labels, "-o", tmp_path / "splits.csv", "--folds", "11")
    assert result.exit_code == 2
    assert "--folds" in result.stderr
    assert not (tmp_path / "splits.csv").exists()


def test_unknown_labels_are_reported_on_stderr(run, labels, tmp_path):
    with labels.open("a") as file:
        file.write("exam-1,99,polip,,1\n")
    result = run("splits", labels, "-o", tmp_path / "splits.csv")
    assert result.exit_code == 0
    assert "polip" in result.stderr
    assert "polip" not in result.stdout


def test_labels_are_never_written_over_but_an_older_split_is(run, labels, tmp_path):
    before = labels.read_bytes()
    result = run("splits", labels, "-o", labels)
    assert_failed(result, labels)
    assert labels.read_bytes() == before
    for seed in ("0", "1"):
        assert run("splits", labels, "-o", tmp_path / "s.csv", "--seed", seed).exit_code == 0
