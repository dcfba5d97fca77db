"""Labels that fit no frame, several frames, or each other."""

import pytest

from capsieve.errors import FileError
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED
from capsieve.statistics.matching import match
from support.label_sets import label_set
from support.matched_problems import examples_of, problems_of
from support.results import write_results


def test_frames_that_are_not_there_are_named(tmp_path):
    folder = write_results(tmp_path / "exam", 3)
    rows = [{"exam": "exam", "frame": frame} for frame in (2, 3, 4, 10**15)]
    rows += [{"exam": "exam", "frame": 0, "head": 1}]
    matched = match([folder], label_set(rows))
    assert problems_of(matched)["the exam has no such frame; they are numbered from 0"] == 4
    assert examples_of(matched, "no such frame")[0] == "exam frame 3"


def test_a_frame_number_never_reaches_into_the_next_exam(tmp_path):
    folders = [write_results(tmp_path / name, size) for name, size in (("a", 2), ("b", 5))]
    judged = match(folders, label_set([{"exam": "a", "frame": 3}])).judged
    assert (judged.truth == UNLABELLED).all()


def test_exams_on_one_side_alone_are_one_problem_each(tmp_path):
    folders = [write_results(tmp_path / name, 4) for name in ("a", "b", "c")]
    rows = [{"exam": "a", "frame": 0}, *({"exam": "z", "frame": n} for n in range(9))]
    matched = match(folders, label_set(rows))
    found = problems_of(matched)
    assert found["the exam is not among the results"] == 9
    assert found["no frame of the exam has a label"] == 8
    assert found["the frame has no label"] == 3
    assert examples_of(matched, "among the results") == ("z: 9 rows",)
    assert examples_of(matched, "no frame of the exam") == ("b: 4 frames", "c: 4 frames")


def test_two_labels_for_one_frame_contradict(tmp_path):
    folder = write_results(tmp_path / "exam", file=["a.png", "b.png"])
    rows = [
        {"exam": "exam", "frame": 0, "label": "polyp"},
        {"file": "a.png", "label": "normal"},
        {"exam": "exam", "frame": 1, "label": "other"},
        {"file": "exam/b.png", "label": "other"},
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [UNLABELLED, OTHER]
    assert matched.contradicted.tolist() == [True, False]
    found = problems_of(matched)
    assert found["the frame has two labels or patients that contradict each other"] == 1
    assert found["the row repeats the label of another row for the same frame"] == 1
    assert "the frame has no label" not in found
    assert examples_of(matched, "contradict") == ("exam/a.png",)


def test_of_two_polyps_on_one_frame_none_is_guessed(tmp_path):
    folder = write_results(tmp_path / "exam", file=["a.png"])
    rows = [
        {"exam": "exam", "frame": 0, "label": "polyp", "polyp": "1"},
        {"file": "a.png", "label": "polyp", "polyp": "2"},
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [POLYP]
    assert matched.judged.polyp.tolist() == [-1]
    assert any("different polyps" in what for what in problems_of(matched))


def test_labels_of_other_exams_do_not_stray(tmp_path):
    """Every exam has an image 000001.png; only one of five exams was screened."""
    folder = write_results(tmp_path / "patient-1", file=["000001.png", "000002.png"])
    rows = [
        {"exam": f"patient-{n}", "file": "000001.png", "label": "polyp"} for n in range(2, 6)
    ] + [{"exam": "patient-1", "file": "000002.png"}]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [UNLABELLED, NORMAL]
    assert problems_of(matched)["the exam is not among the results"] == 4


def test_a_folder_named_like_its_exam_does_not_stray(tmp_path):
    folder = write_results(tmp_path / "patient-1", file=["000001.png"])
    rows = [{"exam": "patient-2", "file": "patient-2/000001.png"}]
    matched = match([folder], label_set(rows))
    assert (matched.judged.truth == UNLABELLED).all()


def test_videos_of_a_folder_of_frames_are_no_exams_of_the_results(tmp_path):
    folder = write_results(tmp_path / "kvasir-capsule", file=["v1_10.jpg", "v2_10.jpg"])
    rows = [
        {"exam": video, "patient": video, "frame": 10, "file": f"Polyp/{video}_10.jpg"}
        for video in ("v1", "v2")
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [NORMAL, NORMAL]
    assert matched.judged.patient.tolist() == [0, 1]
    (told,) = [problem for problem in matched.problems if "by the name of its file" in problem.what]
    assert (told.rows, told.used) == (2, True)


def test_a_frame_that_two_files_claim_by_name_alone_gets_no_label(tmp_path):
    folder = write_results(tmp_path / "exam", file=["1.jpg", "2.jpg"])
    rows = [
        {"file": "x/1.jpg"},
        {"file": "y/1.jpg"},
        {"file": "x/2.jpg"},
        {"file": "exam/2.jpg", "label": "polyp"},
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [UNLABELLED, POLYP]
    found = problems_of(matched)
    assert found["several frames fit the file, or several rows the frame, equally well"] == 2
    assert any(
        count == 1 and what.startswith("only the file's name") for what, count in found.items()
    )


def test_ambiguous_files_are_not_used(tmp_path):
    folders = [write_results(tmp_path / name, file=["1.jpg"]) for name in ("a", "b")]
    matched = match(folders, label_set([{"file": "1.jpg"}, {"file": "b/1.jpg"}]))
    assert matched.judged.truth.tolist() == [UNLABELLED, NORMAL]
    assert examples_of(matched, "equally well") == ("file 1.jpg",)


def test_two_exams_of_one_name_are_refused(tmp_path):
    folders = [write_results(tmp_path / place / "exam", 3) for place in ("a", "b")]
    with pytest.raises(FileError, match="two exams are named 'exam'"):
        match(folders, label_set([{"exam": "exam", "frame": 0}]))


def test_frames_that_are_not_sorted_are_refused(tmp_path):
    folder = write_results(tmp_path / "exam", frame=[1, 0])
    with pytest.raises(FileError, match="not sorted"):
        match([folder], label_set([{"exam": "exam", "frame": 0}]))
