"""Crops of labelled frames: those of the screened pixels, made once."""

import resource
import shutil
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from capsieve.detectors import PaperDetector
from capsieve.engine import training_crops
from capsieve.engine.executors.serial import Serial
from capsieve.engine.screening import screen
from capsieve.engine.training_crops import gather_crops
from capsieve.errors import FileError
from capsieve.learned.image_input import crop
from capsieve.statistics.matching.screened import read_screened
from capsieve.store.reader import exam_folders, read_frames
from capsieve.store.recall import recall
from sample_exams import write_exam_images, write_exam_video

SIZE = 64


class Names(SimpleNamespace):
    def __len__(self):
        return len(self.exam)


@dataclass
class Study:
    inputs: list
    results: object
    frames: object
    chosen: list


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return two exams, of which every other frame is wanted."""
    tmp_path = tmp_path_factory.mktemp("study")
    inputs = [
        write_exam_images(tmp_path / "images", 10),
        write_exam_video(tmp_path / "video.mp4", 30),
    ]
    screen(inputs, tmp_path / "screened", detector=PaperDetector(), workers=1)
    folders = exam_folders(tmp_path / "screened")
    judged = read_screened(folders)
    names = Names(exams=judged.exams, exam=judged.exam, head=judged.columns["head"])
    place = np.arange(0, len(judged), 2)
    sha1 = [
        text for folder in folders for text in read_frames(folder, ["sha1"])["sha1"].to_pylist()
    ]
    frames = SimpleNamespace(
        judged=names,
        place=place,
        sha1=tuple(sha1[row] for row in place),
        read=SimpleNamespace(matched=SimpleNamespace(folders=folders)),
    )
    chosen = [
        (folders[judged.exam[row]], int(judged.columns["frame"][row])) for row in place.tolist()
    ]
    return Study(inputs, tmp_path / "screened", frames, chosen)


def gather(study, folder, tell=lambda what, done, total: None):
    with Serial() as executor:
        return gather_crops(
            study.inputs, study.frames, folder, executor, size=SIZE, full_names=False, tell=tell
        )


def test_crops_are_those_of_the_screened_frames(study, tmp_path):
    found = gather(study, tmp_path / "crops")
    assert found.shape == (len(study.chosen), SIZE, SIZE, 3)
    for row, (folder, frame) in enumerate(study.chosen):
        recalled = recall(folder, frame)
        expected = crop(recalled.pixels, recalled.field_of_view, SIZE)
        assert np.array_equal(found[row], expected)


def test_a_stopped_run_makes_only_what_is_missing(study, tmp_path, monkeypatch):
    expected = np.array(gather(study, tmp_path / "whole"))

    def stop(what, done, total):
        if 0 < done < total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gather(study, tmp_path / "crops", tell=stop)
    made = []

    work = training_crops.crop_segment
    monkeypatch.setattr(
        training_crops, "crop_segment", lambda task: (made.append(task), work(task))[1]
    )
    assert np.array_equal(gather(study, tmp_path / "crops"), expected)
    assert 0 < sum(len(task.wanted) for task in made) < len(expected)


def test_a_full_disk_is_a_sentence_and_the_next_run_goes_on(study, tmp_path, monkeypatch):
    expected = np.array(gather(study, tmp_path / "whole"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(what, done, total):
        # From now on no file takes more than seven crops.
        resource.setrlimit(resource.RLIMIT_FSIZE, (7 * SIZE * SIZE * 3, before[1]))

    try:
        with pytest.raises(FileError, match=r"cannot keep crops in .*make room"):
            gather(study, tmp_path / "crops", tell=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    made = []
    work = training_crops.crop_segment
    monkeypatch.setattr(
        training_crops, "crop_segment", lambda task: (made.append(task), work(task))[1]
    )
    assert np.array_equal(gather(study, tmp_path / "crops"), expected)
    assert 0 < sum(len(task.wanted) for task in made) < len(expected)


def test_a_file_that_lost_its_end_is_made_again(study, tmp_path):
    expected = np.array(gather(study, tmp_path / "crops"))
    (path,) = (tmp_path / "crops").glob(f"crops-{SIZE}-????????????????.npy")
    path.write_bytes(path.read_bytes()[:-100])
    assert np.array_equal(gather(study, tmp_path / "crops"), expected)


def test_crops_of_another_version_are_made_again(study, tmp_path, monkeypatch):
    gather(study, tmp_path / "crops")
    told = []
    monkeypatch.setattr(training_crops, "CROP_VERSION", 1000)
    gather(study, tmp_path / "crops", tell=lambda what, done, total: told.append(done))
    assert told[0] == 0


def test_another_picture_under_the_same_name_is_refused(study, tmp_path):
    images = shutil.copytree(study.inputs[0], tmp_path / "images")
    path = images / "frame2.png"
    Image.fromarray(255 - np.asarray(Image.open(path))).save(path)
    with pytest.raises(FileError, match="the source has changed since it was screened"):
        gather(replace(study, inputs=[images, study.inputs[1]]), tmp_path / "crops")
