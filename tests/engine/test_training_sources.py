"""Where labelled frames come from."""

import csv

import numpy as np
import pytest

from capsieve.engine.labelled_frames import label_surveyed, survey_exams
from capsieve.engine.training_sources import ONE_SOURCE, frame_sources
from capsieve.statistics.labels import read_labels
from sample_exams import write_exam_images

FRAMES = 4


@pytest.fixture
def made(tmp_path):
    """Return a function from folders of files, and what they show, to sources of the frames."""

    def make(labels, **options):
        for folder in dict.fromkeys(folder for folder, _ in labels):
            write_exam_images(tmp_path / "study" / folder, FRAMES)
        path = tmp_path / "labels.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["file", "label"])
            for folder, words in labels:
                for number, word in enumerate(words):
                    writer.writerow([f"{folder}/frame{number}.png", word])
        exams, _ = survey_exams([tmp_path / "study"])
        told = read_labels(path)
        screened = label_surveyed(exams, told).identities
        return *frame_sources(screened, told, **options), screened

    return make


def test_the_first_folder_is_the_source(made):
    names, code, warnings, screened = made(
        [("round", ["polyp", "normal", "normal"]), ("square", ["normal", "normal"])]
    )
    assert (names, warnings) == (("round", "square"), ())
    for place, exam in enumerate(screened.exam):
        labelled = 3 if screened.exams[exam] == "round" else 2
        expected = names.index(screened.exams[exam]) if place % FRAMES < labelled else -1
        assert code[place] == expected


def test_folders_that_are_findings_are_no_sources(made):
    names, code, warnings, _ = made([("polyp", ["polyp"] * 3), ("normal", ["normal"] * 4)])
    assert names == (ONE_SOURCE,)
    assert np.count_nonzero(code == 0) == 7
    assert "All frames count as one source" in warnings[0]


def test_the_user_may_say_that_all_is_one_source(made):
    names, code, warnings, _ = made(
        [("a", ["polyp", "normal"]), ("b", ["normal"])], one_source=True
    )
    assert (names, warnings) == ((ONE_SOURCE,), ())
    assert np.count_nonzero(code == 0) == 3


def test_capsule_vision_names_the_source_last(tmp_path):
    places = [tmp_path / "training" / name for name in ("Polyp/KID", "Normal/KID", "Normal/KVASIR")]
    for place in places:
        write_exam_images(place, 1)
    told = read_labels(tmp_path / "training")
    exams, _ = survey_exams(places, full_names=True)
    names, code, _ = frame_sources(label_surveyed(exams, told).identities, told)
    assert names == ("KID", "KVASIR")
    assert np.bincount(code[code >= 0]).tolist() == [2, 1]
