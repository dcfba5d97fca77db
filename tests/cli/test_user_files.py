"""Every argument that names a file refuses whatever is not a regular file, without waiting."""

import os
import shutil
from pathlib import Path

import pytest

from support.commands import run_command
from support.exams import write_exam_images

LABELS = "file,exam,label\nframe0.png,a,polyp\nframe1.png,a,normal\n"
SCORES = "file,exam,score\nframe0.png,a,0.9\nframe1.png,a,0.1\n"
MASKS = "file,mask\nframe0.png,mask.png\n"

# Command line, and the file in it that is replaced.
EVALUATE = "evaluate scores.csv --labels labels.csv --threshold 0.5 -o evaluation"
ARGUMENTS = {
    "scores": (EVALUATE, "scores.csv"),
    "labels": (EVALUATE, "labels.csv"),
    "splits": (f"{EVALUATE} --splits splits.csv", "splits.csv"),
    "regions": (f"{EVALUATE} --regions masks.csv", "masks.csv"),
    "baseline": (f"{EVALUATE} --baseline other.csv", "other.csv"),
    "labels-to-split": ("splits labels.csv --folds 2 -o new.csv", "labels.csv"),
    "parameters": ("screen a -o new --parameters p.toml", "p.toml"),
    "model": ("screen a -o new --detector m.onnx", "m.onnx"),
    "model-show": ("model show m.onnx", "m.onnx"),
    "card": (
        "train results --model svm --labels labels.csv --card card.toml -o m.onnx",
        "card.toml",
    ),
    "frame": ("explain frame0.png", "frame0.png"),
    "exam": ("screen a.mp4 -o new", "a.mp4"),
    "archive": ("screen a.zip -o new", "a.zip"),
    "table": ("explain results/a --frame 0", "results/a/frames.parquet"),
    "record": ("report results/a", "results/a/exam.json"),
    "evaluated-table": (
        "evaluate results --labels labels.csv -o evaluation",
        "results/a/frames.parquet",
    ),
    "list": ("evaluate results --labels labels.csv -o evaluation", "evaluation/files.txt"),
    "study": ("phantom -o study --patients 1 --frames 20 --polyps 1", "study/study.json"),
}
KINDS = ("pipe", "device")  # without a check, the first one waits and the second one never ends


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    write_exam_images(folder / "a", 2)
    shutil.copy(folder / "a" / "frame0.png", folder)
    for name, text in (("labels", LABELS), ("scores", SCORES), ("other", SCORES), ("masks", MASKS)):
        (folder / f"{name}.csv").write_text(text)
    (folder / "splits.csv").write_text("file,exam,part\nframe0.png,a,test\nframe1.png,a,test\n")
    (folder / "study").mkdir()
    assert run_command("screen", "a", "-o", "results", "--quiet", cwd=folder).returncode == 0
    return folder


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_only_regular_files_are_read(study, tmp_path, monkeypatch, run, argument, kind):
    line, name = ARGUMENTS[argument]
    shutil.copytree(study, tmp_path / "work")
    path = tmp_path / "work" / name
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    monkeypatch.chdir(tmp_path / "work")
    result = run(*line.split())
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert Path(name).parent.name in result.stderr
    if argument not in ("evaluated-table", "list", "study"):  # the folder has no such content
        assert Path(name).name in result.stderr
        assert f"it is a {kind}" in result.stderr


def test_labels_from_a_pipe_are_refused_before_a_part_of_them_is_lost(study):
    reading, writing = os.pipe()
    os.write(writing, LABELS.encode())
    os.close(writing)
    line = f"evaluate scores.csv --labels /dev/fd/{reading} --threshold 0.5 -o from-pipe"
    result = run_command(*line.split(), cwd=study, pass_fds=[reading])
    os.close(reading)
    assert result.returncode == 1
    (message,) = result.stderr.splitlines()
    assert "is a pipe; save its content to a file first" in message
    assert not (study / "from-pipe").exists()
