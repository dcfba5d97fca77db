import shutil

import numpy as np
import pytest
from PIL import Image

from capsieve.errors import FileError
from capsieve.frames import checked_pixels
from capsieve.learned.crop import crop
from capsieve.learned.features import frame_features
from capsieve.screening.screen import screen
from capsieve.store.exam import Exam
from capsieve.training import inputs
from capsieve.training.data import read_frames
from capsieve.training.inputs import read_inputs
from support.made_frames import silent
from support.training_study import study_frame

SIZE = 32


@pytest.fixture(scope="module")
def frames(study):
    found = read_frames(study.results, study.labels, folds=4)
    return found.take(found.labelled.exam.code < 2)


def read(frames, work, progress=silent):
    return read_inputs(frames, work, size=SIZE, workers=1, progress=progress)


def test_a_model_is_trained_on_what_it_gets_when_it_runs(frames, study, tmp_path):
    found = read(frames, tmp_path)
    assert found.cropped.all()
    for row in (0, 21, 39):
        exam = Exam(frames.folders[frames.labelled.exam.code[row]])
        with exam.reader(0) as reader:
            pixels = checked_pixels(reader.pixels(int(frames.labelled.frame[row])))
        field = exam.field_of_view(0, *pixels.shape[:2])
        assert np.array_equal(found.crops[row], crop(pixels, field, SIZE))
        assert np.array_equal(found.values[row], frame_features(pixels, field).values)
    assert len(found.crops) == len(frames)


def test_exams_are_decoded_once(frames, tmp_path, monkeypatch):
    first = read(frames, tmp_path)
    monkeypatch.setattr(inputs, "_measure", lambda *_: pytest.fail("a frame was read again"))
    again = read(frames, tmp_path)
    assert np.array_equal(first.values, again.values)
    assert first.key == again.key


def test_only_the_exam_that_is_missing_is_decoded(frames, tmp_path):
    read(frames, tmp_path)
    shutil.rmtree(next(tmp_path.glob("exam1-*")))
    told = []
    read(frames, tmp_path, progress=lambda what, done, total: told.append(what))
    assert set(told) == {"Frames of exam1"}


def test_inside_an_exam_only_damaged_and_missing_parts_are_read_again(
    frames, tmp_path, monkeypatch
):
    first = read(frames, tmp_path / "first")
    monkeypatch.setattr(inputs, "_PART", 6)
    told = []

    def again(**options):
        told.clear()
        return read(frames, tmp_path / "parts", progress=lambda *of: told.append(of), **options)

    again()
    parts = sorted(path.name for path in (tmp_path / "parts").glob("exam0-*/*"))
    assert parts == [f"part-{number:05}.npy" for number in range(4)]
    _, second, third, _ = sorted((tmp_path / "parts").glob("exam0-*/*"))
    second.unlink()
    content = bytearray(third.read_bytes())
    content[len(content) // 2] ^= 1
    third.unlink()  # it may be in use
    third.write_bytes(content)
    found = again()
    assert told == [("Frames of exam0", done, 20) for done in (8, 14, 20)]
    assert np.array_equal(first.values, found.values)
    assert all(np.array_equal(first.crops[row], found.crops[row]) for row in range(len(frames)))


def small_study(folder, size):
    """Write four exams of tiny frames, and return their labels."""
    lines = ["exam,file,label,patient,polyp"]
    for number in range(40):
        pixels = study_frame(number, polyp=number % 2 == 0)[:size, :size]
        exam = folder / "exams" / f"tiny{number // 10}"
        exam.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(exam / f"{number}.png")
        label = "polyp" if number % 2 == 0 else "normal"
        lines.append(
            f"{exam.name},{number}.png,{label},p{number // 10},{number if label == 'polyp' else ''}"
        )
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    screen(folder / "exams", folder / "results", detector="paper", workers=1)
    return folder / "labels.csv"


def test_frames_too_small_for_the_paper_have_a_crop_but_no_features(tmp_path):
    labels = small_study(tmp_path, 14)
    found = read_frames(tmp_path / "results", labels, folds=2)
    measured = read(found, tmp_path / "work")
    assert measured.cropped.all()
    assert np.isnan(measured.values).all()


def test_a_source_that_changed_since_screening_is_refused(tmp_path):
    labels = small_study(tmp_path, 96)
    found = read_frames(tmp_path / "results", labels, folds=2)
    shutil.copy(tmp_path / "exams/tiny0/3.png", tmp_path / "exams/tiny0/4.png")
    with pytest.raises(FileError, match="changed"):
        read(found, tmp_path / "work")
