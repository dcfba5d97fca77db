"""Frames of galleries: read again from the screened exams, and explained."""

from dataclasses import replace

import numpy as np
import pytest

import capsieve
from capsieve.evaluation.gallery_images import gallery_images
from capsieve.evaluation.results import read_results
from capsieve.parameters import Parameters
from capsieve.sources.reader import FrameReader
from capsieve.store.exam import Exam
from support.exams import exam_frame, write_exam_images

FRAMES = 40
POLYPS = [number for number in range(FRAMES) if number % 20 < 6]
# With these parameters frames are flagged, and components are rejected as too stretched.
PARAMETERS = Parameters(texture_high=60.0, eccentricity_max=1.5, size_low=20)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    write_exam_images(folder / "exams" / "a", FRAMES)
    capsieve.screen(
        folder / "exams", folder / "out", parameters=PARAMETERS, field_of_view="whole", workers=1
    )
    labels = {
        "exam": ["a"] * FRAMES,
        "file": [f"frame{number}.png" for number in range(FRAMES)],
        "label": ["polyp" if number in POLYPS else "normal" for number in range(FRAMES)],
        "polyp": [f"{number // 20}" if number in POLYPS else "" for number in range(FRAMES)],
    }
    return folder, labels


@pytest.fixture
def images(study):
    folder, labels = study
    read = read_results(folder / "out", labels)
    flagged = np.arange(FRAMES) % 2 == 0
    with gallery_images(read, flagged) as found:
        yield read, found


def test_frames_are_read_and_explained_with_the_stored_result(images):
    read, found = images
    radius_max, texture_max = read.frames.radius_max, read.frames.texture_max
    assert radius_max is not None
    assert texture_max is not None
    for row in (0, 7, 15):
        np.testing.assert_array_equal(found.pixels(row), exam_frame(row))
        explained = found.explain(row)
        assert explained.radius_max == radius_max[row]
        assert explained.texture_max == pytest.approx(texture_max[row])


def test_the_label_is_that_of_the_evaluation(images):
    _, found = images
    assert [found.explain(row).label for row in (0, 1)] == ["polyp", "normal"]


def test_the_size_of_folds_is_that_of_the_largest_stretched_component(images):
    _, found = images
    results = [capsieve.analyze(exam_frame(row), PARAMETERS) for row in range(FRAMES)]
    expected = [
        max([each.size for each in one.features if each.rejected == "eccentricity"], default=0)
        for one in results
    ]
    assert found.fold.tolist() == expected
    assert any(expected)
    assert found.components.tolist() == [len(one.features) for one in results]


def test_a_source_that_is_gone_gives_no_image(study, images):
    folder, _ = study
    read, _ = images
    (folder / "exams").rename(folder / "elsewhere")
    try:
        with gallery_images(read, np.ones(FRAMES, bool)) as found:
            assert found.pixels(0) is None
            assert found.explain is not None
            assert found.explain(0) is None
    finally:
        (folder / "elsewhere").rename(folder / "exams")


def test_one_source_is_open_at_a_time(tmp_path, monkeypatch):
    exams = [f"exam-{number}" for number in range(4)]
    for exam in exams:
        write_exam_images(tmp_path / "exams" / exam, 2)
    capsieve.screen(tmp_path / "exams", tmp_path / "out", field_of_view="whole", workers=1)
    labels = {"exam": exams, "frame": [0] * 4, "label": ["polyp", "normal"] * 2}
    read, opened, most = read_results(tmp_path / "out", labels), set(), []
    make_reader, close = Exam.reader, FrameReader.close

    def open_reader(exam, head=0):
        reader = make_reader(exam, head)
        opened.add(reader)
        most.append(len(opened))
        return reader

    monkeypatch.setattr(Exam, "reader", open_reader)
    monkeypatch.setattr(FrameReader, "close", lambda self: (close(self), opened.discard(self)))
    with gallery_images(read, np.ones(8, bool)) as found:
        assert all(found.pixels(row) is not None for row in range(8))
    assert most == [1, 1, 1, 1]
    assert not opened


def test_other_detectors_have_no_steps(images):
    read, _ = images
    scored = replace(read.scored, detector={"name": "learned"})
    with gallery_images(replace(read, scored=scored), np.ones(FRAMES, bool)) as found:
        assert (found.explain, found.fold) == (None, None)


@pytest.mark.parametrize("detector", ["paper", "curvature"])
def test_the_galleries_of_a_screened_exam_are_written(study, tmp_path, detector):
    folder, labels = study
    out = folder / "out"
    if detector != "paper":
        out = tmp_path / "out"
        capsieve.screen(folder / "exams", out, detector=detector, field_of_view="whole", workers=1)
    capsieve.evaluate(out, labels, tmp_path / "eval", threshold=1.0)
    page = (tmp_path / "eval" / "report.html").read_text()
    written = {path.name for path in (tmp_path / "eval" / "figures").glob("gallery-*")}
    assert {"gallery-missed-1.png", "gallery-false-positives-1.png"} & written
    assert all(name in page for name in written)
