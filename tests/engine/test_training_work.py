"""Where a training keeps its work: what is used again, and who else may be there."""

import re
from dataclasses import dataclass, replace
from importlib.metadata import requires, version
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from capsieve.curvature.constants import Constants
from capsieve.engine import training_work
from capsieve.engine.training_work import TrainingWork, open_work
from capsieve.errors import OccupiedError
from capsieve.learned.features.registry import NAMES
from capsieve.learned.training import features_detector
from learned.made_examples import made_examples

EXAMPLES = made_examples()
PICTURES = replace(EXAMPLES, crops=np.zeros((len(EXAMPLES), 8, 8, 3), np.uint8))
FRAMES: Any = SimpleNamespace(
    sha1=tuple(map(str, range(len(EXAMPLES)))), part=(EXAMPLES.group % 4).astype(np.int16)
)


@dataclass(frozen=True)
class Made:
    """Learns nothing; only its names count."""

    looks_at: frozenset[str] = frozenset({"values"})
    name: str = "made"
    setting: int = 1

    FORMAT: ClassVar[int] = 1

    def fit(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


ON_IMAGES = Made(looks_at=frozenset({"image"}))


def folder(tmp_path, trainer=Made(), examples=EXAMPLES, frames=FRAMES, seed=0):  # noqa: B008
    return TrainingWork(tmp_path, tmp_path).fits(trainer, examples, frames, seed)


def test_the_same_work_has_the_same_folder(tmp_path):
    assert folder(tmp_path) == folder(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"trainer": Made(setting=2)},
        {"seed": 1},
        {"examples": replace(EXAMPLES, values=EXAMPLES.values + 1)},
        {"examples": replace(EXAMPLES, truth=EXAMPLES.truth[::-1])},
        {"frames": SimpleNamespace(sha1=FRAMES.sha1, part=FRAMES.part[::-1])},
    ],
)
def test_other_settings_frames_labels_or_folds_have_another_folder(tmp_path, changed):
    assert folder(tmp_path, **changed) != folder(tmp_path)


def test_a_trainer_that_fits_in_another_way_has_another_folder(tmp_path, monkeypatch):
    before = folder(tmp_path)
    monkeypatch.setattr(Made, "FORMAT", 2)
    assert folder(tmp_path) != before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VERSION", 1000),
        ("NAMES", NAMES[::-1]),
        ("Constants", lambda: Constants(height=1 / 5)),
    ],
)
def test_other_features_have_another_folder_where_they_are_looked_at(
    tmp_path, monkeypatch, name, value
):
    before = folder(tmp_path), folder(tmp_path, ON_IMAGES, PICTURES)
    monkeypatch.setattr(features_detector, name, value)
    assert folder(tmp_path) != before[0]
    assert folder(tmp_path, ON_IMAGES, PICTURES) == before[1]


def test_other_crops_have_another_folder_where_they_are_looked_at(tmp_path, monkeypatch):
    before = folder(tmp_path), folder(tmp_path, ON_IMAGES, PICTURES)
    monkeypatch.setattr(training_work, "CROP_VERSION", 1000)
    assert folder(tmp_path) == before[0]
    assert folder(tmp_path, ON_IMAGES, PICTURES) != before[1]


def test_the_same_frames_cut_out_in_another_way_have_another_folder(tmp_path):
    moved = replace(PICTURES, crops=np.ones_like(PICTURES.crops))
    assert folder(tmp_path, ON_IMAGES, moved) != folder(tmp_path, ON_IMAGES, PICTURES)


def extras(*wanted):
    """Return the packages of capsieve's extras."""
    for requirement in requires("capsieve") or ():
        package, _, marker = requirement.partition(";")
        if any(f"extra == '{extra}'" in marker.replace('"', "'") for extra in wanted):
            found = re.match(r"[A-Za-z0-9_.-]+", package)
            assert found
            yield found[0].lower()


@pytest.mark.parametrize(
    "package",
    sorted(
        {*extras("train", "torch"), "numpy", "numba", "llvmlite", "opencv-python-headless", "scipy"}
    ),
)
def test_another_version_of_what_fits_has_another_folder(tmp_path, monkeypatch, package):
    before = folder(tmp_path)
    monkeypatch.setattr(
        training_work, "version", lambda name: "0.0.dev0" if name == package else version(name)
    )
    assert folder(tmp_path) != before


def test_two_trainings_do_not_write_one_model(tmp_path):
    out = tmp_path / "model.onnx"
    with (
        open_work(out, tmp_path / "one", fresh=False),
        pytest.raises(
            OccupiedError,
            match=r"another training is writing .*model\.onnx \(process .*give another file with",
        ),
        open_work(out, tmp_path / "two", fresh=False),
    ):
        pass


def test_two_trainings_do_not_share_work_at_the_same_time(tmp_path):
    with (
        open_work(tmp_path / "one.onnx", tmp_path / "work", fresh=False),
        pytest.raises(OccupiedError, match=r"working in .*work \(process .*another folder with"),
        open_work(tmp_path / "two.onnx", tmp_path / "work", fresh=False),
    ):
        pass


def test_a_refused_training_lets_go_of_its_model(tmp_path):
    out = tmp_path / "two.onnx"
    with open_work(tmp_path / "one.onnx", tmp_path / "work", fresh=False):
        with pytest.raises(OccupiedError), open_work(out, tmp_path / "work", fresh=False):
            pass
        assert not (tmp_path / "two.onnx.work").exists()
        with open_work(out, None, fresh=False):
            pass


def test_a_refused_training_keeps_what_an_earlier_one_left(tmp_path):
    folds = tmp_path / "two.onnx.work" / "folds.csv"
    folds.parent.mkdir()
    folds.write_text("kept")
    with (
        open_work(tmp_path / "one.onnx", tmp_path / "work", fresh=False),
        pytest.raises(OccupiedError),
        open_work(tmp_path / "two.onnx", tmp_path / "work", fresh=False),
    ):
        pass
    assert folds.read_text() == "kept"


def test_an_empty_folder_of_the_users_own_stays(tmp_path):
    mine = tmp_path / "two.onnx.work"
    mine.mkdir()
    with (
        open_work(tmp_path / "one.onnx", tmp_path / "work", fresh=False),
        pytest.raises(OccupiedError),
        open_work(tmp_path / "two.onnx", tmp_path / "work", fresh=False),
    ):
        pass
    assert mine.is_dir()


def test_the_models_own_folder_may_be_named_in_another_way(tmp_path):
    own = tmp_path / "model.onnx.work"
    own.mkdir()
    (tmp_path / "link").symlink_to(own)
    with open_work(tmp_path / "model.onnx", tmp_path / "link", fresh=False) as work:
        assert work.screened.parent.samefile(own)
