"""The exams of a study: plan, free space, and wrong labels."""

import csv
from collections import namedtuple

import numpy as np
import pytest

from capsieve.errors import FileError, ParameterError
from capsieve.phantom.plan import PAPER
from capsieve.reproduce import study as module
from capsieve.reproduce.options import ReproduceOptions
from capsieve.reproduce.study import make_study, phantom_plan
from support.exams import write_exam_images
from support.small_study import small_options

Usage = namedtuple("Usage", "total used free")


def quiet(stage, share):
    """Ignore the progress."""


def test_a_short_study_has_a_tenth_of_the_frames_and_every_polyp(monkeypatch):
    planned = []
    monkeypatch.setattr(module, "plan_exam", lambda seed, **more: planned.append(more))
    monkeypatch.setattr(module, "replace", lambda exam, plan: exam)
    plan = phantom_plan(ReproduceOptions(short=True))
    assert len(plan.exams) == len(planned) == 5
    for each, (normal, lengths) in zip(planned, PAPER, strict=True):
        assert each["normal_frames"] == -(-normal // 10)
        assert each["sequence_lengths"] == tuple(-(-length // 10) for length in lengths)


def test_the_seeds_of_the_exams_are_those_of_the_study_of_the_paper(monkeypatch):
    seeds = []
    monkeypatch.setattr(module, "plan_exam", lambda seed, **more: seeds.append(seed))
    phantom_plan(small_options(seed=7, composition=((1, ()),)))
    monkeypatch.setattr("capsieve.phantom.plan.plan_exam", lambda seed, **more: seeds.append(seed))
    phantom_plan(ReproduceOptions(seed=7))
    assert seeds[-5] == seeds[-6]


def test_nothing_is_rendered_without_free_space(monkeypatch, tmp_path):
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: Usage(10**9, 10**9, 10**6))
    for name in ("plan_study", "write_study"):
        monkeypatch.setattr(module, name, pytest.fail)
    for options in (small_options(), ReproduceOptions(), ReproduceOptions(short=True)):
        with pytest.raises(FileError, match="free") as error:
            make_study(tmp_path / "study", options, quiet)
        assert ("--short" in str(error.value)) is not options.short


def test_what_is_there_needs_no_space_again(monkeypatch, tmp_path):
    needed = module._BYTES_PER_FRAME * 1000 + module._SPARE_BYTES
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: Usage(0, 0, needed - 1))
    with pytest.raises(FileError):
        module._check_space(tmp_path, 1000, "")
    (tmp_path / "some.mp4").write_bytes(b"1")
    module._check_space(tmp_path, 1000, "")


@pytest.fixture
def exams(tmp_path):
    """Exams of two patients, and a function that labels them."""
    for patient in "ab":
        write_exam_images(tmp_path / "exams" / patient, 4)

    def label(words):
        with (tmp_path / "labels.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["exam", "file", "label", "polyp", "patient"])
            for patient in "ab":
                for number, word in enumerate(words):
                    polyp = "1" if word == "polyp" else ""
                    writer.writerow([patient, f"frame{number}.png", word, polyp, patient])
        return {"exams": tmp_path / "exams", "labels": tmp_path / "labels.csv", "workers": 1}

    return label


def test_labels_without_polyps_are_refused_before_the_work(exams, tmp_path):
    options = ReproduceOptions(**exams(["normal"] * 4), train_patient="a")
    with pytest.raises(FileError, match="polyp"):
        make_study(tmp_path / "study", options, quiet)
    assert not (tmp_path / "study" / "printed").exists()


def test_an_unknown_training_patient_is_refused_before_the_work(exams, tmp_path):
    options = ReproduceOptions(**exams(["normal", "polyp", "polyp"]), train_patient="c")
    with pytest.raises(ParameterError) as error:
        make_study(tmp_path / "study", options, quiet)
    assert error.value.field == "train_patient"


def test_every_setting_is_scored_once():
    settings = module._settings()
    assert len(settings) == 7 + 2 * 7
    assert len(set(settings.values())) == len(settings)
    names = [name for name in settings if not name.endswith(" changed")]
    assert names[:2] == list(module.READINGS.values())
    assert np.unique([settings[name].stencil for name in names]).tolist() == [1.0, 3.0]
