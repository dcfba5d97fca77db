"""``capsieve train`` as a user meets it."""

import json
import signal
import sys

import pytest

from capsieve.cli import train_progress
from capsieve.engine import training
from capsieve.screening.settings import Progress
from support.commands import run_command
from training_study import write_study, write_study_labels

pytest.importorskip("sklearn", reason="training needs the extra train")
pytest.importorskip("onnx", reason="training needs the extra train")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return write_study(folder / "exams"), write_study_labels(folder / "labels.csv")


def arguments(study, out):
    exams, labels = study
    return ["train", exams, "--labels", labels, "-o", out, "--workers", "1", "--rounds", "100"]


@pytest.mark.slow
def test_it_prints_the_figures_and_what_to_do_next(run, study, tmp_path):
    out = tmp_path / "model.onnx"
    texts = tmp_path / "texts.toml"
    texts.write_text('name = "mine"\n[[data]]\nname = "frames"\nlicence = "CC0"\n')
    first = [*arguments(study, out), "--folds", "4", "--card", texts]
    result = run(*first)
    assert result.exit_code == 0, result.output
    assert "Area under the ROC curve per frame" in result.stdout
    assert "Sensitivity per polyp, for 90 %" in result.stdout
    assert f"--detector {out}" in result.stdout
    assert "fold 4 of 4" in result.stderr
    again = run(*first, "--json", "--quiet")
    content = json.loads(again.stdout)
    assert content["card"]["name"] == "mine"
    assert content["card"]["data"][0]["licence"] == "CC0"
    assert not again.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--model", "oracle"], "--model"),
        (["--splits", "folds.csv", "--folds", "3"], "both say what the folds are"),
        (["--card", "texts.toml", "--licence", "CC0"], "say one"),
        (["--specificity", "0.9"], "--specificity"),
    ],
)
def test_wrong_usage_is_exit_code_2(run, study, tmp_path, more, words):
    result = run(*arguments(study, tmp_path / "model.onnx"), *more)
    assert result.exit_code == 2
    assert words in result.stderr


def test_work_that_fails_is_one_sentence_and_exit_code_1(study, tmp_path):
    labels = write_study_labels(tmp_path / "labels.csv", classes="normal normal")
    result = run_command(*arguments((study[0], labels), tmp_path / "model.onnx"))
    assert result.returncode == 1
    assert result.stderr.startswith("capsieve: no frame is labelled polyp in ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("content", ["name = 3\n", "nam = 'x'\n", "[["])
def test_an_invalid_card_file_is_refused(run, study, tmp_path, content):
    texts = tmp_path / "texts.toml"
    texts.write_text(content)
    result = run(*arguments(study, tmp_path / "model.onnx"), "--card", texts)
    assert result.exit_code == 1
    assert str(texts) in result.stderr


def test_an_interrupted_run_says_how_to_go_on(run, study, tmp_path, monkeypatch):
    def stopped(*_, **__):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(training, "train", stopped)
    result = run(*arguments(study, tmp_path / "model.onnx"), "--overwrite")
    assert result.exit_code != 0
    assert "the same command without --overwrite" in result.stderr


def test_each_fit_is_told_once_and_exams_before_them(capsys):
    with train_progress.train_progress() as shown:
        shown.listen(Progress("exam", 1, 1, 0, 10, 0))
        for done in range(3):
            shown.tell("fold 1", done, 2)
        shown.tell("fold 2", 0, 2)
    assert capsys.readouterr().err.splitlines() == ["fold 1: 0 of 2", "fold 2: 0 of 2"]


def test_a_terminal_shows_one_display_at_a_time(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with train_progress.train_progress() as shown:
        shown.listen(Progress("exam", 1, 1, 5, 10, 0))
        shown.tell("fold 1", 1, 2)
        shown.tell("fold 2", 1, 2)
    assert "fold 2" in capsys.readouterr().err
