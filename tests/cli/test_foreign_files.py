"""No command replaces a file that capsieve did not write; its own files are replaced."""

import csv
from pathlib import Path

import pytest

from support.exams import write_exam_images
from support.readings import ExamReader

FOREIGN = b"exam,frame,label\nlabels,of,somebody\n"
LABELS = ("--labels", "labels.csv")

# Command line, and a file that it writes.
COMMANDS = {
    "report": ("report results/a -o page.html", "page.html"),
    "report-default": ("report results/a", "results/a/reading.html"),
    "report-pdf": ("report results/a -o page.pdf --pdf", "page.pdf"),
    "explain": ("explain exams/a/frame0.png -o panels.png", "panels.png"),
    "explain-svg": ("explain exams/a/frame0.png -o panels.svg", "panels.svg"),
    "splits": ("splits labels.csv --folds 2 -o folds.csv", "folds.csv"),
    "splits-parquet": ("splits labels.csv --folds 2 -o folds.parquet", "folds.parquet"),
    "screen": ("screen exams/b -o results", "results/b/report.html"),
    "screen-overwrite": ("screen exams/a -o results --overwrite", "results/a/report.html"),
    "screen-table": ("screen exams/b -o results", "results/b/frames.parquet"),
    "screen-record": ("screen exams/b -o results --overwrite", "results/b/exam.json"),
    "flag": ("flag results/a --read 3", "results/a/report.html"),
    "evaluate": ("evaluate results --labels labels.csv -o eval", "eval/report.html"),
    "evaluate-table": (
        "evaluate results --labels labels.csv -o eval",
        "eval/tables/operating-points.csv",
    ),
    "evaluate-list": ("evaluate results --labels labels.csv -o eval", "eval/files.txt"),
    "calibrate": (
        "calibrate results --labels labels.csv --specificity 50 -o chosen",
        "chosen/calibrated.toml",
    ),
    "calibrate-frames": (
        "calibrate results --labels labels.csv --specificity 50 -o chosen",
        "chosen/calibrated.frames.txt",
    ),
    "robustness": ("robustness exams --labels labels.csv -o robust", "robust/robustness.csv"),
    "search": (
        "search exams --labels labels.csv --settings 2 --folds 2 -o found",
        "found/settings.csv",
    ),
}


@pytest.fixture
def study(tmp_path, monkeypatch, run):
    """Two short exams, of which a is screened and read, and their labels."""
    monkeypatch.chdir(tmp_path)
    rows = [("exam", "file", "label", "patient")]
    for exam in "ab":
        write_exam_images(tmp_path / "exams" / exam, 12)
        for number in range(12):
            label = "polyp" if number < 6 else "normal"
            rows.append((exam, f"frame{number}.png", label, exam))
    with open("labels.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert run("screen", "exams/a", "-o", "results", "--quiet").exit_code == 0
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_foreign_file_is_kept_and_an_own_file_is_replaced(run, study, name):
    line, written = COMMANDS[name]
    path = study / written
    own = path.read_bytes() if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(FOREIGN)
    result = run(*line.split())
    assert result.exit_code == 1
    assert str(Path(written).parent) in result.stderr
    assert path.read_bytes() == FOREIGN
    path.unlink()
    if own is not None:
        path.write_bytes(own)
    for _ in range(2):
        result = run(*line.split())
        assert result.exit_code == 0, result.output
        assert path.read_bytes() != FOREIGN


def test_the_report_of_a_reading_never_replaces_labels(run, study):
    ExamReader(Path("results/a")).add_finding("a", 3)
    labels = Path("labels.csv").read_bytes()
    assert run("report", "results/a", "-o", "labels.csv").exit_code == 2
    assert Path("labels.csv").read_bytes() == labels


def test_another_study_is_replaced_only_if_capsieve_wrote_it(run, tmp_path):
    foreign = tmp_path / "study.json"
    foreign.write_bytes(b'{"study": "of somebody"}')
    (tmp_path / "exams").mkdir()
    (tmp_path / "exams" / "own.mp4").write_bytes(FOREIGN)
    result = run("phantom", "-o", tmp_path, "--overwrite", "--study", "demo")
    assert result.exit_code == 1
    assert str(foreign) in result.stderr
    assert (tmp_path / "exams" / "own.mp4").read_bytes() == FOREIGN


@pytest.mark.parametrize("name", ["reproduction.html", "tables/readings.csv"])
def test_a_reproduction_names_a_foreign_file_before_it_renders(run, tmp_path, name):
    (tmp_path / "tables").mkdir()
    (tmp_path / name).write_bytes(FOREIGN)
    result = run("reproduce", "--short", "-o", tmp_path)
    assert result.exit_code == 1
    assert name in result.stderr
    assert (tmp_path / name).read_bytes() == FOREIGN
    assert not (tmp_path / "phantom").exists()


def test_the_demo_names_a_foreign_file_before_it_renders(run, tmp_path):
    (tmp_path / "nine-panels.png").write_bytes(FOREIGN)
    result = run("demo", "-o", tmp_path)
    assert result.exit_code == 1
    assert "nine-panels.png" in result.stderr
    assert not (tmp_path / "study").exists()
