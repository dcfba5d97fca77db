"""``capsieve reproduce``."""

from collections import namedtuple

import pytest

from capsieve.cli import progress
from capsieve.errors import FileError
from capsieve.reproduce import run as module
from capsieve.reproduce.run import Reproduction
from capsieve.result_table import Column, Table

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--labels", "labels.csv"),
        ("--train-patient", "4"),
        ("--exams", "exams", "--labels", "labels.csv"),
        ("--exams", "exams", "--train-patient", "4"),
        ("--exams", "exams", "--labels", "labels.csv", "--train-patient", "4", "--short"),
        ("--seed", "-1"),
    ],
)
def test_options_that_do_not_fit_are_wrong_usage(run, tmp_path, arguments):
    result = run("reproduce", "-o", tmp_path / "study", *arguments)
    assert result.exit_code == 2
    assert not (tmp_path / "study").exists()


def test_the_usage_error_names_the_option(run, tmp_path):
    result = run("reproduce", "-o", tmp_path / "study", "--train-patient", "4")
    assert "--train-patient" in result.stderr


def test_too_little_space_is_exit_code_1(run, tmp_path, monkeypatch):
    def fail(out, **more):
        raise FileError("cannot render the study: no space")

    monkeypatch.setattr(module, "reproduce", fail)
    result = run("reproduce", "-o", tmp_path / "study", "--quiet")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "capsieve: cannot render the study: no space"


@pytest.mark.parametrize("own", [False, True])
def test_the_command_prints_the_readings_and_the_page(run, tmp_path, monkeypatch, own):
    given = {}
    table = Table("readings", "Readings", (Column("setting", "Setting"),), (("As printed",),))

    def reproduce(out, *, options, progress):
        given["options"] = options
        for stage in ("scoring with every setting", "evaluating"):
            progress(stage, 1.0)
        return Reproduction(out / "reproduction.html", {"readings": table})

    monkeypatch.setattr(module, "reproduce", reproduce)
    more = ("--exams", "e", "--labels", "l.csv", "--train-patient", "7") if own else ("--short",)
    result = run("reproduce", "-o", tmp_path / "study", *more)
    assert result.exit_code == 0, result.stderr
    assert "As printed" in result.stdout
    assert str(tmp_path / "study" / "reproduction.html") in result.stdout
    assert ("synthetic" in result.stdout) is not own
    assert given["options"].short is not own
    assert given["options"].patient == ("7" if own else "4")


def test_one_bar_covers_all_stages(monkeypatch):
    shown = []

    class Display:
        def __enter__(self):
            return lambda what, done, total, words: shown.append((what, done, total, words))

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(progress, "_display", lambda **_: Display())
    with progress.stage_progress({"first": 30.0, "second": 10.0}) as listen:
        for stage, share in (("first", 0.5), ("first", 1.0), ("second", 0.4), ("second", 1.0)):
            listen(stage, share)
    assert [done for _, done, _, _ in shown] == [37, 75, 85, 100]
    assert len({(what, total) for what, _, total, _ in shown}) == 1
    assert shown[2][3].startswith("second")
